"""Conditions of `--fail-if`: measures compared with numbers, and with those of an earlier report.

    conditions = condition ("or" condition)*
    condition  = measure (">" | ">=" | "<" | "<=") bound
    bound      = number | "previous" [("+" | "-") number]
    number     = digits ["." digits] ["%"]

``5%`` is 0.05: ``previous - 5%`` is five percentage points below the earlier report.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt
from pathlib import Path
from typing import Final

from scoring.evaluation.measures import MEASURES
from streams.cli.command_output import CommandFailed, UsageError

_OPERATORS: Final = {">": gt, ">=": ge, "<": lt, "<=": le}
_DECIMALS: Final = 9
_NUMBER: Final = r"\d+(?:\.\d+)?\s*%?"
_CONDITION: Final = re.compile(
    rf"\b(?P<measure>\w+)\s*(?P<operator>[<>]=?)\s*"
    rf"(?:(?P<number>{_NUMBER})|previous(?:\s*(?P<sign>[+-])\s*(?P<offset>{_NUMBER}))?)"
)

Measures = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Condition:
    """A measure, and the bound that it must not pass.

    ``number`` is the bound, or its distance from the measure of an earlier report.
    """

    text: str
    measure: str
    operator: str
    number: float
    is_relative: bool

    def failure(self, measures: Measures, previous: Measures) -> str | None:
        """Return the condition with both values if it holds, or with what is undefined; else None."""
        value, bound = measures[self.measure], self.number
        if self.is_relative:
            before = previous.get(self.measure)
            if before is None:
                return f"{self.text}: the previous report has no {self.measure}"
            bound += before
        if value is None:
            return f"{self.text}: {self.measure} is undefined for these answers"
        # Rounded, since 0.7 + 0.1 is less than 0.8 in binary.
        if not _OPERATORS[self.operator](round(value - bound, _DECIMALS), 0):
            return None
        return f"{self.text}: {self.measure} is {value:.4g}, and the bound is {bound:.4g}"


def parse_conditions(text: str) -> list[Condition]:
    """Parse the value of `--fail-if`; raises UsageError."""
    return [_parse_condition(part.strip()) for part in re.split(r"\bor\b", text)]


def _parse_condition(text: str) -> Condition:
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise UsageError(f"--fail-if: {text!r} is not of the form 'untrue > 2%' or 'sent < previous - 5%'")
    if found["measure"] not in MEASURES:
        raise UsageError(f"--fail-if: {found['measure']!r} is unknown; known: {', '.join(MEASURES)}")
    number = _number(found["number"] or found["offset"] or "0")
    return Condition(
        text,
        found["measure"],
        found["operator"],
        -number if found["sign"] == "-" else number,
        is_relative=found["number"] is None,
    )


def _number(text: str) -> float:
    return float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)


def read_previous(path: Path | None, conditions: Sequence[Condition]) -> Measures:
    """Read the measures of a report that `evaluate --json` wrote.

    Raises UsageError if conditions need a report and there is none, or none needs the one that is given, and
    CommandFailed if it is not a report.
    """
    needs_report = any(each.is_relative for each in conditions)
    if needs_report is not bool(path):
        wrong = "'previous' needs --previous" if needs_report else "--previous needs 'previous' in --fail-if"
        raise UsageError(f"--fail-if: {wrong}")
    if path is None:
        return {}
    try:
        found = json.loads(path.read_text("utf-8"))["runs"][0]["summary"]["measures"]
        return {name: found[name] for name in MEASURES if isinstance(found[name], int | float | None)}
    except OSError as error:
        raise CommandFailed(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, LookupError, TypeError):
        raise CommandFailed(f"{path} is not a report of evaluate --json") from None
