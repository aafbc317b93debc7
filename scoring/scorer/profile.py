"""Profiles: which message types are scored, by which features, and the rules that these may report."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import getdoc
from typing import Final

from scoring.features.action_claimed import ActionClaimed
from scoring.features.claims_covered import ClaimsCovered
from scoring.features.claims_verified import ClaimsVerified
from scoring.features.company_specific_terms import CompanySpecificTerms
from scoring.features.complex_answer import ComplexAnswer
from scoring.features.components_defined import ComponentsDefined
from scoring.features.courtesy import Courtesy
from scoring.features.error_mismatch import ErrorMismatch
from scoring.features.feature import Feature
from scoring.features.figures_follow import FiguresFollow
from scoring.features.hal import Hal
from scoring.features.numbers_known import NumbersKnown
from scoring.features.phrases_known import PhrasesKnown
from scoring.features.prompt_overlap import PromptOverlap
from scoring.features.refusal_justified import RefusalJustified
from scoring.features.subject_combination import SubjectCombination
from scoring.features.values_agree import ValuesAgree
from scoring.features.verbatim_document import VerbatimDocument
from scoring.features.verbatim_guide import VerbatimGuide
from scoring.scorer.refusal import REFUSAL
from scoring.scorer.score import Score, mean_score, rules_for_kinds, support_score
from scoring.values.exchange import FeatureValue, MessageType
from scoring.values.rules import Reason, Rule


@dataclass(frozen=True, slots=True)
class FeatureGroup:
    """Features that look at the same side of an answer; they are timed together."""

    name: str
    features: tuple[Feature, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """A named way of scoring: its message types, its features, and how a score is made from these.

    ``checks_claims``: whether the claims of the answer are told apart, each with its passage.
    """

    name: str
    message_types: frozenset[MessageType]
    groups: tuple[FeatureGroup, ...]
    score: Callable[[Sequence[FeatureValue], Mapping[str, Rule | None]], Score]
    checks_claims: bool = False

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features of all groups, in the order in which a verdict has them."""
        return tuple(feature for group in self.groups for feature in group.features)

    @property
    def rules(self) -> Mapping[str, Rule | None]:
        """What follows from each kind of evidence; of several rules the first decides."""
        return {kind: rule for feature in self.features for kind, rule in feature.evidence_rules}

    @property
    def needs_company_terms(self) -> bool:
        """Whether a feature looks for the company's own words."""
        return any(isinstance(feature, CompanySpecificTerms) for feature in self.features)


def profiles() -> Iterator[Profile]:
    """Yield every profile there is.

    ``truthgate`` is made of what held on documents that it was not made on: how far the documents support
    the answer, and the few checks that take hardly a true answer for an untrue one
    (:func:`scoring.scorer.score.supported_score`). It scores every message type. ``paper`` is what
    the paper does: the mean of its seven features, on binary and instruction messages; ``verbatim_document``
    stands for its rule that a verbatim guide has the highest score.
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
    """Return the profile of that name; raises ValueError that lists the names there are."""
    known = {profile.name: profile for profile in profiles()}
    if name not in known:
        raise ValueError(f"profile {name!r} is not one of {', '.join(known)}")
    return known[name]


#: The rules of each profile, by its name: what follows from each kind of evidence.
RULES: Final[dict[str, Mapping[str, Rule | None]]] = {profile.name: profile.rules for profile in profiles()}

#: All kinds of evidence there are, each with the rule that follows from it, None where none does.
RULES_BY_KIND: Final[dict[str, Rule | None]] = {
    REFUSAL: None,
    **{kind: rule for profile in profiles() for kind, rule in profile.rules.items()},
}

#: Evidence of these kinds shows what is wrong; all other kinds show what was recognised.
FAULT_KINDS: Final = frozenset(
    kind for kind, rule in RULES_BY_KIND.items() if rule and rule.counts_against_answer
)

#: What each reason means in one sentence, by its code.
DESCRIPTIONS: Final = {
    **{reason.value: reason.description for reason in Reason},
    **{rule.reason: rule.description for rule in RULES_BY_KIND.values() if rule},
}

#: What each feature measures, in one sentence.
_FEATURES: Final = {
    feature.name: (getdoc(type(feature)) or "").partition("\n")[0]
    for profile in profiles()
    for feature in profile.features
}


def describe_reason(code: str) -> str | None:
    """Return the sentence for a reason code, or None for a code that is not known here."""
    return DESCRIPTIONS.get(code)


def describe_feature(name: str) -> str | None:
    """Return in one sentence what a feature measures, or None for one that is not known here."""
    return _FEATURES.get(name)


def rules_of_profile(profile: str) -> Mapping[str, Rule | None]:
    """Return the rules of a profile by the kinds of their evidence; all rules, if it is not known here."""
    return RULES.get(profile, RULES_BY_KIND)


def rules_for_evidence(profile: str, kinds: Collection[str]) -> tuple[Rule, ...]:
    """Return the rules of a profile that follow from evidence of these kinds, in its order."""
    return tuple(rules_for_kinds(kinds, rules_of_profile(profile)))
