"""Section ``web.verdicts``: answers that are judged over HTTP, by a worker or by ``truthgate serve``."""

from __future__ import annotations

import re

from pydantic import Field, SecretStr, field_validator

from streams.settings.base import Section

#: RFC 6750, 2.1, allows fewer characters; these are all that can stand in a header without a doubt.
_TOKEN = re.compile(r"[!-~]+")
#: Shorter ones are guessed. 16 characters of base64 are 96 bits.
_SHORTEST_TOKEN = 16


class VerdictSettings(Section):
    """Judging over HTTP: who may ask, how much at once, and for how long."""

    enabled: bool = Field(
        False, description="a worker judges what is posted to /v1/verdicts too; truthgate serve always does"
    )
    token: SecretStr | None = Field(
        None, description="who asks must send it (Authorization: Bearer); at least 16 characters"
    )
    publish: bool = Field(
        False,
        description="what is judged over HTTP is on the verdict topics too, before its verdict is given; "
        "truthgate serve needs kafka.bootstrap_servers for it",
    )
    anonymous: bool = Field(
        False, description="whoever reaches the port may ask, though web.host is no loopback address"
    )
    timeout_seconds: float = Field(
        10, gt=0, le=60, description="after this an answer is given for review as it is, and never sent"
    )
    # Each may hold a connection, of which there are 512, and a body.
    max_in_flight: int = Field(
        64, ge=1, le=256, description="how many are judged at once; beyond them 429 with Retry-After"
    )
    max_body_bytes: int = Field(
        1_048_576, ge=1_024, le=64 * 1_048_576, description="the largest body of a request that is read"
    )

    @field_validator("token")
    @classmethod
    def _token_can_be_sent(cls, token: SecretStr | None) -> SecretStr | None:
        value = token.get_secret_value() if token else ""
        if not value:  # empty is unset, as templates of deployments have it
            return None
        if len(value) < _SHORTEST_TOKEN or not _TOKEN.fullmatch(value):
            raise ValueError(f"should be at least {_SHORTEST_TOKEN} printable characters of ASCII, no spaces")
        return token
