"""All figures of several judges, and what a weaker judge would give."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

import numpy as np

from scoring.evaluation.cases import RATINGS, EvaluationCase
from scoring.evaluation.opinion_accuracy import (
    Dimensions,
    FlagRow,
    JudgedCase,
    LabelTable,
    dimensions,
    flag_rows,
    label_table,
    rated,
)
from scoring.evaluation.opinion_routing import (
    Costs,
    CurvePoint,
    Rankings,
    SendingRow,
    costs,
    curve,
    decide_by_both,
    decide_by_opinion,
    judge_score,
    rankings,
    sending_rows,
)
from scoring.evaluation.statistics import Estimate, FloatArray, area, estimate_from, rank_correlation
from scoring.values.exchange import MAX_SCORE, MIN_SCORE, Decision
from scoring.values.opinion import Label, Opinion

DRAWS = 200
# How much the confidences of an honest model differ: the larger, the more alike they are. At 2 and one
# mistake in ten, half of them are above .98 and one in eight is below .7.
_CONCENTRATION = 2.0
_FLIPPED = {Label.TRUE: Label.FALSE, Label.FALSE: Label.TRUE, Label.NOT_GIVEN: Label.TRUE}


class Confidence(StrEnum):
    """What a model that is sometimes wrong says of how sure it is."""

    #: Of the opinions that say .7, 7 of 10 are right.
    HONEST = "honest"
    #: Wrong ones say what right ones say.
    OVERCONFIDENT = "overconfident"


@dataclass(frozen=True, slots=True)
class LabelFlipping:
    """A model whose opinion is turned round with probability ``share``, in [0, 1]."""

    share: float
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """Means over many draws, with the range of 95% of them; None where a figure is not defined.

    ``flipping`` None are the opinions as they are. The figures are those of the tables of rankings and of
    sending, with every answer asked about and opinions that decide from confidence ``tau`` on.
    """

    flipping: LabelFlipping | None
    tau: float
    spearman: Estimate | None
    auroc: Estimate | None
    true_sent: Estimate | None
    untrue_sent: Estimate | None
    untrue_of_sent: Estimate | None
    untrue_blocked: Estimate | None
    true_blocked: Estimate | None

    @classmethod
    def of(cls, flipping: LabelFlipping | None, tau: float, draws: FloatArray) -> Self:
        """Add the figures, a row for each draw."""
        return cls(flipping, tau, *map(_draw_interval, draws.T))


def flip_opinion(opinion: Opinion, flipping: LabelFlipping, rng: np.random.Generator) -> Opinion:
    """Return an opinion of the weaker model: turned round by chance, label and score.

    What is turned round says FALSE for TRUE, and TRUE for anything else, with the score as far on the other
    side of the middle, and names no wrong words. An honest model's confidence is drawn from a beta
    distribution whose mean is the share that is right, and the opinion is wrong with the probability that
    this leaves. One without a label stays as it is.
    """
    if opinion.label is None:
        return opinion
    confidence, wrong = opinion.confidence, flipping.share
    if flipping.confidence is Confidence.HONEST and 0 < flipping.share < 1:
        right = 1 - flipping.share
        confidence = rng.beta(_CONCENTRATION * right, _CONCENTRATION * flipping.share)
        wrong = 1 - confidence
    if rng.random() >= wrong:
        return replace(opinion, confidence=confidence)
    score = None if opinion.score is None else MIN_SCORE + MAX_SCORE - opinion.score
    label = _FLIPPED[opinion.label]
    return replace(opinion, label=label, score=score, confidence=confidence, wrong=(), mistakes=())


def simulate(
    judged: Sequence[JudgedCase], flipping: LabelFlipping, tau: float, seed: int = 0, draws: int = DRAWS
) -> SimulationResult:
    """Draw the weaker model's opinions many times; the same seed gives the same figures."""
    chance = np.random.default_rng(seed)
    known = rated(judged)
    rows = [
        _metrics([replace(each, opinion=flip_opinion(each.opinion, flipping, chance)) for each in known], tau)
        for _ in range(draws)
    ]
    return SimulationResult.of(flipping, tau, np.array(rows))


def unflipped_result(judged: Sequence[JudgedCase], tau: float) -> SimulationResult:
    """Return the same figures of the opinions themselves, to compare with."""
    return SimulationResult.of(None, tau, np.array([_metrics(rated(judged), tau)]))


