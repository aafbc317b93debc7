"""The risk model of one deployment, fitted to its ratings, and how far it can be believed."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import optimize, special

from scoring.evaluation.statistics import FloatArray, Share
from scoring.guarantees.joined_ratings import JoinedRating, Truth
from scoring.policy.risk import INPUTS, LANGUAGE, SHIPPED_RISK, TYPE, RiskModel

#: With less than so many ratings nothing is fitted: three weights, at `RATINGS_PER_WEIGHT` a weight.
MIN_RATINGS: Final = 60
#: And so many of each kind: a model of nothing but true answers knows none.
MIN_OF_EACH: Final = 10
RATINGS_PER_WEIGHT: Final = 20
#: How far weights may go from the shipped ones: the standard deviation of a normal prior around these.
_PRIOR_DEVIATION: Final = 2.0
_INTERCEPT_DEVIATION: Final = 10.0
FOLDS: Final = 5
_BIN_SIZE: Final = 20
_MAX_BINS: Final = 10
IntArray = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class RiskExample:
    """A rated answer: its id, its inputs, and whether it is a mistake to send it."""

    id: str
    inputs: Mapping[str, float]
    mistake: bool


def risk_examples(ratings: Sequence[JoinedRating]) -> list[RiskExample]:
    """Return the rated answers, those that reviewers chose included, each with weight 1.

    A model is about the answers that have the same inputs, and by these the policy chose what was held: so
    the choice need not be undone, and weights would only make the fit less certain.
    """
    return [
        RiskExample(each.facts.verdict_id, each.facts.inputs, each.truth is not Truth.TRUE)
        for each in ratings
        if each.truth is not None
    ]


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Answers of similar risk: the mean risk, and the share of mistakes among them with its interval."""

    risk: float
    mistakes: Share


@dataclass(frozen=True, slots=True)
class Calibration:
    """How well risks agree with ratings that the model had not seen: five folds, by a hash of the id.

    ``brier`` is the mean squared difference of risk and mistake (lower is better), ``brier_score_alone`` that
    of the model of the score alone, ``brier_constant`` that of the share of mistakes.
    """

    bins: tuple[CalibrationBin, ...]
    brier: float
    brier_score_alone: float
    brier_constant: float


@dataclass(frozen=True, slots=True)
class FittedRisk:
    """A fitted model and its calibration."""

    model: RiskModel
    calibration: Calibration
    ratings: int


@dataclass(frozen=True, slots=True)
class RatingsMissing:
    """Why nothing was fitted: so many more ratings are needed, of mistakes and of others at least."""

    ratings: int
    mistakes: int
    others: int


def fit_risk(
    examples: Sequence[RiskExample], shipped: RiskModel = SHIPPED_RISK
) -> FittedRisk | RatingsMissing:
    """Fit the model to rated answers, or say how many more are needed.

    A logistic model whose weights cannot be negative where the direction is known: more of an input never
    lowers the risk. They are pulled to the shipped ones, the more so the fewer ratings there are. It has one
    weight for each 20 ratings, the intercept included; which inputs these are follows from their order and
    from how often they occur, never from ratings. Where the score alone is no worse on unseen folds, the
    model is that of the score alone: so a deployment without a judge loses nothing.
    """
    mistakes = sum(each.mistake for each in examples)
    missing = RatingsMissing(
        max(0, MIN_RATINGS - len(examples)),
        max(0, MIN_OF_EACH - mistakes),
        max(0, MIN_OF_EACH - len(examples) + mistakes),
    )
    if any((missing.ratings, missing.mistakes, missing.others)):
        return missing
    ordered = sorted(examples, key=lambda each: each.id)
    truths = np.array([each.mistake for each in ordered], float)
    folds = folds_of(each.id for each in ordered)
    inputs = [each.inputs for each in ordered]
    chosen = admitted_inputs(inputs)
    candidates = {
        names: unseen_risks(inputs, truths, names, folds, shipped)
        for names in dict.fromkeys([("score",), chosen])
    }
    briers = {names: _brier(risks, truths) for names, risks in candidates.items()}
    best = min(briers, key=lambda names: (briers[names], len(names)))
    model = fit_weights("fitted", inputs, truths, best, shipped)
    constant = np.full(len(truths), truths.mean())
    calibration = Calibration(
        _bins(candidates[best], truths), briers[best], briers["score",], _brier(constant, truths)
    )
    return FittedRisk(model, calibration, len(ordered))


