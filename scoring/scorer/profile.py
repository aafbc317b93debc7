"""Profiles: the message types that are scored, by which features, and with which rules."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import getdoc
from typing import Final

from scoring.features import Feature
from scoring.features.action_claimed import ActionClaimed
from scoring.features.answer_words import CompanySpecificTerms, ComplexAnswer, PromptOverlap
from scoring.features.claim_support import ClaimsCovered, ClaimsVerified, RefusalJustified
from scoring.features.components_defined import ComponentsDefined
from scoring.features.error_mismatch import ErrorMismatch
from scoring.features.figures import FiguresFollow, NumbersKnown, ValuesAgree
from scoring.features.quotation import Courtesy, VerbatimDocument, VerbatimGuide
from scoring.features.word_combinations import Hal, PhrasesKnown, SubjectCombination
from scoring.scorer.classification import REFUSAL
from scoring.scorer.score import Score, mean_score, support_score
from scoring.values.exchange import FeatureValue, MessageType
from scoring.values.rules import Reason, Rule


@dataclass(frozen=True, slots=True)
class FeatureGroup:
    """Features about one aspect of an answer; they are timed together."""

    name: str
    features: tuple[Feature, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """A named way of scoring: its message types, its features, and its score function.

    ``checks_claims``: whether every claim gets a status and a passage.
    """

    name: str
    message_types: frozenset[MessageType]
    groups: tuple[FeatureGroup, ...]
    score: Callable[[Sequence[FeatureValue], Mapping[str, Rule | None]], Score]
    checks_claims: bool = False

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features of all groups, in the order of a verdict."""
        return tuple(feature for group in self.groups for feature in group.features)

    @property
    def rules(self) -> Mapping[str, Rule | None]:
        """The rule that follows from each kind of evidence; of several rules the first decides."""
        return {kind: rule for feature in self.features for kind, rule in feature.evidence_rules}

    @property
    def needs_company_terms(self) -> bool:
        """Whether a feature uses company terms."""
        return any(isinstance(feature, CompanySpecificTerms) for feature in self.features)


def profiles() -> Iterator[Profile]:
    """Yield every profile.

    ``truthgate`` consists of what proved itself on documents that it was not developed on: the support of the
    documents, and the few checks with hardly a false positive (:func:`scoring.scorer.score.support_score`).
    It scores every message type. ``paper`` is the paper's: the mean of its seven features, on binary and
    instruction messages; ``verbatim_document`` implements its rule that a verbatim guide has the highest
    score.
    """
    yield Profile(
        "truthgate",
        frozenset(MessageType),
        (
            FeatureGroup(
                "support", (ClaimsCovered(), PhrasesKnown(), Hal(), ClaimsVerified(), RefusalJustified())
            ),
            FeatureGroup(
                "contradiction",
                (
                    ComponentsDefined(),
                    NumbersKnown(),
                    ErrorMismatch(),
                    FiguresFollow(),
                    ValuesAgree(),
                    ActionClaimed(),
                ),
            ),
            FeatureGroup("quotation", (VerbatimGuide(), VerbatimDocument(), Courtesy())),
        ),
        support_score,
        checks_claims=True,
    )
    yield Profile(
        "paper",
        frozenset({MessageType.BINARY, MessageType.INSTRUCTION}),
        (
            FeatureGroup("terms", (CompanySpecificTerms(), ComponentsDefined())),
            FeatureGroup("wording", (ComplexAnswer(), PromptOverlap())),
            FeatureGroup("structure", (Hal(), SubjectCombination(), VerbatimGuide())),
            FeatureGroup("quotation", (VerbatimDocument(),)),
        ),
        mean_score,
    )


def get_profile(name: str) -> Profile:
    """Return a profile by name; raises ValueError that lists the names."""
    known = {profile.name: profile for profile in profiles()}
    if name not in known:
        raise ValueError(f"profile {name!r} is not one of {', '.join(known)}")
    return known[name]


#: The rules of each profile by kind of evidence, by the profile's name.
RULES: Final[dict[str, Mapping[str, Rule | None]]] = {profile.name: profile.rules for profile in profiles()}

#: All kinds of evidence, each with the rule that follows from it, if any.
RULES_BY_KIND: Final[dict[str, Rule | None]] = {
    REFUSAL: None,
    **{kind: rule for profile in profiles() for kind, rule in profile.rules.items()},
}

#: The kinds of evidence that show a fault; all others show something recognised.
FAULT_KINDS: Final = frozenset(
    kind for kind, rule in RULES_BY_KIND.items() if rule and rule.counts_against_answer
)

#: The one-sentence description of each reason, by its code.
DESCRIPTIONS: Final = {
    **{reason.value: reason.description for reason in Reason},
    **{rule.reason: rule.description for rule in RULES_BY_KIND.values() if rule},
}

#: The first docstring line of each feature, by its name.
FEATURE_DESCRIPTIONS: Final = {
    feature.name: (getdoc(type(feature)) or "").partition("\n")[0]
    for profile in profiles()
    for feature in profile.features
}


def rules_of_profile(profile: str) -> Mapping[str, Rule | None]:
    """Return a profile's rules by kind of evidence; all rules for an unknown profile."""
    return RULES.get(profile, RULES_BY_KIND)
