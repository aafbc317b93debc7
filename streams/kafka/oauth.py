"""OAUTHBEARER tokens for the clients.

A broker answers a rejected token with an error message and waits for the client to close the connection (RFC
7628, 3.2.3). aiokafka takes any answer for success, and its next request fails on a closed connection,
without a reason.
"""

import asyncio
import json
import math
import re
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import quote_plus

import structlog
from aiokafka import conn
from aiokafka.abc import AbstractTokenProvider
from aiokafka.errors import AuthenticationFailedError, KafkaConnectionError, SaslAuthenticationFailed

from streams.kafka.connection_errors import certificate_error, error_line, find_tls_error
from streams.settings import KafkaSettings, client_ssl_context

log = structlog.get_logger(__name__)

#: A few KB is a large token; a broker accepts half a MB.
_MAX_RESPONSE_BYTES = 256 * 1024
#: A token is reused for this share of its lifetime, as in Kafka's own client: the rest covers clock skew.
_REUSE_SHARE = 0.8
#: The timeout of a whole request; half of what aiokafka waits for a broker.
_TIMEOUT_SECONDS = 5.0
#: aiokafka reconnects every tenth of a second; this spares a failing endpoint.
_FAILURE_SECONDS = 1.0
#: RFC 6750, 2.1. Any other character could end the message that contains the token, and begin another.
_TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]+=*")
#: RFC 6749, 5.2. Anything else in the endpoint's response may quote the request.
_ERROR_CODE = re.compile(r"[a-z_]{1,40}")
_SETTING = "kafka.oauth.token_url"
#: Statuses that reject this client or this request.
_REFUSALS = frozenset({400, 401, 403})
_OK = 200


class TokenRefused(AuthenticationFailedError):  # type: ignore[misc]
    """The token endpoint answers, but does not issue a usable token."""


class TokenUnavailable(KafkaConnectionError):  # type: ignore[misc]
    """The token endpoint is unreachable or fails."""


