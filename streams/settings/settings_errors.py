"""Error messages about settings: name, reason and the likely intention."""

import difflib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic_core import ErrorDetails

from streams.settings.setting_catalog import section_type, strip_optional
from streams.settings.settings_base import (
    ENV_DELIMITER,
    may_be_secret,
    one_line,
    redact_credentials,
    secret_file_names,
    variable_name,
)

_VALUE_ERROR_PREFIX: Final = "Value error, "
#: Errors of a wrong type; a variable sets lists and tables as JSON.
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


def error_reason(problem: ErrorDetails) -> str:
    """Return why a value is refused, in a phrase that does not quote it."""
    kind = problem["type"]
    if kind in _LIST | _TABLE:
        as_json = ", as JSON" if isinstance(problem["input"], str) else ""
        return f"should be a {'list' if kind in _LIST else 'table'}{as_json}"
    if word := _WORDS.get(kind):
        return word(problem.get("ctx", {}))
    return one_line(problem["msg"]).removeprefix(_VALUE_ERROR_PREFIX)


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.10g}"


def _at_least(length: int, of_what: str) -> str:
    return "should not be empty" if length == 1 else f"should have at least {length} {of_what}"


#: Longer values do not help in a line for people.
_MAX_SHOWN_CHARACTERS: Final = 80


def displayable_input(settings: type[BaseModel], loc: tuple[int | str, ...], value: object) -> str | None:
    """Return a short plain value, or None for a secret, a table or a list.

    An address is shown without credentials, and only if it is a URL: otherwise it may be a misplaced key.
    """
    if not isinstance(value, str | int | float) or value == "":
        return None
    kind, address = _type_at(settings, loc)
    if kind is None or SecretStr in (kind, *get_args(kind)):
        return None
    if not isinstance(value, str):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if address and "://" not in value:
        return None
    text = redact_credentials(value)
    if _is_number(text):
        return text
    return repr(text if len(text) <= _MAX_SHOWN_CHARACTERS else f"{text[:_MAX_SHOWN_CHARACTERS]}...")


def _type_at(kind: Any, loc: tuple[int | str, ...]) -> tuple[Any, bool]:
    """Return the type at a location, None unless it is of plain values, and whether it is an address."""
    address = False
    for part in loc:
        inner = strip_optional(kind)
        section = section_type(inner)
        if section and part in section.model_fields:
            field = section.model_fields[str(part)]
            kind, address = field.annotation, may_be_secret(field)
        elif get_origin(inner) in (dict, tuple):
            kind, address = get_args(inner)[0 if get_origin(inner) is tuple else 1], False
        elif section is None and hasattr(inner, "__dataclass_fields__"):
            return str, False  # the policy has no secrets
        else:
            return None, False
    inner = strip_optional(kind)
    return (None, False) if section_type(inner) or get_origin(inner) in (dict, tuple) else (kind, address)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


Loc = tuple[int | str, ...]

_SECTION_AND_NAME = 2

#: Pydantic's name for the key of a table's entry.
_KEY = "[key]"

_UNKNOWN = frozenset({"extra_forbidden", "unexpected_keyword_argument"})

# A misspelt key causes this error too: the intended one is missing.
_MISSING = frozenset({"missing", "missing_argument"})


def error_messages(error: ValidationError, settings: type[BaseModel]) -> Iterator[str]:
    """Yield one message per error, without errors that only follow from another.

    Values are quoted unless they are secrets.

    Args:
        error: pydantic's error.
        settings: the settings model.
    """
    problems = error.errors(include_url=False)
    for problem in problems:
        if problem["type"] in _UNKNOWN:
            yield f"{_name(problem['loc'])} is not a setting of truthgate{_nearest(problem['loc'], settings)}"
        elif not _is_consequence(problem, problems):
            yield _message(problem, settings)


