"""The reasons why a value is refused, in our words where pydantic's tell of Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic_core import ErrorDetails

from streams.settings.base import one_line

_OWN: Final = "Value error, "
#: What is not of this kind at all: a variable holds it as JSON.
_LIST: Final = frozenset({"tuple_type", "list_type", "set_type"})
_TABLE: Final = frozenset({"dict_type", "model_type", "model_attributes_type", "dataclass_type"})

_Context = Mapping[str, Any]
_WORDS: Final[Mapping[str, Callable[[_Context], str]]] = {
    **dict.fromkeys(("missing", "missing_argument"), lambda _: "is missing"),
    **dict.fromkeys(("bool_parsing", "bool_type"), lambda _: "should be true or false"),
    **dict.fromkeys(
        ("int_parsing", "int_parsing_size", "int_type", "int_from_float"),
        lambda _: "should be a whole number",
    ),
    **dict.fromkeys(("float_parsing", "float_type", "finite_number"), lambda _: "should be a number"),
    "string_type": lambda _: "should be text",
    "path_type": lambda _: "should be a path",
    "greater_than": lambda c: f"should be above {_number(c['gt'])}",
    "greater_than_equal": lambda c: f"should be at least {_number(c['ge'])}",
    "less_than": lambda c: f"should be below {_number(c['lt'])}",
    "less_than_equal": lambda c: f"should be at most {_number(c['le'])}",
    **dict.fromkeys(("literal_error", "enum"), lambda c: f"should be {c['expected']}"),
    "string_pattern_mismatch": lambda c: f"should be of the form {c['pattern']}",
    "string_too_short": lambda c: _at_least(c["min_length"], "characters"),
    "string_too_long": lambda c: f"should have at most {c['max_length']} characters",
    "too_short": lambda c: _at_least(c["min_length"], "entries"),
    "too_long": lambda c: f"should have at most {c['max_length']} entries",
}


def reason_of(problem: ErrorDetails) -> str:
    """Say in a phrase why a value is refused; what it was is not in it."""
    kind = problem["type"]
    if kind in _LIST | _TABLE:
        as_json = ", as JSON" if isinstance(problem["input"], str) else ""
        return f"should be a {'list' if kind in _LIST else 'table'}{as_json}"
    if word := _WORDS.get(kind):
        return word(problem.get("ctx", {}))
    return one_line(problem["msg"]).removeprefix(_OWN)


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.10g}"


def _at_least(length: int, of_what: str) -> str:
    return "should not be empty" if length == 1 else f"should have at least {length} {of_what}"
