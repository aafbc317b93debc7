"""Section ``judges.chain``: who is asked for an opinion, in which order, and how."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from scoring.judges import METHODS, ExamplesError, JudgeOptions, read_examples_file
from scoring.judges.examples import Example
from streams.settings.base import Section

_DEFAULTS = JudgeOptions()


def _method(name: str) -> str:
    if name not in METHODS:
        raise ValueError(f"should be one of {', '.join(METHODS)}, not {name!r}")
    return name


class LinkSettings(Section):
    """One opinion: the method, whom it asks, and how; what a method has no use for is ignored."""

    method: Annotated[str, AfterValidator(_method)] = Field(
        "single", description="single, sequential, adaptive, io, cot, cot-sc, personas, round-table, ..."
    )
    judges: tuple[str, ...] = Field(
        min_length=1, description="names of judges.endpoints; round-table asks all of them, others the first"
    )
    temperature: float = Field(
        _DEFAULTS.temperature, ge=0, le=2, description="how free the model is in its choice of words"
    )
    sample_temperature: float = Field(_DEFAULTS.sample_temperature, ge=0, le=2, description="of cot-sc")
    max_tokens: int = Field(_DEFAULTS.max_tokens, ge=16, le=100_000, description="the longest reply")
    steps: int = Field(_DEFAULTS.steps, ge=1, le=20, description="K of adaptive")
    samples: int = Field(_DEFAULTS.samples, ge=1, le=50, description="k of cot-sc")
    agents: int = Field(_DEFAULTS.agents, ge=1, le=20, description="seats of round-table with one judge")
    rounds: int = Field(_DEFAULTS.rounds, ge=1, le=10, description="of personas and round-table")
    questions: int = Field(_DEFAULTS.questions, ge=1, le=20, description="of relevance and questeval")
    statements: int = Field(_DEFAULTS.statements, ge=1, le=100, description="the most, of an answer")
    passages: int = Field(_DEFAULTS.passages, ge=1, le=50, description="for a fact of factscore")
    longest: int = Field(
        _DEFAULTS.longest, ge=1_000, le=1_000_000, description="characters of the documents in one request"
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