def admitted_inputs(answers: Sequence[Mapping[str, float]]) -> tuple[str, ...]:
    """Return the inputs to fit: those that vary, in their order; then types and so on, the frequent first.

    One for each 20 answers, less one for the intercept.
    """
    occurs = Counter(name for each in answers for name, value in each.items() if value)
    varies = {name for name in occurs if len({each.get(name, 0.0) for each in answers}) > 1}
    first = [name for name in INPUTS if name in varies]
    rare = {name for name in occurs if min(occurs[name], len(answers) - occurs[name]) < RATINGS_PER_WEIGHT}
    others = sorted((varies - rare).difference(INPUTS), key=lambda name: (-occurs[name], name))
    return tuple([*first, *others][: len(answers) // RATINGS_PER_WEIGHT - 1])


def folds_of(ids: Iterable[str]) -> IntArray:
    """Return the fold of each answer, by a hash of its id."""
    return np.array([hashlib.sha256(each.encode()).digest()[0] % FOLDS for each in ids])


def _matrix(answers: Sequence[Mapping[str, float]], names: Sequence[str]) -> FloatArray:
    return np.array([[each.get(name, 0.0) for name in names] for each in answers], float)


def fit_weights(
    name: str,
    answers: Sequence[Mapping[str, float]],
    truths: FloatArray,
    names: Sequence[str],
    shipped: RiskModel,
) -> RiskModel:
    """Return the model with the largest posterior density; ``truths`` may be probabilities."""
    intercept, weights = _fit(_matrix(answers, names), truths, names, shipped)
    return RiskModel(name, intercept, tuple(zip(names, map(float, weights), strict=True)))


def _fit(
    inputs: FloatArray, truths: FloatArray, names: Sequence[str], shipped: RiskModel
) -> tuple[float, FloatArray]:
    prior = np.array([shipped.intercept, *(dict(shipped.weights).get(name, 0.0) for name in names)])
    precision = np.array([_INTERCEPT_DEVIATION**-2, *[_PRIOR_DEVIATION**-2] * len(names)])
    columns = np.column_stack([np.ones(len(truths)), inputs])

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        values = columns @ weights
        away = weights - prior
        size = -(special.log_expit(-values) + truths * values).sum() + (precision * away**2).sum() / 2
        return size, columns.T @ (special.expit(values) - truths) + precision * away

    is_free = [name.startswith((TYPE, LANGUAGE)) for name in names]
    bounds = [(None, None), *((None if free else 0.0, None) for free in is_free)]
    found = optimize.minimize(loss, prior, jac=True, method="L-BFGS-B", bounds=bounds).x
    return float(found[0]), found[1:]


def unseen_risks(
    answers: Sequence[Mapping[str, float]],
    truths: FloatArray,
    names: Sequence[str],
    folds: IntArray,
    shipped: RiskModel,
) -> FloatArray:
    """Return the risk of each answer by a model that was fitted to the other folds."""
    inputs = _matrix(answers, names)
    risks = np.empty(len(truths))
    for fold in range(FOLDS):
        unseen = folds == fold
        intercept, weights = _fit(inputs[~unseen], truths[~unseen], names, shipped)
        risks[unseen] = special.expit(intercept + inputs[unseen] @ weights)
    return risks


def _brier(risks: FloatArray, truths: FloatArray) -> float:
    return float(np.mean((risks - truths) ** 2))


def _bins(risks: FloatArray, truths: FloatArray) -> tuple[CalibrationBin, ...]:
    number = min(_MAX_BINS, max(1, len(risks) // _BIN_SIZE))
    parts = np.array_split(np.argsort(risks, kind="stable"), number)
    return tuple(
        CalibrationBin(float(risks[part].mean()), share)
        for part in parts
        if (share := Share.of(int(truths[part].sum()), len(part)))
    )
