"""Section `desk`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from platformdirs import user_data_path
from pydantic import Field, SecretStr, field_validator, model_validator

from scoring.values.exchange import MessageType
from streams.settings.settings_base import Host, Seconds, SettingsSection
from streams.settings.worker_settings import is_loopback, usable_token

TimeLimit = Annotated[float, Field(gt=0, le=31_536_000)]

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class DeskSettings(SettingsSection):
    """The review desk: its address, who may use it, and how long an answer stays with a reviewer."""

    host: Host = Field(
        "127.0.0.1",
        description="address to listen on; any but a loopback address needs token or user_header",
    )
    port: int = Field(6067, ge=0, le=65535, description="0: any free port, which is logged")
    store: Path = Field(
        default_factory=lambda: user_data_path("truthgate") / "desk",
        description="folder of one desk, on a persistent volume: decisions are stored there until Kafka has "
        "them; unset: in the user's data",
    )
    token: SecretStr | None = Field(
        None,
        description="reviewers enter it with their name to log in; at least 16 characters",
    )
    user_header: str | None = Field(
        None,
        description="header in which a trusted proxy names the reviewer, e.g. X-Forwarded-User; nothing but "
        "the proxy may reach the port",
    )
    undo_seconds: float = Field(
        5, ge=0, le=600, description="a decision can be undone for this long; then it is published"
    )
    lease_seconds: Seconds = Field(
        300, description="an answer that is shown to one reviewer is not given to another for this long"
    )
    time_limit_seconds: TimeLimit = Field(
        3600, description="an answer that waits for longer is published as expired, counted from produced_at"
    )
    time_limits: dict[MessageType, TimeLimit] = Field(
        default_factory=dict, description="other limits for message types, e.g. {instruction = 600}"
    )
    blocked_time_limit_seconds: TimeLimit = Field(
        604_800, description="a blocked answer that nobody decided about is published as expired after this"
    )
    order: Literal["age", "deadline", "type"] = Field(
        "deadline",
        description="which answer comes first: the oldest, the one that expires first, or one of first_types",
    )
    first_types: tuple[MessageType, ...] = Field(
        (), description="message types that come first with order type, in this order; then the oldest"
    )
    tenant_key: str | None = Field(
        None, description="key of an answer's metadata that names its tenant, for the filter of reviewers"
    )

    @property
    def lacks_access_control(self) -> bool:
        """Whether everybody who reaches the port could review."""
        return not (self.token or self.user_header or is_loopback(self.host))

    @field_validator("token")
    @classmethod
    def _token_is_usable(cls, token: SecretStr | None) -> SecretStr | None:
        return usable_token(token)

    @field_validator("user_header")
    @classmethod
    def _is_header_name(cls, name: str | None) -> str | None:
        if name and not _HEADER_NAME.fullmatch(name):
            raise ValueError("should be the name of a header, e.g. X-Forwarded-User")
        return name or None  # deployment templates write empty for unset

    @model_validator(mode="after")
    def _one_login(self) -> DeskSettings:
        if self.token and self.user_header:
            raise ValueError("token and user_header are both set; reviewers log in with one of them")
        return self