def _message(problem: ErrorDetails, settings: type[BaseModel]) -> str:
    place = problem["loc"]
    key = place[-1:] == (_KEY,)
    name, reason = _name(place[:-1] if key else place), error_reason(problem)
    if reason.startswith(f"{name} "):  # reasons of the policy include the name
        return reason
    shown = None if key else displayable_input(settings, place, problem["input"])
    if shown is None or shown in reason:
        return f"{name}: {'its name ' * key}{reason}"
    return f"{name}: {reason}{f', not {shown}' if reason.startswith('should ') else f' (it is {shown})'}"


def variable_hint(variable: str, settings: type[BaseModel]) -> str:
    """Return a hint at the intended variable, or nothing if it might mislead."""
    return (
        f"; did you mean {near}?"
        if (near := _closest_variable(variable.upper(), _variables(settings)))
        else ""
    )


def _closest_variable(name: str, known: Mapping[str, str]) -> str | None:
    # Within a section only the names are compared: the common section makes all of them similar.
    section = name.rpartition(ENV_DELIMITER)[0] + ENV_DELIMITER
    names = [each.removeprefix(section) for each in known if each.startswith(section)]
    if near := _closest(name.removeprefix(section), names):
        return f"{section}{near}"
    return _closest(name, known, 0.9)


def _name(loc: Loc) -> str:
    return variable_name(*loc) if _is_variable(loc) else _dotted(loc)


def _is_variable(loc: Loc) -> bool:
    return variable_name(*loc) in map(str.upper, os.environ)


def _dotted(loc: Loc) -> str:
    return ".".join(map(str, loc))


def _is_consequence(problem: ErrorDetails, problems: Iterable[ErrorDetails]) -> bool:
    if problem["type"] == "too_short":  # pydantic counts a list's valid entries only
        place = problem["loc"]
        return any(each["loc"][: len(place)] == place for each in problems if each is not problem)
    if problem["type"] in _MISSING:
        place = problem["loc"][:-1]
        return any(each["loc"][: len(place)] == place for each in problems if each["type"] in _UNKNOWN)
    return False


def _nearest(loc: Loc, settings: type[BaseModel]) -> str:
    if len(loc) <= _SECTION_AND_NAME:
        known = _variables(settings)
        if (near := _closest_variable(variable_name(*loc), known)) is None:
            return ""
        return f"; did you mean {near if _is_variable(loc) else known[near]}?"
    if near := _closest(str(loc[-1]), _names(loc[:-1], settings)):
        meant = (*loc[:-1], near)
        return f"; did you mean {variable_name(*meant) if _is_variable(loc) else _dotted(meant)}?"
    return ""


def _closest(name: str, known: Collection[str], cutoff: float = 0.75) -> str | None:
    # A name that lacks only its end, e.g. the unit, is more likely than one with similar letters.
    if len(longer := [each for each in known if each.startswith(f"{name}_")]) == 1:
        return longer[0]
    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=cutoff)), None)


@cache
def _variables(settings: type[BaseModel]) -> Mapping[str, str]:
    """Return every variable with its setting."""
    return {
        variable_name(section, name): _dotted((section, name))
        for section, field in settings.model_fields.items()
        for name in (
            *_names((section,), settings),
            *secret_file_names(getattr(field.annotation, "model_fields", {})),
        )
    }


def _names(loc: Loc, settings: type[BaseModel]) -> list[str]:
    """Return the names of the settings at a location, e.g. in an entry of a list."""
    whole = _schema(settings)
    here: Mapping[str, Any] = whole
    for part in loc:
        within = here.get("items", {}) if isinstance(part, int) else here.get("properties", {}).get(part)
        # Freely chosen names share one schema.
        of_any_name: Mapping[str, Any] = next(iter(here.get("patternProperties", {}).values()), {})
        here = _resolved(of_any_name if within is None else within, whole)
    return list(here.get("properties", {}))


@cache
def _schema(settings: type[BaseModel]) -> Mapping[str, Any]:
    return settings.model_json_schema()


def _resolved(part: Mapping[str, Any], whole: Mapping[str, Any]) -> Mapping[str, Any]:
    if name := part.get("$ref", "").rpartition("/")[2]:
        found: Mapping[str, Any] = whole["$defs"][name]
        return found
    return part
