"""From joined ratings to a model and certificates: what a deployment's reviewers have shown."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from scoring.guarantees.joined_ratings import JoinedRating, Truth
from scoring.guarantees.risk_fitting import MIN_RATINGS, FittedRisk, RatingsMissing, fit_risk, risk_examples
from scoring.guarantees.threshold_tests import (
    Population,
    ThresholdResult,
    delta_of_attempt,
    largest_threshold,
    ratings_needed,
)
from scoring.policy.certificates import Certificate, FittedThresholds, Promise
from scoring.policy.risk import SHIPPED_RISK, RiskModel, is_of_judge
from scoring.values.exchange import Decision

#: The newest ratings test thresholds: four times what a set without a mistake needs, or half of all. Only
#: older ones are left to fit a model; with fewer all of them test the shipped one.
_TESTING_FACTOR: Final = 4
#: A group has thresholds of its own if so many times what a set without a mistake needs are to be rated.
_GROUP_FACTOR: Final = 3
#: A judge that fewer answers have than this share is not one that the ratings tell about.
_MIN_VERSION_SHARE: Final = 0.1
#: A decision is right for these, a mistake for all others.
_RIGHT: Final = {Decision.AUTO_SEND: Truth.TRUE, Decision.BLOCKED: Truth.UNTRUE}


class RefusalReason(StrEnum):
    """Why no threshold is promised for a group."""

    #: Part of what was sent or blocked could not be drawn for rating: held answers alone tell nothing of it.
    NOT_SAMPLED = "not_sampled"
    TOO_FEW_RATINGS = "too_few_ratings"
    TOO_MANY_MISTAKES = "too_many_mistakes"


@dataclass(frozen=True, slots=True)
class PromiseRefused:
    """A decision and groups for which nothing is promised; ``ratings_missing`` at least, if any are."""

    decision: Decision
    groups: tuple[str, ...]
    reason: RefusalReason
    ratings_missing: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """What ratings show: thresholds with certificates, and what could not be promised.

    ``risk`` is the fitted model with its calibration, or what is missing for one; then ``thresholds`` are of
    the shipped model. ``tested`` has, for each decision and groups, risk against coverage.
    """

    thresholds: FittedThresholds
    risk: FittedRisk | RatingsMissing
    refused: tuple[PromiseRefused, ...]
    tested: tuple[tuple[Decision, tuple[str, ...], tuple[ThresholdResult, ...]], ...]


def propose(
    ratings: Sequence[JoinedRating],
    send: Promise,
    block: Promise | None = None,
    *,
    attempt: int | None = None,
    shipped: RiskModel = SHIPPED_RISK,
) -> Proposal:
    """Fit the risk and test thresholds of it, on verdicts of one period in the order of their times.

    All verdicts have to be there, rated or not, and so old that whoever was to rate them had the time: what
    was drawn and not rated counts as a mistake. The newest ratings test, only the older ones fit, so that no
    rating tests a model that has seen it. What is promised is the expected share of mistakes among answers
    like those of the period, whose different answers come about independently. With ``attempt`` (from 1) it
    is the n-th proposal from this stream, and all of them together keep the promise. Verdicts that no
    certificate would decide (``decided_before``) have no part.
    """
    ratings = [each for each in ratings if not each.facts.decided_before]
    boundary = _boundary(ratings, send)
    risk = fit_risk(risk_examples(ratings[:boundary]), shipped)
    model = risk.model if isinstance(risk, FittedRisk) else shipped
    newest = ratings[boundary:]
    certificates: list[Certificate] = []
    refused: list[PromiseRefused] = []
    tested = []
    for decision, promise in ((Decision.AUTO_SEND, send), (Decision.BLOCKED, block)):
        if promise is None:
            continue
        units = [each for each in newest if each.facts.may_be_sent or decision is Decision.BLOCKED]
        total = promise.delta if attempt is None else delta_of_attempt(promise.delta, attempt)
        parts = _groups(units, promise)
        delta = total / max(1, len(parts))
        for groups in parts:
            members = [each for each in units if each.facts.group in groups]
            known = _known_versions(members)
            members = [each for each in members if each.facts.versions <= known]
            population = _population(members, model, decision)
            passed, tests = largest_threshold(population, promise.level, delta)
            tested.append((decision, groups, tests))
            if passed is None:
                refused.append(_refusal(decision, groups, tests, promise.level, delta))
                continue
            versions = {version for each in members for version in each.facts.versions}
            certificates.append(
                Certificate(
                    decision=decision,
                    groups=groups,
                    threshold=passed.threshold if decision is Decision.AUTO_SEND else -passed.threshold,
                    promise=promise,
                    delta=delta,
                    answers=len(members),
                    coverage=passed.coverage,
                    ratings=passed.number,
                    mistakes=passed.mistakes,
                    estimate=passed.estimate,
                    bound=passed.bound,
                    first=members[0].facts.scored_at,
                    last=members[-1].facts.scored_at,
                    data=_hash(members),
                    model=model.identity,
                    versions=tuple(sorted(versions)),
                )
            )
    return Proposal(FittedThresholds(model, tuple(certificates)), risk, tuple(refused), tuple(tested))


def _known_versions(units: Sequence[JoinedRating]) -> set[str]:
    """Return the versions that ratings of these answers tell about: judges, and the usual one of all else.

    Which judge is asked depends on the answer. Of two models of the chatbot each has its own share of
    mistakes: a promise about both together would not hold once one of them writes everything.
    """
    counts = Counter(version for each in units for version in each.facts.versions)
    enough = _MIN_VERSION_SHARE * len(units)
    known = {each for each, count in counts.items() if is_of_judge(each) and count >= enough}
    usual: dict[str, str] = {}
    for version, _ in counts.most_common():
        usual.setdefault(version.partition("=")[0], version)
    return known | {each for each in usual.values() if not is_of_judge(each)}


def _boundary(ratings: Sequence[JoinedRating], promise: Promise) -> int:
    """Return the place of the first verdict that tests; those before it fit. Only numbers have a part."""
    places = [place for place, each in enumerate(ratings) if each.draw.drawn and each.truth]
    testing = max(len(places) // 2, _TESTING_FACTOR * ratings_needed(promise.level, promise.delta))
    return places[-testing] if len(places) - testing >= MIN_RATINGS else 0


def _groups(units: Sequence[JoinedRating], promise: Promise) -> list[tuple[str, ...]]:
    """Return the groups with enough ratings, one by one, and all others as one; no rating has a part."""
    expected: Counter[str] = Counter()
    for each in units:
        expected[each.facts.group] += each.draw.probability  # type: ignore[assignment]
    enough = _GROUP_FACTOR * ratings_needed(promise.level, promise.delta)
    alone = sorted(group for group, number in expected.items() if number >= enough)
    rest = tuple(sorted(set(expected) - set(alone)))
    return [*((group,) for group in alone), *([rest] if rest else [])]


def _population(units: Sequence[JoinedRating], model: RiskModel, decision: Decision) -> Population:
    risks = np.array([model.risk(each.facts.inputs) for each in units])
    is_sending = decision is Decision.AUTO_SEND
    keys = [each.facts.answer_key or each.facts.verdict_id for each in units]
    return Population(
        order=risks if is_sending else -risks,
        expected=risks if is_sending else 1 - risks,
        inclusions=np.array([each.draw.probability for each in units], float),
        drawn=np.array([each.draw.drawn for each in units], bool),
        mistakes=np.array([each.truth is not _RIGHT[decision] for each in units], float),
        answers=np.unique(np.array(keys, str), return_inverse=True)[1],
    )


def _refusal(
    decision: Decision, groups: tuple[str, ...], tests: Sequence[ThresholdResult], level: float, delta: float
) -> PromiseRefused:
    if not tests:
        return PromiseRefused(decision, groups, RefusalReason.TOO_MANY_MISTAKES, 0)
    last = tests[-1]
    missing = max(0, ratings_needed(level, delta, last.mistakes) - last.number)
    if last.uncovered >= level:
        return PromiseRefused(decision, groups, RefusalReason.NOT_SAMPLED, missing)
    is_few = last.estimate <= level or last.number < ratings_needed(level, delta)
    reason = RefusalReason.TOO_FEW_RATINGS if is_few else RefusalReason.TOO_MANY_MISTAKES
    return PromiseRefused(decision, groups, reason, missing)


def _hash(units: Sequence[JoinedRating]) -> str:
    lines = sorted(
        repr((each.facts.verdict_id, each.truth and each.truth.value, *each.draw)) for each in units
    )
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
