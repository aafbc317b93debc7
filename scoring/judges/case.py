"""The case that a judge is asked about, its options, and the rated examples shown first."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scoring.values.exchange import MAX_SCORE, MIN_SCORE, Exchange, Passage
from scoring.values.opinion import Label


@dataclass(frozen=True, slots=True)
class ReferenceDocuments:
    """The help documents that an answer rests on: everything it says must be in them."""

    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class ReferenceAnswer:
    """The answer that a test set expects (paper 002, section 3.1): the answer must mean the same."""

    text: str


@dataclass(frozen=True, slots=True)
class Case:
    """One question with the chatbot's answer, and the reference to judge it by."""

    question: str
    answer: str
    reference: ReferenceDocuments | ReferenceAnswer

    @classmethod
    def of(cls, exchange: Exchange) -> Self:
        """Return the case of an exchange, judged by the documents of its context, untranslated."""
        return cls(exchange.question, exchange.answer, ReferenceDocuments(exchange.context))


# Each is in every request: more would cost more than they help.
MAX_EXAMPLES = 16
_Text = Annotated[str, Field(min_length=1, max_length=4_000)]


class ExamplesError(ValueError):
    """A file of examples is not right; the message names the line and the field, and quotes nothing."""


class Example(BaseModel):
    """One rated answer: ``reference`` is what the documents, or the expected answer, say on the question."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    question: _Text
    reference: _Text
    answer: _Text
    label: Label
    score: Annotated[float, Field(ge=MIN_SCORE, le=MAX_SCORE)]
    why: Annotated[str, Field(max_length=1_000)] = ""


def read_examples(lines: Iterable[str]) -> tuple[Example, ...]:
    """Return the examples of a JSONL file, empty lines left out.

    Raises:
        ExamplesError: A line is no example, or there are more than MOST_EXAMPLES.
    """
    examples = tuple(
        _parse_example(number, line) for number, line in enumerate(lines, start=1) if line.strip()
    )
    if len(examples) > MAX_EXAMPLES:
        raise ExamplesError(f"{len(examples)} examples are more than {MAX_EXAMPLES}")
    return examples


def read_examples_file(path: Path) -> tuple[Example, ...]:
    """Return the examples of a JSONL file in UTF-8.

    Raises:
        ExamplesError: It cannot be read, or what it holds is not right; the message begins with the path.
    """
    try:
        with path.open(encoding="utf-8") as lines:
            return read_examples(lines)
    except OSError as error:
        raise ExamplesError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ExamplesError(f"{path}: is not UTF-8") from None
    except ExamplesError as error:
        raise ExamplesError(f"{path}: {error}") from None


def render_example(example: Example) -> str:
    """Return an example as one line of JSON, which no text in it can break out of."""
    return json.dumps(example.model_dump(mode="json"), ensure_ascii=False)


def _parse_example(number: int, line: str) -> Example:
    try:
        return Example.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        field = ".".join(map(str, first["loc"])) or "the line"
        raise ExamplesError(f"line {number}: {field}: {first['msg']}") from None


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How a method asks.

    Attributes:
        judges: The names of the models to ask, as the settings name them. Only ``round-table`` asks more
            than the first. A name may occur several times: that model then has several seats.
        temperature: That of every request but the samples of ``cot-sc``; 0 as in papers 002 and 004.
        sample_temperature: That of the samples, which at 0 would all be the same.
        max_tokens: The longest reply. A reply that reaches it is no opinion.
        steps: K of ``adaptive``: the most steps of its reasoning.
        samples: k of ``cot-sc``.
        agents: The seats of ``round-table`` where one model takes them all (paper 004, section II-B: five).
        rounds: The most rounds of ``personas`` and ``round-table``.
        questions: How many questions ``relevance`` and ``questeval`` ask for.
        statements: The most statements, or facts, that an answer may be taken apart into. An answer with
            more is no opinion, since the rest would go unchecked.
        passages: How many passages ``factscore`` checks a fact against.
        max_characters: The most characters of the documents in one request, and of question and answer
            together.
        mask: Whether e-mail addresses, telephone and account numbers are masked.
        examples: Rated answers that are shown to the model first.
    """

    judges: tuple[str, ...] = ("judge",)
    temperature: float = 0.0
    sample_temperature: float = 0.6
    max_tokens: int = 2_000
    steps: int = 3
    samples: int = 5
    agents: int = 5
    rounds: int = 3
    questions: int = 4
    statements: int = 20
    passages: int = 4
    max_characters: int = 24_000
    mask: bool = True
    examples: tuple[Example, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError where a method could not ask anything, or not end."""
        counts = (self.max_tokens, self.steps, self.samples, self.agents, self.rounds)
        if min(*counts, self.questions, self.statements, self.passages, self.max_characters) < 1:
            raise ValueError("every number of a judge's options is at least 1")
        if not self.judges:
            raise ValueError("at least one judge must be named")
        if min(self.temperature, self.sample_temperature) < 0:
            raise ValueError("a temperature is at least 0")

    @property
    def seats(self) -> tuple[str, ...]:
        """The judges at the round table, one name a seat."""
        return self.judges if len(self.judges) > 1 else self.judges * self.agents
