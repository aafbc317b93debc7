"""The profiles: which message types are scored, and by which features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from scoring.assessing.score import Score, truthfulness
from scoring.assessing.support_score import supported_score
from scoring.features.action_claimed import ActionClaimed
from scoring.features.base import Feature
from scoring.features.claims_covered import ClaimsCovered
from scoring.features.claims_verified import ClaimsVerified
from scoring.features.company_terms import CompanySpecificTerms
from scoring.features.complex_answer import ComplexAnswer
from scoring.features.components_defined import ComponentsDefined
from scoring.features.courtesy import Courtesy
from scoring.features.error_mismatch import ErrorMismatch
from scoring.features.figures_follow import FiguresFollow
from scoring.features.hal import Hal
from scoring.features.numbers_known import NumbersKnown
from scoring.features.phrases_known import PhrasesKnown
from scoring.features.prompt_overlap import PromptOverlap
from scoring.features.refusal_justified import RefusalJustified
from scoring.features.subject_combination import SubjectCombination
from scoring.features.values_agree import ValuesAgree
from scoring.features.verbatim_guide import VerbatimGuide
from scoring.features.verbatim_section import VerbatimSection
from scoring.values.rules import Rule
from scoring.values.types import FeatureValue, MessageType


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
        return {kind: rule for feature in self.features for kind, rule in feature.evidence}

    @property
    def needs_company_terms(self) -> bool:
        """Whether a feature looks for the company's own words."""
        return any(isinstance(feature, CompanySpecificTerms) for feature in self.features)


def profiles() -> Iterator[Profile]:
    """Yield every profile there is.

    ``truthgate`` is made of what held on documents that it was not made on: how far the documents support
    the answer, and the few checks that take hardly a true answer for an untrue one
    (:func:`scoring.assessing.support_score.supported_score`). It scores every message type. ``paper`` is what
    the paper does: the mean of its seven features, on binary and instruction messages; ``verbatim_section``
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
            FeatureGroup("quotation", (VerbatimGuide(), VerbatimSection(), Courtesy())),
        ),
        supported_score,
        checks_claims=True,
    )
    yield Profile(
        "paper",
        frozenset({MessageType.BINARY, MessageType.INSTRUCTION}),
        (
            FeatureGroup("terms", (CompanySpecificTerms(), ComponentsDefined())),
            FeatureGroup("wording", (ComplexAnswer(), PromptOverlap())),
            FeatureGroup("structure", (Hal(), SubjectCombination(), VerbatimGuide())),
            FeatureGroup("quotation", (VerbatimSection(),)),
        ),
        truthfulness,
    )


def profile_named(name: str) -> Profile:
    """Return the profile of that name; raises ValueError that lists the names there are."""
    known = {profile.name: profile for profile in profiles()}
    if name not in known:
        raise ValueError(f"profile {name!r} is not one of {', '.join(known)}")
    return known[name]
