"""The vote over several evaluations: the label with most weight, and how much stands behind it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from scoring.judges.asking import NoOpinion
from scoring.judges.judgement import Judgement, label_of
from scoring.judges.methods.evaluations import agreed
from scoring.judges.replies.forms import Evaluation
from scoring.values.opinion import Label, Unsure


@dataclass(frozen=True, slots=True)
class Vote:
    """An evaluation with its weight in [0, 1]; ``sure`` is what it adds to the confidence, or None: that."""

    evaluation: Evaluation
    weight: float
    sure: float | None = None

    @property
    def label(self) -> Label:
        """The label that it is for."""
        return label_of(self.evaluation)


def most(votes: Sequence[Vote | Unsure]) -> Judgement:
    """Return what most votes by weight are for.

    The confidence is what the winners add, over the number of all: whoever gave no usable reply counts as
    not agreeing. Raises NoOpinion where fewer than half gave one, and where two labels have the same
    weight.
    """
    given = [vote for vote in votes if isinstance(vote, Vote)]
    if 2 * len(given) < len(votes) or not given:
        reasons = Counter(vote for vote in votes if isinstance(vote, Unsure))
        raise NoOpinion(reasons.most_common(1)[0][0])
    labels = dict.fromkeys(vote.label for vote in given)
    weights = {label: math.fsum(vote.weight for vote in given if vote.label is label) for label in labels}
    (label, weight), *others = sorted(weights.items(), key=lambda pair: -pair[1])
    if others and math.isclose(others[0][1], weight, abs_tol=1e-9):
        raise NoOpinion(Unsure.DISAGREEMENT)
    winners = [vote for vote in given if vote.label is label]
    sure = math.fsum(vote.weight if vote.sure is None else vote.sure for vote in winners)
    return agreed([vote.evaluation for vote in winners], sure / len(votes))
