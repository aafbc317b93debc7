"""Section ``judges``: language models that are asked for a second opinion."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, StringConstraints, field_validator, model_validator

from streams.settings.addresses import HttpUrl
from streams.settings.base import Seconds, Section
from streams.settings.judge_budget import BudgetSettings
from streams.settings.judge_chain import LinkSettings
from streams.settings.judge_opinions import KeptOpinionSettings

#: What can stand in an HTTP header (RFC 9110, 5.5), without the spaces that no key has.
_KEY = re.compile(r"[!-~]*")


def _address(url: str) -> str:
    parts = urlsplit(url)
    if not url or parts.username is not None or parts.query or parts.fragment:
        raise ValueError("should be an http or https URL without user, query and fragment; a key is api_key")
    return url


#: By environment variables a name is in lower case, and ``__`` separates levels.
JudgeName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+([_-][a-z0-9]+)*$", max_length=40)]
Price = Annotated[float, Field(ge=0, le=1_000_000)]


class EndpointSettings(Section):
    """An endpoint that speaks OpenAI's chat completions, and the model to ask there."""

    base_url: Annotated[HttpUrl, AfterValidator(_address)] = Field(
        description="such as http://vllm:8000/v1 or https://api.openai.com/v1"
    )
    model: str = Field(min_length=1, max_length=200, description="by the endpoint's name")
    api_key: SecretStr | None = Field(None, description="sent as a bearer token")
    cafile: Path | None = Field(None, description="whom to trust beside https; unset: the system's")
    proxy: HttpUrl | None = Field(
        None, description="the HTTP proxy on the way; those of the environment are not used"
    )
    structured_output: Literal["auto", "json_schema", "json_object", "plain"] = Field(
        "auto",
        description="how a reply's form is asked for; auto: by its schema, and by less where the endpoint "
        "refuses that",
    )
    logprobs: bool = Field(True, description="ask for log probabilities, where a method can use them")
    request_timeout_seconds: float = Field(30, gt=0, le=600, description="how long one HTTP call may take")
    attempts: int = Field(3, ge=1, le=10, description="how often a failing call is tried, in all")
    concurrency: int = Field(8, ge=1, le=1_000, description="how many calls a worker makes at once")
    breaker_failures: int = Field(
        5, ge=1, le=10_000, description="so many failed calls in a row, and it is not asked any more"
    )
    breaker_reset_seconds: Seconds = Field(30, description="how long until one call tries again")
    price_in: Price | None = Field(None, description="of a million tokens that are sent, in any currency")
    price_out: Price | None = Field(None, description="of a million tokens of replies, in the same")

    @field_validator("model")
    @classmethod
    def _model_is_a_name(cls, model: str) -> str:
        if not model.isprintable() or model.isspace():
            raise ValueError("should be printable characters")
        return model

    @field_validator("api_key")
    @classmethod
    def _key_can_be_sent(cls, key: SecretStr | None) -> SecretStr | None:
        if key is None or not key.get_secret_value():  # empty is unset, as templates of deployments have it
            return None
        if not _KEY.fullmatch(key.get_secret_value()):
            raise ValueError("has a space, a line break, or characters that are not printable ASCII")
        return key

    @model_validator(mode="after")
    def _prices_are_whole(self) -> EndpointSettings:
        if (self.price_in is None) is not (self.price_out is None):
            raise ValueError("price_in and price_out go together")
        return self

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """Return what so many tokens cost, or None where no prices are set."""
        if self.price_in is None or self.price_out is None:
            return None
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1_000_000


class JudgeSettings(Section):
    """Whom to ask for a second opinion; nobody is unless named here.

    Questions, answers and documents leave the worker for the endpoints that are named, and for no other.
    """

    endpoints: dict[JudgeName, EndpointSettings] = Field(
        default_factory=dict,
        description="by a name of your choice, such as judges.endpoints.small.model",
    )
    chain: tuple[LinkSettings, ...] = Field(
        (),
        description="asked one after the other until one is sure, such as a cheap model, then a better one; "
        "unset: the first endpoint, by the single prompt",
    )
    time_limit_seconds: Seconds = Field(
        20,
        description="how long the whole chain may take, and no longer than half of what an answer has left",
    )
    max_in_flight: int | None = Field(
        None,
        ge=1,
        le=10_000,
        description="how many answers of a worker may wait for judges at once; what comes beyond is not "
        "asked about, so that slow judges hold up no others; unset: a quarter of flow.max_in_flight",
    )
    budget: BudgetSettings = BudgetSettings()
    kept: KeptOpinionSettings = KeptOpinionSettings()

    @model_validator(mode="after")
    def _chain_asks_who_is_there(self) -> JudgeSettings:
        for number, link in enumerate(self.chain):
            if unknown := [name for name in link.judges if name not in self.endpoints]:
                known = ", ".join(self.endpoints) or "nobody"
                raise ValueError(f"chain.{number} asks {unknown[0]!r}, and endpoints names {known}")
        return self

    def most_in_flight(self, in_flight: int) -> int:
        """Return how many may wait at once, where so many may be in work.

        A quarter, since behind each that waits are others of its conversation, which have places too.
        """
        return self.max_in_flight or max(1, in_flight // 4)

    @property
    def links(self) -> tuple[LinkSettings, ...]:
        """The chain, also where none is set."""
        return self.chain or tuple(LinkSettings(judges=(name,)) for name in list(self.endpoints)[:1])
