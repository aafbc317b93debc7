"""The worth of a confidence: wrong labels that it flags, and what that costs (paper 002, Figure 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.evaluation.opinions.judged import Judged
from scoring.evaluation.statistics import Share

#: The thresholds that figures are shown for; models state few values between .9 and 1.
TAUS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


@dataclass(frozen=True, slots=True)
class FlagRow:
    """One threshold: an opinion with less confidence goes to a person, and one without a label always.

    ``flagged`` is the share of the wrong labels that a person sees (Figure 6a), None where none is wrong;
    ``reviewed`` that of all opinions (Figure 6b).
    """

    tau: float
    flagged: Share | None
    reviewed: Share | None


def flag_rows(judged: Sequence[Judged], taus: Sequence[float] = TAUS) -> tuple[FlagRow, ...]:
    """Count what each threshold flags."""
    return tuple(_row(judged, tau) for tau in taus)


def _row(judged: Sequence[Judged], tau: float) -> FlagRow:
    wrong = [each.opinion.confidence < tau for each in judged if each.is_wrong]
    reviewed = [each.opinion.label is None or each.opinion.confidence < tau for each in judged]
    return FlagRow(tau, Share.of(sum(wrong), len(wrong)), Share.of(sum(reviewed), len(reviewed)))