def _metrics(known: Sequence[JudgedCase], tau: float) -> list[float]:
    """Return the figures in the order of the fields of :class:`Simulated`, NaN where one is not defined."""
    scores = np.array([judge_score(each) for each in known])
    ratings = np.array([each.case.rating or 0 for each in known], float)
    worst, best = (scores[np.rint(ratings) == extreme] for extreme in (RATINGS[0], RATINGS[-1]))
    truths = [each.truth for each in known]
    decisions = [decide_by_both(each, tau) for each in known]

    def share(label: Label, decision: Decision) -> float:
        found = [made is decision for truth, made in zip(truths, decisions, strict=True) if truth is label]
        return sum(found) / len(found) if found else np.nan

    sent = [truth for truth, made in zip(truths, decisions, strict=True) if made is Decision.AUTO_SEND]
    return [
        float(rank_correlation(scores, ratings)) if len(known) else np.nan,
        float(area(worst, best)) if len(worst) and len(best) else np.nan,
        share(Label.TRUE, Decision.AUTO_SEND),
        share(Label.FALSE, Decision.AUTO_SEND),
        sent.count(Label.FALSE) / len(sent) if sent else np.nan,
        share(Label.FALSE, Decision.BLOCKED),
        share(Label.TRUE, Decision.BLOCKED),
    ]


def _draw_interval(values: FloatArray) -> Estimate | None:
    defined = values[~np.isnan(values)]
    mean = defined.mean() if len(defined) else np.nan
    return estimate_from(mean, values if len(values) > 1 else np.empty(0))


@dataclass(frozen=True, slots=True)
class Simulation:
    """Which weaker models to simulate, and the seed of chance."""

    flippings: tuple[LabelFlipping, ...] = ()
    seed: int = 0


@dataclass(frozen=True, slots=True)
class JudgeRun:
    """What the opinions of one judge came to; ``answers`` have one.

    ``methods``, ``models`` and ``prompt_versions`` are those that the opinions name. ``sending`` is by checks
    and opinions together, ``sending_alone`` by opinions alone; ``simulated`` begins with the opinions as they
    are, and is empty where nothing is simulated.
    """

    name: str
    answers: int
    methods: tuple[str, ...]
    models: tuple[str, ...]
    prompt_versions: tuple[str, ...]
    labels: LabelTable
    flags: tuple[FlagRow, ...]
    dimensions: Dimensions
    costs: Costs
    rankings: Rankings
    sending: tuple[SendingRow, ...]
    sending_alone: tuple[SendingRow, ...]
    curve: tuple[CurvePoint, ...]
    simulated: tuple[SimulationResult, ...]


def evaluate_judges(
    judges: Mapping[str, Sequence[tuple[EvaluationCase, Opinion]]], tau: float, simulation: Simulation
) -> tuple[JudgeRun, ...]:
    """Evaluate the opinions of each judge, by its name; an answer without an opinion is not among them.

    ``tau`` is the confidence from which opinions decide, where only one is shown.
    """
    return tuple(
        _judge_run(name, [JudgedCase(*each) for each in pairs], tau, simulation)
        for name, pairs in judges.items()
    )


def _judge_run(name: str, judged: Sequence[JudgedCase], tau: float, simulation: Simulation) -> JudgeRun:
    opinions = [each.opinion for each in judged]
    return JudgeRun(
        name=name,
        answers=len(judged),
        methods=tuple(sorted({each.method for each in opinions})),
        models=tuple(sorted({model for each in opinions for model in each.models})),
        prompt_versions=tuple(sorted({each.prompt_version for each in opinions})),
        labels=label_table(judged),
        flags=flag_rows(judged),
        dimensions=dimensions(judged),
        costs=costs(opinions),
        rankings=rankings(judged),
        sending=sending_rows(judged, decide_by_both),
        sending_alone=sending_rows(judged, decide_by_opinion),
        curve=curve(judged, tau),
        simulated=_simulated(judged, tau, simulation),
    )


def _simulated(
    judged: Sequence[JudgedCase], tau: float, simulation: Simulation
) -> tuple[SimulationResult, ...]:
    if not simulation.flippings:
        return ()
    weaker = (simulate(judged, each, tau, simulation.seed) for each in simulation.flippings)
    return (unflipped_result(judged, tau), *weaker)
