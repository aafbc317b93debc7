"""The profiles: which message types are scored, and by which features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from scoring.features.base import Feature
from scoring.features.company_terms import CompanySpecificTerms
from scoring.features.complex_answer import ComplexAnswer
from scoring.features.components_defined import ComponentsDefined
from scoring.features.error_mismatch import ErrorMismatch
from scoring.features.hal import Hal
from scoring.features.prompt_overlap import PromptOverlap
from scoring.features.quantities_known import QuantitiesKnown
from scoring.features.request_possible import RequestPossible
from scoring.features.statements_agree import StatementsAgree
from scoring.features.subject_combination import SubjectCombination
from scoring.features.verbatim_guide import VerbatimGuide
from scoring.features.verdict_agrees import VerdictAgrees
from scoring.values.rules import Rule
from scoring.values.types import MessageType


@dataclass(frozen=True, slots=True)
class FeatureGroup:
    """Features that look at the same side of an answer; they are timed together."""

    name: str
    features: tuple[Feature, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """A named way of scoring: its message types and its features, which weigh the same."""

    name: str
    message_types: frozenset[MessageType]
    groups: tuple[FeatureGroup, ...]

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features of all groups, in the order in which a verdict has them."""
        return tuple(feature for group in self.groups for feature in group.features)

    @property
    def rules(self) -> Mapping[str, Rule | None]:
        """What follows from each kind of evidence; of several rules the first decides."""
        return {kind: rule for feature in self.features for kind, rule in feature.evidence}


def profiles() -> Iterator[Profile]:
    """Yield every profile there is.

    ``paper`` is what the paper does: its seven features on binary and instruction messages. ``extended``
    adds, from its Table II, error messages with error mismatch, and takes answer contradiction, off-
    context and non-appearing statements clause by clause: whether the yes or no, the statements, what was
    asked for and the quantities agree with the documents. What contradicts them has score 1. On the
    development answers its score's Spearman is .57 in Dutch and .65 in English, that of ``paper`` .34 and
    .43.
    """
    seven = (
        FeatureGroup("terms", (CompanySpecificTerms(), ComponentsDefined())),
        FeatureGroup("wording", (ComplexAnswer(), PromptOverlap())),
        FeatureGroup("structure", (Hal(), SubjectCombination(), VerbatimGuide())),
    )
    errors = FeatureGroup("error codes", (ErrorMismatch(),))
    claims = FeatureGroup(
        "claims", (VerdictAgrees(), StatementsAgree(), RequestPossible(), QuantitiesKnown())
    )
    scored = frozenset({MessageType.BINARY, MessageType.INSTRUCTION})
    yield Profile("paper", scored, seven)
    yield Profile("extended", scored | {MessageType.ERROR}, (*seven, errors, claims))


def profile_named(name: str) -> Profile:
    """Return the profile of that name; raises ValueError that lists the names there are."""
    known = {profile.name: profile for profile in profiles()}
    if name not in known:
        raise ValueError(f"profile {name!r} is not one of {', '.join(known)}")
    return known[name]
