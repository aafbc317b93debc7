"""The order of answers by their scores, with and without a judge, against what people say of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.evaluation.cases import NEUTRAL, RATINGS
from scoring.evaluation.correlation import difference_of_correlations
from scoring.evaluation.opinions.judged import Judged, rated
from scoring.evaluation.statistics import Estimate, auroc, paired_estimate, spearman


@dataclass(frozen=True, slots=True)
class Ranking:
    """Spearman's correlation of score and rating, and the AUROC of ratings 5 against 1."""

    spearman: Estimate | None
    auroc: Estimate | None


@dataclass(frozen=True, slots=True)
class Rankings:
    """The same rated answers by the score of the checks alone, and with every answer asked about.

    An answer without any score counts as 3, which is to say nothing of it. ``gain`` is the difference of
    both correlations.
    """

    answers: int
    checks: Ranking
    judge: Ranking
    gain: Estimate | None


def rankings(judged: Sequence[Judged]) -> Rankings:
    """Compare the scores of checks and of opinions."""
    known = rated(judged)
    ratings = [each.case.rating or 0 for each in known]
    checks, judge = [checks_score(each) for each in known], [judge_score(each) for each in known]
    return Rankings(
        answers=len(known),
        checks=ranking(checks, ratings),
        judge=ranking(judge, ratings),
        gain=paired_estimate(difference_of_correlations, checks, judge, ratings),
    )


def ranking(scores: Sequence[float], ratings: Sequence[int]) -> Ranking:
    """Compare scores with the ratings of the same answers."""
    worst, best = (
        [score for score, rating in zip(scores, ratings, strict=True) if rating == extreme]
        for extreme in (RATINGS[0], RATINGS[-1])
    )
    return Ranking(spearman(scores, ratings), auroc(worst, best))


def checks_score(judged: Judged) -> float:
    """Return the score of the checks."""
    return NEUTRAL if judged.case.score is None else judged.case.score


def judge_score(judged: Judged) -> float:
    """Return the score of the opinion; that of the checks where it has none."""
    score = judged.opinion.score
    return checks_score(judged) if score is None else score
