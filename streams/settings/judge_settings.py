"""Section `judges`: endpoints, the chain of opinions and the budget."""

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
    """The budget of all workers together; unset limits do not apply.

    Each worker gets the share of its owned partitions of ``answers``, in whole numbers. A limit should be
    a multiple of the cost of one opinion for each partition: judges are never asked for what the share
    does not cover. Answers that only one label could decide are not asked about while less is left than
    half of what even spending over the minute and the day would leave. A worker that is killed loses
    count of at most its last second, and a partition that moves to another worker gets its share of the
    day again there.
    """

    requests_per_minute: int | None = Field(None, ge=1, le=_MAX_LIMIT, description="per minute of the clock")
    tokens_per_minute: int | None = Field(
        None, ge=1, le=_MAX_LIMIT, description="of requests and replies together, per minute of the clock"
    )
    requests_per_day: int | None = Field(None, ge=1, le=_MAX_LIMIT, description="per UTC day")
    tokens_per_day: int | None = Field(
        None, ge=1, le=_MAX_LIMIT, description="of requests and replies together, per UTC day"
    )


_DEFAULTS = JudgeOptions()


def _method(name: str) -> str:
    if name not in METHODS:
        raise ValueError(f"should be one of {', '.join(METHODS)}, not {name!r}")
    return name


class LinkSettings(SettingsSection):
    """One link of the chain: a method, the judges it asks, and options, of which it ignores unused ones."""

    method: Annotated[str, AfterValidator(_method)] = Field(
        "single", description="single, sequential, adaptive, io, cot, cot-sc, personas, round-table, ..."
    )
    judges: tuple[str, ...] = Field(
        min_length=1,
        description="names from judges.endpoints; round-table asks all of them, other methods the first",
    )
    max_tokens: int = Field(_DEFAULTS.max_tokens, ge=16, le=100_000, description="maximum length of a reply")
    max_characters: int = Field(
        _DEFAULTS.max_characters,
        ge=1_000,
        le=1_000_000,
        description="maximum characters of documents in one request",
    )
    mask: bool = Field(_DEFAULTS.mask, description="mask e-mail addresses, telephone and account numbers")

    examples: Path | None = Field(
        None, description="JSONL file of your own rated answers, shown to the model as examples"
    )

    @model_validator(mode="after")
    def _examples_can_be_read_examples(self) -> LinkSettings:
        _read_examples(self.examples)
        return self

    @property
    def options(self) -> JudgeOptions:
        """The options for the methods; ValueError if the file of examples has become invalid."""
        values = self.model_dump(exclude={"method", "examples"})
        return JudgeOptions(**values, examples=_read_examples(self.examples))


def _read_examples(path: Path | None) -> tuple[Example, ...]:
    if path is None:
        return ()
    try:
        return read_examples_file(path)
    except ExamplesError as error:
        raise ValueError(f"examples: {error}") from None


#: Characters of an HTTP header (RFC 9110, 5.5), without the space, which no key has.
_KEY = re.compile(r"[!-~]*")


def _address(url: str) -> str:
    parts = urlsplit(url)
    if not url or parts.username is not None or parts.query or parts.fragment:
        raise ValueError(
            "should be an http or https URL without user, query and fragment; set the key as api_key"
        )
    return url


#: Environment variables set names in lower case, and ``__`` separates levels.
JudgeName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+([_-][a-z0-9]+)*$", max_length=40)]
Price = Annotated[float, Field(ge=0, le=1_000_000)]


class EndpointSettings(SettingsSection):
    """An endpoint with OpenAI's chat completions API, and the model to ask there."""

    base_url: Annotated[HttpUrl, AfterValidator(_address)] = Field(
        description="e.g. http://vllm:8000/v1 or https://api.openai.com/v1"
    )
    model: str = Field(min_length=1, max_length=200, description="the model's name at the endpoint")
    api_key: SecretStr | None = Field(None, description="sent as a bearer token")
    proxy: HttpUrl | None = Field(None, description="HTTP proxy; proxies of the environment are ignored")
    request_timeout_seconds: float = Field(30, gt=0, le=600, description="timeout of one HTTP request")
    concurrency: int = Field(8, ge=1, le=1_000, description="maximum concurrent requests of a worker")
    prices: tuple[Price, Price] | None = Field(
        None, description="per million tokens of requests, and per million tokens of replies, in one currency"
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
        if key is None or not key.get_secret_value():  # deployment templates write empty for unset
            return None
        if not _KEY.fullmatch(key.get_secret_value()):
            raise ValueError("has a space, a line break, or characters that are not printable ASCII")
        return key

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """Return the cost of tokens, or None if no prices are set."""
        if self.prices is None:
            return None
        price_in, price_out = self.prices
        return (tokens_in * price_in + tokens_out * price_out) / 1_000_000


class JudgeSettings(SettingsSection):
    """The language models that judge doubtful answers; without endpoints none is asked.

    Questions, answers and documents are sent to the configured endpoints, and to no other.
    """

    endpoints: dict[JudgeName, EndpointSettings] = Field(
        default_factory=dict,
        description="by a name of your choice, e.g. judges.endpoints.small.model",
    )
    chain: tuple[LinkSettings, ...] = Field(
        (),
        description="asked in turn until one is confident, e.g. a cheap model, then a better one; "
        "unset: the first endpoint with method single",
    )
    timeout_seconds: Seconds = Field(
        20,
        description="timeout of the whole chain, at most half of the answer's remaining time",
    )
    budget: BudgetSettings = BudgetSettings()

    @model_validator(mode="after")
    def _chain_asks_known_endpoints(self) -> JudgeSettings:
        for number, link in enumerate(self.chain):
            if unknown := [name for name in link.judges if name not in self.endpoints]:
                known = ", ".join(self.endpoints) or "none"
                raise ValueError(f"chain.{number} asks {unknown[0]!r}, but endpoints has {known}")
        return self

    @property
    def effective_chain(self) -> tuple[LinkSettings, ...]:
        """The configured chain, or the default one."""
        return self.chain or tuple(LinkSettings(judges=(name,)) for name in list(self.endpoints)[:1])
