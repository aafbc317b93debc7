"""The complaints about settings: which one is wrong, why, and which one may be meant, each in a phrase."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from streams.settings.base import DELIMITER, variable_name
from streams.settings.reasons import reason_of
from streams.settings.secret_files import file_settings
from streams.settings.shown import shown_input

Place = tuple[int | str, ...]

_SECTION_AND_NAME = 2

#: What pydantic calls the key of an entry of a table.
_KEY = "[key]"

_UNKNOWN = frozenset({"extra_forbidden", "unexpected_keyword_argument"})

# What a misspelt key brings with it: the one that is meant is not there.
_MISSING = frozenset({"missing", "missing_argument"})


def explained(error: ValidationError, settings: type[BaseModel]) -> Iterator[str]:
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
        elif not _follows(problem, problems):
            yield _told(problem, settings)


def _told(problem: ErrorDetails, settings: type[BaseModel]) -> str:
    place = problem["loc"]
    key = place[-1:] == (_KEY,)
    name, reason = _name(place[:-1] if key else place), reason_of(problem)
    if reason.startswith(f"{name} "):  # the policy's own reasons name it
        return reason
    shown = None if key else shown_input(settings, place, problem["input"])
    if shown is None or shown in reason:
        return f"{name}: {'its name ' * key}{reason}"
    return f"{name}: {reason}{f', not {shown}' if reason.startswith('should ') else f' (it is {shown})'}"


def nearest_variable(variable: str, settings: type[BaseModel]) -> str:
    """Return a hint at which variable is meant, or nothing: one that misleads is worse than none."""
    return f"; did you mean {near}?" if (near := _meant(variable.upper(), _variables(settings))) else ""


def _meant(asked: str, known: Mapping[str, str]) -> str | None:
    # Within a section the names alone are compared: the section in front makes all of them alike.
    section = asked.rpartition(DELIMITER)[0] + DELIMITER
    names = [each.removeprefix(section) for each in known if each.startswith(section)]
    if near := _near(asked.removeprefix(section), names):
        return f"{section}{near}"
    return _near(asked, known, 0.9)


def _name(place: Place) -> str:
    return variable_name(*place) if _is_variable(place) else _dotted(place)


def _is_variable(place: Place) -> bool:
    return variable_name(*place) in map(str.upper, os.environ)


def _dotted(place: Place) -> str:
    return ".".join(map(str, place))


def _follows(problem: ErrorDetails, problems: Iterable[ErrorDetails]) -> bool:
    if problem["type"] == "too_short":  # pydantic counts a list's good entries alone
        place = problem["loc"]
        return any(each["loc"][: len(place)] == place for each in problems if each is not problem)
    if problem["type"] in _MISSING:
        place = problem["loc"][:-1]
        return any(each["loc"][: len(place)] == place for each in problems if each["type"] in _UNKNOWN)
    return False


def _nearest(place: Place, settings: type[BaseModel]) -> str:
    if len(place) <= _SECTION_AND_NAME:
        known = _variables(settings)
        if (near := _meant(variable_name(*place), known)) is None:
            return ""
        return f"; did you mean {near if _is_variable(place) else known[near]}?"
    if near := _near(str(place[-1]), _names(place[:-1], settings)):
        meant = (*place[:-1], near)
        return f"; did you mean {variable_name(*meant) if _is_variable(place) else _dotted(meant)}?"
    return ""


def _near(asked: str, known: Collection[str], cutoff: float = 0.75) -> str | None:
    # One that lacks only its end, such as the unit, is meant sooner than one of like letters.
    if len(longer := [each for each in known if each.startswith(f"{asked}_")]) == 1:
        return longer[0]
    return next(iter(difflib.get_close_matches(asked, known, n=1, cutoff=cutoff)), None)


@cache
def _variables(settings: type[BaseModel]) -> Mapping[str, str]:
    """Give every variable, and the setting that it is."""
    return {
        variable_name(section, name): _dotted((section, name))
        for section, field in settings.model_fields.items()
        for name in (
            *_names((section,), settings),
            *file_settings(getattr(field.annotation, "model_fields", {})),
        )
    }


def _names(place: Place, settings: type[BaseModel]) -> list[str]:
    """Give the names of what may be set at a place, such as in an entry of a list; none where it has none."""
    whole = _schema(settings)
    here: Mapping[str, Any] = whole
    for part in place:
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
