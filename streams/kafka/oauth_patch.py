"""A patch of aiokafka: a token that the broker refuses is an error.

A broker answers a token that it does not accept with an error message and waits for the client to end it (RFC
7628, 3.2.3). aiokafka takes any answer for success, and its next request meets a closed connection, which
says nothing of tokens.
"""

from __future__ import annotations

import json
import re
from typing import Any

from aiokafka import conn
from aiokafka.errors import SaslAuthenticationFailed

from streams.kafka.oauth import ClientCredentials

#: What RFC 7628 has as status, such as invalid_token.
_STATUS = re.compile(r"[a-z_]{1,40}")


def install() -> None:
    """Patch aiokafka: every connection of this process enters with :class:`StrictAuthenticator`."""
    conn.OAuthAuthenticator = StrictAuthenticator


class StrictAuthenticator(conn.OAuthAuthenticator):  # type: ignore[misc]
    """Sends a token, and reads what the broker says to it."""

    async def step(self, payload: bytes | None) -> Any:
        """Return what is to be sent next, None at the end; raises SaslAuthenticationFailed."""
        if payload:
            if isinstance(provider := self._sasl_oauth_token_provider, ClientCredentials):
                provider.forget()
            raise SaslAuthenticationFailed(f"the broker does not accept the token ({_status(payload)})")
        return await super().step(payload)


def _status(payload: bytes) -> str:
    try:
        status = json.loads(payload)["status"]
    except (ValueError, TypeError, KeyError, RecursionError):
        status = None
    return status if isinstance(status, str) and _STATUS.fullmatch(status) else "no reason given"
