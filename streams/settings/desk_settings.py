"""Sections `desk` and `desk.oidc`."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from platformdirs import user_data_path
from pydantic import Field, SecretStr, field_validator, model_validator

from scoring.values.exchange import MessageType
from streams.settings.settings_base import Host, HttpUrl, Seconds, SettingsSection
from streams.settings.worker_settings import is_loopback, usable_token

#: Which answer a reviewer gets first.
DeskOrder = Literal["deadline", "age", "type", "expected_error"]
TimeLimit = Annotated[float, Field(gt=0, le=31_536_000)]

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class DeskRole(StrEnum):
    """What a person may do at the desk: an auditor reads, a reviewer decides, a lead does everything."""

    LEAD = "lead"
    REVIEWER = "reviewer"
    AUDITOR = "auditor"


class OidcSettings(SettingsSection):
    """Login by an OpenID Connect issuer: authorization code with PKCE."""

    issuer: HttpUrl | None = Field(
        None,
        description="as in its id_tokens, e.g. https://login.example.com/realms/support; https, but on the "
        "loopback address",
    )
    client_id: str = Field("", description="the desk's id at the issuer; required with issuer")
    client_secret: SecretStr | None = Field(None, description="its secret; unset: a public client")
    scope: str = Field("openid profile", description="scopes to request; openid must be one of them")
    name_claim: str = Field(
        "preferred_username",
        description="claim of the id_token that names the reviewer; one that people cannot change themselves",
    )
    role_claim: str | None = Field(
        None,
        description="claim with a person's roles or groups, for desk.roles; dots lead into objects, e.g. "
        "realm_access.roles; unset: everybody who can log in is a reviewer",
    )
    tenant_claim: str | None = Field(
        None,
        description="claim with the person's tenant, as desk.tenant_key gives it: no answer of another is "
        "shown; who has none may not use the desk; unset: everybody sees all tenants",
    )
    timeout_seconds: Seconds = Field(
        10, description="after this a login fails if the issuer has not answered"
    )

    @field_validator("client_secret", "role_claim", "tenant_claim", "issuer")
    @classmethod
    def _empty_is_unset(cls, value: SecretStr | str | None) -> SecretStr | str | None:
        empty = not (value.get_secret_value() if isinstance(value, SecretStr) else value)
        return None if empty else value  # deployment templates write empty for unset

    @field_validator("issuer")
    @classmethod
    def _issuer_is_https(cls, issuer: str | None) -> str | None:
        parts = urlsplit(issuer or "https:")
        if parts.scheme != "https" and not is_loopback(parts.hostname or ""):
            raise ValueError("should be an https URL")
        return issuer

    @model_validator(mode="after")
    def _names_client(self) -> OidcSettings:
        if self.issuer and not self.client_id:
            raise ValueError("issuer needs client_id")
        if "openid" not in self.scope.split():
            raise ValueError("scope should contain openid")
        return self


class DeskSettings(SettingsSection):
    """The review desk: its address, who may use it, and how long an answer stays with a reviewer."""

    host: Host = Field(
        "127.0.0.1",
        description="address to listen on; any but a loopback address needs a token, user_header or "
        "oidc.issuer",
    )
    port: int = Field(6067, ge=0, le=65535, description="0: any free port, which is logged")
    store: Path = Field(
        default_factory=lambda: user_data_path("truthgate") / "desk",
        description="folder of one desk, on a persistent volume: decisions are stored there until Kafka has "
        "them; unset: in the user's data",
    )
    standby: bool = Field(
        False,
        description="another desk of this deployment runs, with a store of its own and this setting too: one "
        "is active, elected in the consumer group `<kafka.consumer_group>-desk`, the other stands by",
    )
    token: SecretStr | None = Field(
        None,
        description="reviewers enter it with their name to log in; at least 16 characters",
    )
    lead_token: SecretStr | None = Field(None, description="the same for leads")
    auditor_token: SecretStr | None = Field(None, description="the same for auditors, who only read")
    user_header: str | None = Field(
        None,
        description="header in which a trusted proxy names the reviewer, e.g. X-Forwarded-User; nothing but "
        "the proxy may reach the port",
    )
    role_header: str | None = Field(
        None,
        description="header in which that proxy gives the person's roles or groups, separated by commas, for "
        "roles; unset: everybody is a reviewer",
    )
    tenant_header: str | None = Field(
        None,
        description="header in which that proxy gives the person's tenant, as tenant_key gives it: no answer "
        "of another tenant is shown; who has none may not use the desk; unset: everybody sees all tenants",
    )
    address_header: str | None = Field(
        None,
        description="header in which a trusted proxy gives the client's address, e.g. X-Forwarded-For, whose "
        "last entry counts; login attempts are limited by it",
    )
    roles: dict[str, DeskRole] = Field(
        {role.value: role for role in DeskRole},
        description="the role that a value of role_header or oidc.role_claim means; of several the one with "
        "the most rights; who has none may not use the desk",
    )
    oidc: OidcSettings = OidcSettings()
    public_url: HttpUrl | None = Field(
        None,
        description="address at which browsers reach the desk, e.g. https://desk.example.com; required with "
        "oidc.issuer, which sends people back there; with https, cookies are only sent over TLS; a worker's "
        "page links to it",
    )
    login_attempts_per_minute: int = Field(
        10, ge=1, le=10_000, description="from one address; who logs in clears them"
    )
    decisions_per_minute: int = Field(120, ge=1, le=10_000, description="of one reviewer")
    undo_seconds: float = Field(
        5, ge=0, le=600, description="a decision can be undone for this long; then it is published"
    )
    lease_seconds: Seconds = Field(
        300, description="an answer that is shown to one reviewer is not given to another for this long"
    )
    assignment_seconds: Seconds = Field(
        300,
        description="an answer that is assigned or passed on to somebody is given to nobody else for this "
        "long, and not back to who passed it on",
    )
    reviews_required: dict[MessageType, Annotated[int, Field(ge=1, le=10)]] = Field(
        default_factory=dict,
        description="how many people must choose the same for an answer of a message type, e.g. "
        "{instruction = 2}; if two differ, a lead decides; 1 for other types",
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
    order: DeskOrder = Field(
        "deadline",
        description="which answer comes first: the one that expires first, the oldest, one of first_types, "
        "or the one that is most likely to be untrue; reviewers can choose another order",
    )
    first_types: tuple[MessageType, ...] = Field(
        (), description="message types that come first with order type, in this order; then the oldest"
    )
    audit_share: float = Field(
        0.02,
        ge=0,
        le=1,
        description="share of the verdicts that are sent or blocked without a person that is drawn to be "
        "rated; 0: none",
    )
    withdraw_on_drift: bool = Field(
        False,
        description="the desk also withdraws a fitted policy when an input of its risk has drifted from the "
        "answers that it was fitted to (stability index above 0.25); else an alert alone tells it",
    )
    audit_key: SecretStr | None = Field(
        None,
        description="key of this sample, the same in every desk: who knows it can foresee what is drawn; at "
        "least 16 characters; unset: created once in store",
    )
    tenant_key: str | None = Field(
        None, description="key of an answer's metadata that names its tenant: reviewers can filter by it"
    )

    @property
    def tokens(self) -> dict[DeskRole, SecretStr]:
        """The tokens that are set, by the role that they give."""
        tokens = {
            DeskRole.LEAD: self.lead_token,
            DeskRole.REVIEWER: self.token,
            DeskRole.AUDITOR: self.auditor_token,
        }
        return {role: token for role, token in tokens.items() if token}

    @property
    def logins(self) -> int:
        """The number of ways to log in that are set."""
        return sum(map(bool, (self.tokens, self.user_header, self.oidc.issuer)))

    @property
    def lacks_access_control(self) -> bool:
        """Whether everybody who reaches the port could review."""
        return not (self.logins or is_loopback(self.host))

    @field_validator("token", "lead_token", "auditor_token", "audit_key")
    @classmethod
    def _token_is_usable(cls, token: SecretStr | None) -> SecretStr | None:
        return usable_token(token)

    @field_validator("user_header", "role_header", "tenant_header", "address_header")
    @classmethod
    def _is_header_name(cls, name: str | None) -> str | None:
        if name and not _HEADER_NAME.fullmatch(name):
            raise ValueError("should be the name of a header, e.g. X-Forwarded-User")
        return name or None  # deployment templates write empty for unset

    @field_validator("public_url")
    @classmethod
    def _without_last_slash(cls, url: str | None) -> str | None:
        return (url or "").rstrip("/") or None

    @model_validator(mode="after")
    def _one_login(self) -> DeskSettings:
        if self.logins > 1:
            raise ValueError("more than one of the tokens, user_header and oidc.issuer is set; choose one")
        values = [token.get_secret_value() for token in self.tokens.values()]
        if len(set(values)) < len(values):
            raise ValueError("token, lead_token and auditor_token should differ")
        if self.role_header and not self.user_header:
            raise ValueError("role_header needs user_header")
        if self.tenant_header and not self.user_header:
            raise ValueError("tenant_header needs user_header")
        if (self.tenant_header or self.oidc.tenant_claim) and not self.tenant_key:
            raise ValueError("tenant_header and oidc.tenant_claim need tenant_key")
        if self.oidc.issuer and not self.public_url:
            raise ValueError("oidc.issuer needs public_url")
        return self
