"""Error messages about settings: which is wrong, why, and what was probably meant."""

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


def error_reason(problem: ErrorDetails) -> str:
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


#: What is longer says no more in a line that people read.
_MAX_SHOWN_CHARACTERS: Final = 80


def displayable_input(settings: type[BaseModel], loc: tuple[int | str, ...], value: object) -> str | None:
    """Give a plain value in a few characters, or None where it is a secret, or a whole table or list.

    An address is shown without credentials, and only if it is a URL: else it may be a key in a wrong place.
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
    """Give the type at a place, None where it is none of plain values, and whether it is an address."""
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

#: What pydantic calls the key of an entry of a table.
_KEY = "[key]"

_UNKNOWN = frozenset({"extra_forbidden", "unexpected_keyword_argument"})

# What a misspelt key brings with it: the one that is meant is not there.
_MISSING = frozenset({"missing", "missing_argument"})


def error_messages(error: ValidationError, settings: type[BaseModel]) -> Iterator[str]:
    """Say what is wrong with the settings: a phrase for each, without those that only follow from another.

    A value is told where it is no secret.

    Args:
        error: what pydantic says.
        settings: all sections.
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
    if reason.startswith(f"{name} "):  # the policy's own reasons name it
        return reason
    shown = None if key else displayable_input(settings, place, problem["input"])
    if shown is None or shown in reason:
        return f"{name}: {'its name ' * key}{reason}"
    return f"{name}: {reason}{f', not {shown}' if reason.startswith('should ') else f' (it is {shown})'}"


def variable_hint(variable: str, settings: type[BaseModel]) -> str:
    """Return a hint at which variable is meant, or nothing: one that misleads is worse than none."""
    return (
        f"; did you mean {near}?"
        if (near := _closest_variable(variable.upper(), _variables(settings)))
        else ""
    )


def _closest_variable(name: str, known: Mapping[str, str]) -> str | None:
    # Within a section the names alone are compared: the section in front makes all of them alike.
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
    if problem["type"] == "too_short":  # pydantic counts a list's good entries alone
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
    # One that lacks only its end, such as the unit, is meant sooner than one of like letters.
    if len(longer := [each for each in known if each.startswith(f"{name}_")]) == 1:
        return longer[0]
    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=cutoff)), None)


@cache
def _variables(settings: type[BaseModel]) -> Mapping[str, str]:
    """Give every variable, and the setting that it is."""
    return {
        variable_name(section, name): _dotted((section, name))
        for section, field in settings.model_fields.items()
        for name in (
            *_names((section,), settings),
            *secret_file_names(getattr(field.annotation, "model_fields", {})),
        )
    }


def _names(loc: Loc, settings: type[BaseModel]) -> list[str]:
    """Give the names of what may be set at a place, such as in an entry of a list; none where it has none."""
    whole = _schema(settings)
    here: Mapping[str, Any] = whole
    for part in loc:
        within = here.get("items", {}) if isinstance(part, int) else here.get("properties", {}).get(part)
        # Where names are of one's own choice, there is one form of what they name.
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
