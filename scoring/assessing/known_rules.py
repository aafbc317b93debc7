"""The tables of what a verdict may say, made from the rules of the features."""

from __future__ import annotations

from typing import Final

from scoring.assessing.profile import profiles
from scoring.assessing.refusal import REFUSAL
from scoring.values.reasons import Reason
from scoring.values.rules import Rule

#: All kinds of evidence there are, each with the rule that follows from it, None where none does.
KINDS: Final[dict[str, Rule | None]] = {
    REFUSAL: None,
    **{kind: rule for profile in profiles() for kind, rule in profile.rules.items()},
}

#: Evidence of these kinds shows what is wrong; all other kinds show what was recognised.
AT_FAULT: Final = frozenset(kind for kind, rule in KINDS.items() if rule and rule.marks_fault)

_DESCRIPTIONS: Final = {
    **{reason.value: reason.description for reason in Reason},
    **{rule.reason: rule.description for rule in KINDS.values() if rule},
}


def describe(code: str) -> str | None:
    """Return the sentence for a reason code, or None for a code that is not known here."""
    return _DESCRIPTIONS.get(code)
