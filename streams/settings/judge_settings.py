"""Section `judges`: endpoints, the chain, the budget and cached opinions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, StringConstraints, field_validator, model_validator

from scoring.judges import METHODS, ExamplesError, JudgeOptions, read_examples_file
from scoring.judges.case import Example
from streams.settings.settings_base import HttpUrl, Seconds, SettingsSection

_MAX_LIMIT = 10**12


class BudgetSettings(SettingsSection):
    """How much all workers together may spend; what is not set is not limited.

    Each worker has the share of its partitions of ``answers``, in whole numbers. A limit should be a multiple
    of what one opinion needs, for each partition: what the share is too small for is never asked about.
    Answers that only one label could decide are not asked about while less is left than half of what even
    spending over the minute and the day would leave. A worker that is killed forgets at most what it spent
    in its last second, and a partition that moves to another worker has its share of the day anew there.
    """

    requests_per_minute: int | None = Field(
        None, ge=1, le=_MAX_LIMIT, description="in each minute of the clock"
    )
    tokens_per_minute: int | None = Field(
        None, ge=1, le=_MAX_LIMIT, description="of requests and replies together, in each minute of the clock"
    )
    requests_per_day: int | None = Field(None, ge=1, le=_MAX_LIMIT, description="in each day of UTC")
    tokens_per_day: int | None = Field(
        None, ge=1, le=_MAX_LIMIT, description="of requests and replies together, in each day of UTC"
    )


_DEFAULTS = JudgeOptions()


def _method(name: str) -> str:
    if name not in METHODS:
        raise ValueError(f"should be one of {', '.join(METHODS)}, not {name!r}")
    return name


class LinkSettings(SettingsSection):
    """One opinion: the method, whom it asks, and how; what a method has no use for is ignored."""

    method: Annotated[str, AfterValidator(_method)] = Field(
        "single", description="single, sequential, adaptive, io, cot, cot-sc, personas, round-table, ..."
    )
    judges: tuple[str, ...] = Field(
        min_length=1, description="names of judges.endpoints; round-table asks all of them, others the first"
    )
    max_tokens: int = Field(_DEFAULTS.max_tokens, ge=16, le=100_000, description="the longest reply")
    max_characters: int = Field(
        _DEFAULTS.max_characters,
        ge=1_000,
        le=1_000_000,
        description="characters of the documents in one request",
    )
    mask: bool = Field(
        _DEFAULTS.mask, description="whether e-mail addresses, telephone and account numbers are masked"
    )

    examples: Path | None = Field(
        None, description="a JSONL file of rated answers of your own, shown to the model first"
    )

    @model_validator(mode="after")
    def _examples_can_be_read(self) -> LinkSettings:
        _read(self.examples)
        return self

    @property
    def options(self) -> JudgeOptions:
        """The same, as the methods take it; ValueError where the file of examples has gone bad."""
        values = self.model_dump(exclude={"method", "examples"})
        return JudgeOptions(**values, examples=_read(self.examples))


def _read(path: Path | None) -> tuple[Example, ...]:
    if path is None:
        return ()
    try:
        return read_examples_file(path)
    except ExamplesError as error:
        raise ValueError(f"examples: {error}") from None


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


class EndpointSettings(SettingsSection):
    """An endpoint that speaks OpenAI's chat completions, and the model to ask there."""

    base_url: Annotated[HttpUrl, AfterValidator(_address)] = Field(
        description="such as http://vllm:8000/v1 or https://api.openai.com/v1"
    )
    model: str = Field(min_length=1, max_length=200, description="by the endpoint's name")
    api_key: SecretStr | None = Field(None, description="sent as a bearer token")
    proxy: HttpUrl | None = Field(
        None, description="the HTTP proxy on the way; those of the environment are not used"
    )
    request_timeout_seconds: float = Field(30, gt=0, le=600, description="how long one HTTP call may take")
    concurrency: int = Field(8, ge=1, le=1_000, description="how many calls a worker makes at once")
    prices: tuple[Price, Price] | None = Field(
        None, description="of a million tokens that are sent, and of a million of replies, in one currency"
    )

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

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """Return what so many tokens cost, or None where no prices are set."""
        if self.prices is None:
            return None
        price_in, price_out = self.prices
        return (tokens_in * price_in + tokens_out * price_out) / 1_000_000


class JudgeSettings(SettingsSection):
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
    timeout_seconds: Seconds = Field(
        20,
        description="how long the whole chain may take, and no longer than half of what an answer has left",
    )
    budget: BudgetSettings = BudgetSettings()

    @model_validator(mode="after")
    def _chain_asks_who_is_there(self) -> JudgeSettings:
        for number, link in enumerate(self.chain):
            if unknown := [name for name in link.judges if name not in self.endpoints]:
                known = ", ".join(self.endpoints) or "nobody"
                raise ValueError(f"chain.{number} asks {unknown[0]!r}, and endpoints names {known}")
        return self

    @property
    def effective_chain(self) -> tuple[LinkSettings, ...]:
        """The chain, also where none is set."""
        return self.chain or tuple(LinkSettings(judges=(name,)) for name in list(self.endpoints)[:1])
