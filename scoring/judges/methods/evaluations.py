"""The evaluations of paper 004, one reply each: what a judgement takes of one, and of several that agree."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from scoring.judges.judgement import Judgement, label_of
from scoring.judges.replies.forms import Evaluation


def agreed(evaluations: Sequence[Evaluation], confidence: float) -> Judgement:
    """Return the judgement of evaluations that have the same label; there is at least one."""
    return Judgement(
        label=label_of(evaluations[0]),
        confidence=confidence,
        score=fmean(each.score for each in evaluations),
        wrong=tuple(wrong for each in evaluations for wrong in each.wrong),
        consistency=fmean(each.consistent for each in evaluations),
        relevance=fmean(each.relevant for each in evaluations),
    )
