"""Which answers to ask about, and what that tells: fitted to the answers that judges were asked about."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy import stats

from scoring.evaluation.statistics import FloatArray
from scoring.guarantees.joined_ratings import JoinedRating
from scoring.guarantees.risk_fitting import (
    FOLDS,
    RATINGS_PER_WEIGHT,
    IntArray,
    admitted_inputs,
    fit_weights,
    folds_of,
    unseen_risks,
)
from scoring.policy.asking import ASKING_MODEL, AskingOrder
from scoring.policy.risk import OPINION_INPUTS, SHIPPED_RISK, RiskModel
from scoring.values.exchange import Decision

#: With fewer opinions no order is fitted: two weights and the intercept.
MIN_OPINIONS: Final = 3 * RATINGS_PER_WEIGHT
#: An order is used if chance gives one like it no more often than this.
SIGNIFICANCE: Final = 0.05
#: What asking tells is measured for these shares.
SHARES: Final = (0.1, 0.2, 0.4, 0.6)
_DAY_MS: Final = 86_400_000
#: What differs less than this differs by rounding.
_EQUAL: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Told:
    """What asking about a share of the answers tells: part of what asking about all of them does."""

    share: float
    told: float


@dataclass(frozen=True, slots=True)
class FittedAsking:
    """The order fitted to ``opinions`` answers, without a threshold.

    ``told`` is measured on answers that the order had not seen (five folds): the sum of the squared steps of
    the risk, of which chance would tell as much as its share. ``chance`` is the probability of such an
    agreement of values and steps where they have nothing to do with each other (Pearson's correlation, one
    side).
    """

    order: AskingOrder
    opinions: int
    told: tuple[Told, ...]
    chance: float

    @property
    def beats_chance(self) -> bool:
        """Whether the order was shown to tell more than asking as answers come."""
        return self.chance <= SIGNIFICANCE


@dataclass(frozen=True, slots=True)
class OpinionsMissing:
    """Why no order was fitted: so many more opinions are needed; with 0 the risk does not depend on them."""

    opinions: int


@dataclass(frozen=True, slots=True)
class AskedGroup:
    """Of the ``answers`` of a group so many come first."""

    name: str
    answers: int
    first: int


@dataclass(frozen=True, slots=True)
class AskingPlan:
    """Which of the ``answers`` of a period come first with a budget for the ``share`` of them.

    ``gained`` is their part of the value of all.
    """

    order: AskingOrder
    share: float
    answers: int
    first: int
    gained: float
    groups: tuple[AskedGroup, ...]


@dataclass(frozen=True, slots=True)
class AskingBudget:
    """How many opinions of judges and how many reviews of people there are a day; None is not limited."""

    opinions_per_day: float | None = None
    reviews_per_day: float | None = None


NO_BUDGET: Final = AskingBudget()


def fit_asking(
    ratings: Sequence[JoinedRating], risk: RiskModel, shipped: RiskModel = SHIPPED_RISK
) -> FittedAsking | OpinionsMissing:
    """Fit the order to all answers with an opinion, rated or not.

    The risk with the opinion is known for these: ratings have calibrated it. What is expected of it is fitted
    to what is known without the opinion, by the same model as the risk: by the tower property of
    expectations it is the risk without. So the many opinions count, and not only the few ratings. That the
    policy chose what was asked about does no harm as long as it chose by the same inputs.
    """
    asked = sorted(
        (each.facts for each in ratings if each.facts.has_opinion), key=lambda facts: facts.verdict_id
    )
    if not OPINION_INPUTS & {name for name, weight in risk.weights if weight}:
        return OpinionsMissing(0)
    if len(asked) < MIN_OPINIONS:
        return OpinionsMissing(MIN_OPINIONS - len(asked))
    after = np.array([risk.risk(each.inputs) for each in asked])
    without = [
        {name: value for name, value in each.inputs.items() if name not in OPINION_INPUTS} for each in asked
    ]
    names = admitted_inputs(without)
    expected = fit_weights(ASKING_MODEL, without, after, names, shipped)
    before = np.array([expected.risk(each) for each in without])
    told = float(((after - before) ** 2).sum() / (before * (1 - before)).sum())
    folds = folds_of(each.verdict_id for each in asked)
    unseen = unseen_risks(without, after, names, folds, shipped) if len(set(folds)) == FOLDS else before
    values, steps = unseen * (1 - unseen), (after - unseen) ** 2
    told_by = _told(steps[np.argsort(-values, kind="stable")])
    chance = _chance(_centred(values, folds), _centred(steps, folds))
    return FittedAsking(AskingOrder(expected, min(1.0, told)), len(asked), told_by, chance)


def _chance(values: FloatArray, steps: FloatArray) -> float:
    if min(values.std(), steps.std()) < _EQUAL:
        return 1.0
    return float(stats.pearsonr(values, steps, alternative="greater").pvalue)


def _centred(values: FloatArray, folds: IntArray) -> FloatArray:
    """Return the differences from the mean of the fold: the models of two folds differ by chance."""
    sizes = np.bincount(folds, minlength=FOLDS)
    return values - (np.bincount(folds, values, minlength=FOLDS) / np.maximum(sizes, 1))[folds]


def _told(steps: FloatArray) -> tuple[Told, ...]:
    total = float(steps.sum()) or 1.0
    return tuple(Told(share, float(steps[: round(share * len(steps))].sum()) / total) for share in SHARES)


def judge_plan(
    ratings: Sequence[JoinedRating], order: AskingOrder, opinions_per_day: float
) -> AskingPlan | None:
    """Return which of the answers in doubt judges are asked about first; None if none was in doubt."""
    return _plan(
        [each for each in ratings if each.facts.in_doubt], order, _per_period(ratings, opinions_per_day)
    )


def reviewer_plan(
    ratings: Sequence[JoinedRating], risk: RiskModel, reviews_per_day: float
) -> AskingPlan | None:
    """Return which of the held answers reviewers are asked about first; None if none was held.

    With an opinion the risk is the one with it; a person's word counts as certain.
    """
    held = [each for each in ratings if each.facts.decision is Decision.REVIEW]
    return _plan(held, AskingOrder(risk), _per_period(ratings, reviews_per_day))


def _per_period(ratings: Sequence[JoinedRating], per_day: float) -> float:
    """Return how many there are in the period of the answers; one shorter than a day counts as a day."""
    times = [each.facts.scored_at for each in ratings]
    return per_day * max(1.0, (max(times) - min(times)) / _DAY_MS) if times else 0.0


def _plan(ratings: Sequence[JoinedRating], order: AskingOrder, number: float) -> AskingPlan | None:
    """Return what comes first with a budget for so many; answers of equal value come first together."""
    if not ratings:
        return None
    values = np.array([order.value(each.facts.inputs) for each in ratings])
    count = min(len(values), int(number))
    threshold = float(np.sort(values)[len(values) - count]) if count else 1.0
    is_first = values >= threshold
    groups = Counter(each.facts.group for each in ratings)
    first = Counter(each.facts.group for each, made in zip(ratings, is_first, strict=True) if made)
    total = float(values.sum())
    return AskingPlan(
        replace(order, threshold=threshold),
        count / len(values),
        len(values),
        int(is_first.sum()),
        float(values[is_first].sum()) / total if total else 0.0,
        tuple(AskedGroup(name, groups[name], first[name]) for name in sorted(groups)),
    )