class ClientCredentialsProvider(AbstractTokenProvider):  # type: ignore[misc]
    """The token provider of aiokafka's and Faust's connections, in any event loop.

    A token is reused for most of its lifetime by all connections.

    Args:
        settings: the endpoint and the client; ``oauth``, ``sasl_username`` and ``sasl_password`` are set.
        clock: monotonic seconds.
        timeout_seconds: the timeout of one whole request.

    Raises:
        InvalidSettings: ``ssl_cafile`` cannot be used.
    """

    def __init__(
        self,
        settings: KafkaSettings,
        clock: Callable[[], float] = time.monotonic,
        timeout_seconds: float = _TIMEOUT_SECONDS,
    ) -> None:
        assert settings.oauth is not None
        assert settings.sasl_username is not None
        assert settings.sasl_password is not None
        self._settings = settings.oauth
        self._client, self._secret = settings.sasl_username, settings.sasl_password.get_secret_value()
        self._cafile = settings.ssl_cafile
        self._timeout_seconds = timeout_seconds
        self._clock = clock
        self._trust = client_ssl_context("kafka.ssl_cafile", settings.ssl_cafile, system_too=True)
        self._token: str | None = None
        self._token_until = 0.0
        self._failure: TokenRefused | TokenUnavailable | None = None
        self._failure_until = 0.0
        self._served = False

    async def token(self) -> str:
        """Return a token that does not expire soon; raises TokenRefused and TokenUnavailable."""
        now = self._clock()
        if self._token and now < self._token_until:
            return self._token
        if self._failure and now < self._failure_until:
            raise type(self._failure)(*self._failure.args)
        try:
            token, seconds = await self._fetch()
        except (TokenRefused, TokenUnavailable) as error:
            # At the start the connecting client reports the error; later connections fail silently.
            if self._served and self._failure is None:
                log.warning("kafka_token_unavailable", reason=error.args[0])
            self._failure, self._failure_until = error, self._clock() + _FAILURE_SECONDS
            raise
        self._token, self._token_until = token, now + _REUSE_SHARE * seconds
        self._failure, self._served = None, True
        return token

    def extensions(self) -> dict[str, str]:
        """Return the SASL extensions that are sent with the token."""
        return dict(self._settings.extensions)

    def forget(self) -> None:
        """Discard the token, because the broker rejects it; the next connection requests another."""
        self._token = None

    async def _fetch(self) -> tuple[str, float]:
        """Request a token; returns it with its lifetime in seconds."""
        limit = self._timeout_seconds
        try:
            async with asyncio.timeout(limit):
                status, body = await self._ask()
        except TimeoutError:
            raise TokenUnavailable(f"{self._where} does not answer within {limit:g} s") from None
        if status == _OK:
            return self._read(body)
        if status in _REFUSALS:
            code = _json(body).get("error")
            is_code = isinstance(code, str) and _ERROR_CODE.fullmatch(code)
            reason = code if is_code else f"status {status}"
            raise TokenRefused(f"{self._where} refuses client {self._client!r}: {reason}")
        raise TokenUnavailable(f"{self._where} answers with status {status}")

    async def _ask(self) -> tuple[int, bytes]:
        # Imported here: it takes a tenth of a second, which commands without tokens need not spend.
        import httpx2  # noqa: PLC0415

        # RFC 6749, 2.3.1: each part is URL-encoded first.
        credentials = (quote_plus(self._client), quote_plus(self._secret))
        headers = {"accept": "application/json", "accept-encoding": "identity"}
        form = {"grant_type": "client_credentials"}
        if self._settings.scope:
            form["scope"] = self._settings.scope
        try:
            async with (
                httpx2.AsyncClient(
                    verify=self._trust, trust_env=False, timeout=None, auth=credentials
                ) as client,
                client.stream("POST", self._settings.token_url, data=form, headers=headers) as response,
            ):
                body = b""
                async for chunk in response.aiter_raw():
                    body += chunk
                    if len(body) > _MAX_RESPONSE_BYTES:
                        raise TokenRefused(f"{self._where} answers with too many bytes for a token")
                return response.status_code, body
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            failure = find_tls_error(error)
            if failure and (distrust := certificate_error(failure, "kafka.ssl_cafile", self._cafile)):
                raise TokenRefused(f"{self._where}: {distrust}") from None
            raise TokenUnavailable(
                f"{self._where} cannot be reached: {error_line(failure or error)}"
            ) from None

    def _read(self, body: bytes) -> tuple[str, float]:
        answer = _json(body)
        token, kind = answer.get("access_token"), answer.get("token_type", "bearer")
        if not (isinstance(token, str) and _TOKEN.fullmatch(token)):
            raise TokenRefused(f"{self._where} answers without a token")
        if not (isinstance(kind, str) and kind.lower() == "bearer"):
            raise TokenRefused(f"{self._where} issues a token that is not a bearer token")
        return token, _seconds(answer.get("expires_in"))

    @property
    def _where(self) -> str:
        return f"{self._settings.token_url} (setting {_SETTING})"


_providers: dict[tuple[object, ...], ClientCredentialsProvider] = {}


def token_provider(settings: KafkaSettings) -> ClientCredentialsProvider:
    """Return this process's provider for these settings: a worker's many clients share one token.

    Raises:
        InvalidSettings: ``ssl_cafile`` cannot be used.
    """
    secret = settings.sasl_password.get_secret_value() if settings.sasl_password else ""
    key = (str(settings.oauth), str(settings.ssl_cafile), settings.sasl_username, secret)
    if key not in _providers:
        _providers[key] = ClientCredentialsProvider(settings)
    return _providers[key]


def _json(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _seconds(expires_in: object) -> float:
    """Return a token's lifetime; a missing or invalid one is 0. Some endpoints send it as text."""
    try:
        seconds = float(expires_in)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return 0.0
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0


#: The status of RFC 7628, e.g. invalid_token.
_STATUS = re.compile(r"[a-z_]{1,40}")


def install() -> None:
    """Patch aiokafka: every connection of this process authenticates with :class:`StrictAuthenticator`."""
    conn.OAuthAuthenticator = StrictAuthenticator


class StrictAuthenticator(conn.OAuthAuthenticator):  # type: ignore[misc]
    """Sends a token, and checks the broker's answer."""

    async def step(self, payload: bytes | None) -> Any:
        """Return the next message, None at the end; raises SaslAuthenticationFailed."""
        if payload:
            if isinstance(provider := self._sasl_oauth_token_provider, ClientCredentialsProvider):
                provider.forget()
            raise SaslAuthenticationFailed(f"the broker does not accept the token ({_status(payload)})")
        return await super().step(payload)


def _status(payload: bytes) -> str:
    try:
        status = json.loads(payload)["status"]
    except (ValueError, TypeError, KeyError, RecursionError):
        status = None
    return status if isinstance(status, str) and _STATUS.fullmatch(status) else "no reason given"
