"""The fields of a JSON object that its record does not have: which they are, and which one may be meant."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# Alike by so much, and no more than so much longer or shorter, it is a slip and no name of its own:
# document_id for document_ids, and not question_id for question.
_ALIKE = 0.87
_LONGER = 2
_SHORTEST = 5

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class UnknownField:
    """A field that the record does not have: where it stands, its name, and which one is meant, if any."""

    place: str
    name: str
    meant: str | None


def unknown_fields(value: Any, schema: Schema) -> Iterator[UnknownField]:
    """Find the fields of a value that its schema does not name, those within it too.

    Args:
        value: as JSON gives it; what does not fit the schema is passed over.
        schema: a JSON Schema as pydantic writes it, of a type whose unknown fields are ignored.
    """
    return _within(value, schema, schema.get("$defs", {}), "")


def _within(value: Any, schema: Schema, definitions: Schema, place: str) -> Iterator[UnknownField]:
    schema = definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    known = schema.get("properties")
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _within(item, schema.get("items", {}), definitions, f"{place}[{index}]")
    elif known and isinstance(value, dict):
        for name, inner in value.items():
            if name in known:
                yield from _within(inner, known[name], definitions, f"{place}.{name}".removeprefix("."))
            else:
                meant = _meant(name, known.keys() - value.keys())
                yield UnknownField(f"{place}.".removeprefix("."), name, meant)


def _meant(name: str, free: Collection[str]) -> str | None:
    """Return which of the fields that are not there is meant by a name, by its letters alone."""
    if name[-1:].isdigit():
        return None  # one of a row, such as rating2
    letters = _letters(name)
    for each in sorted(free):
        if _letters(each) == letters:
            return each
    long = [each for each in sorted(free) if len(each) >= _SHORTEST and abs(len(each) - len(name)) <= _LONGER]
    return next(iter(difflib.get_close_matches(name.casefold(), long, n=1, cutoff=_ALIKE)), None)


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.casefold()))
