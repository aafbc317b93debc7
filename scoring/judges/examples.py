"""The rated answers of a deployment that are shown to a model first (paper 004, section II-B: few-shot)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scoring.values.opinion import Label
from scoring.values.types import HIGHEST, LOWEST

# Each stands in every request: more cost more than they teach.
MOST_EXAMPLES = 16
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
    score: Annotated[float, Field(ge=LOWEST, le=HIGHEST)]
    why: Annotated[str, Field(max_length=1_000)] = ""


def read_examples(lines: Iterable[str]) -> tuple[Example, ...]:
    """Return the examples of a JSONL file, empty lines left out.

    Raises:
        ExamplesError: A line is no example, or there are more than MOST_EXAMPLES.
    """
    examples = tuple(_read(number, line) for number, line in enumerate(lines, start=1) if line.strip())
    if len(examples) > MOST_EXAMPLES:
        raise ExamplesError(f"{len(examples)} examples are more than {MOST_EXAMPLES}")
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


def shown(example: Example) -> str:
    """Return an example as one line of JSON, which no text in it can break out of."""
    return json.dumps(example.model_dump(mode="json"), ensure_ascii=False)


def _read(number: int, line: str) -> Example:
    try:
        return Example.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        field = ".".join(map(str, first["loc"])) or "the line"
        raise ExamplesError(f"line {number}: {field}: {first['msg']}") from None
