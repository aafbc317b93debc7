"""The tables of what a verdict may say, made from the rules of the features."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from inspect import getdoc
from typing import Final

from scoring.assessing.profile import profiles
from scoring.assessing.refusal import REFUSAL
from scoring.assessing.score import rules_for
from scoring.values.reasons import Reason
from scoring.values.rules import Rule

#: The rules of each profile, by its name: what follows from each kind of evidence.
RULES: Final[dict[str, Mapping[str, Rule | None]]] = {profile.name: profile.rules for profile in profiles()}

#: All kinds of evidence there are, each with the rule that follows from it, None where none does.
KINDS: Final[dict[str, Rule | None]] = {
    REFUSAL: None,
    **{kind: rule for profile in profiles() for kind, rule in profile.rules.items()},
}

#: Evidence of these kinds shows what is wrong; all other kinds show what was recognised.
AT_FAULT: Final = frozenset(kind for kind, rule in KINDS.items() if rule and rule.marks_fault)

#: What each reason means in one sentence, by its code.
DESCRIPTIONS: Final = {
    **{reason.value: reason.description for reason in Reason},
    **{rule.reason: rule.description for rule in KINDS.values() if rule},
}

#: What each feature measures, in one sentence.
_FEATURES: Final = {
    feature.name: (getdoc(type(feature)) or "").partition("\n")[0]
    for profile in profiles()
    for feature in profile.features
}


def describe(code: str) -> str | None:
    """Return the sentence for a reason code, or None for a code that is not known here."""
    return DESCRIPTIONS.get(code)


def describe_feature(name: str) -> str | None:
    """Return in one sentence what a feature measures, or None for one that is not known here."""
    return _FEATURES.get(name)


def rules_of(profile: str) -> Mapping[str, Rule | None]:
    """Return the rules of a profile by the kinds of their evidence; all rules, if it is not known here."""
    return RULES.get(profile, KINDS)


def rules_found(profile: str, kinds: Collection[str]) -> tuple[Rule, ...]:
    """Return the rules of a profile that follow from evidence of these kinds, in its order."""
    return tuple(rules_for(kinds, rules_of(profile)))
