"""What a lead looks at: how long decisions take, what became of answers, and how far people agree."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, sqrt
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scoring.values.exchange import MAX_UNTRUE_RATING, MIN_TRUE_RATING
from streams.desk.decisions import EXPIRED, REJECT, SEND, SEND_EDITED
from streams.rates import wilson_interval
from streams.rates.windows import Z_95

_OUTCOMES: Final = (SEND, SEND_EDITED, REJECT, EXPIRED)
_RESAMPLES: Final = 1_000
#: With less an interval says nothing.
_FEWEST: Final = 10
_Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PersonsRating:
    """How one person rated a verdict."""

    reviewer: str
    rating: int | None
    label: str | None

    @property
    def says(self) -> str | None:
        """The label, or what the rating says: TRUE, FALSE or, between the two, None."""
        if self.label or self.rating is None:
            return self.label
        if self.rating >= MIN_TRUE_RATING:
            return "TRUE"
        return "FALSE" if self.rating <= MAX_UNTRUE_RATING else None


@dataclass(frozen=True, slots=True)
class ReviewedVerdict:
    """A verdict without its texts, and what people said of it; times are milliseconds since 1970.

    ``decision`` is review, blocked or auto_send; ``reason`` is the first reason, ``judged`` the last label of
    a judge. ``outcome`` and ``decided_at`` are those of the review that counts. ``drawn``: it is in the audit
    sample, so that its rating says something of those that nobody rated.
    """

    decision: str
    message_type: str
    reason: str
    scored_at: int
    judged: str | None = None
    outcome: str | None = None
    decided_at: int | None = None
    ratings: tuple[PersonsRating, ...] = ()
    drawn: bool = False


@dataclass(frozen=True, slots=True)
class LeadEstimate:
    """An estimate from ``number`` observations, and its 95% interval; None where there are too few."""

    value: float
    number: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class ReasonOutcomes:
    """What became of the answers that were held for a reason; ``changed`` is the share edited or rejected."""

    reason: str
    outcomes: Mapping[str, int]
    changed: LeadEstimate | None


@dataclass(frozen=True, slots=True)
class LeadFigures:
    """The figures of one period. ``median`` and ``high`` (95th percentile) are seconds to a decision."""

    median: LeadEstimate | None
    high: LeadEstimate | None
    reasons: tuple[ReasonOutcomes, ...]
    changed: LeadEstimate | None
    alpha_ratings: LeadEstimate | None
    alpha_labels: LeadEstimate | None
    judges: Mapping[str, LeadEstimate]
    sent_untrue: LeadEstimate | None
    blocked_true: LeadEstimate | None


def lead_figures(verdicts: Sequence[ReviewedVerdict]) -> LeadFigures:
    """Return the figures of these verdicts."""
    held = [each for each in verdicts if each.decision == "review" and each.outcome]
    decided = [each for each in held if each.outcome != EXPIRED]
    seconds = [(each.decided_at - each.scored_at) / 1000 for each in decided if each.decided_at is not None]
    by_reason = Counter(each.reason for each in held)
    return LeadFigures(
        median=quantile(seconds, 0.5),
        high=quantile(seconds, 0.95),
        reasons=tuple(_outcomes(key, held) for key, _ in by_reason.most_common()),
        changed=share(each.outcome != SEND for each in decided),
        alpha_ratings=alpha([[r.rating for r in each.ratings] for each in verdicts], ordinal),
        alpha_labels=alpha([[r.label for r in each.ratings] for each in verdicts], nominal),
        judges=_judges(verdicts),
        sent_untrue=_audited(verdicts, "auto_send", "FALSE"),
        blocked_true=_audited(verdicts, "blocked", "TRUE"),
    )


def _outcomes(reason: str, held: Iterable[ReviewedVerdict]) -> ReasonOutcomes:
    found = [each.outcome for each in held if each.reason == reason]
    counts = Counter(found)
    outcomes = {each: counts[each] for each in _OUTCOMES}
    return ReasonOutcomes(reason, outcomes, share(each != SEND for each in found if each != EXPIRED))


def _judges(verdicts: Iterable[ReviewedVerdict]) -> dict[str, LeadEstimate]:
    agrees: dict[str, list[bool]] = {}
    for each in verdicts:
        if each.judged and (said := _said(each)):
            agrees.setdefault(each.judged, []).append(said == each.judged)
    return {label: found for label in sorted(agrees) if (found := share(agrees[label]))}


def _audited(verdicts: Iterable[ReviewedVerdict], decision: str, label: str) -> LeadEstimate | None:
    said = (_said(each) for each in verdicts if each.drawn and each.decision == decision)
    return share(each == label for each in said if each)


def _said(verdict: ReviewedVerdict) -> str | None:
    """Return what the first person says who says something."""
    return next((said for each in verdict.ratings if (said := each.says)), None)


def share(found: Iterable[bool]) -> LeadEstimate | None:
    """Return the share that is true, with Wilson's interval; None of nothing."""
    values = list(found)
    if not values:
        return None
    return LeadEstimate(sum(values) / len(values), len(values), *wilson_interval(sum(values), len(values)))


def quantile(values: Sequence[float], at: float) -> LeadEstimate | None:
    """Return a quantile, with the interval of order statistics (David and Nagaraja 2003, section 7.1)."""
    if not values:
        return None
    ordered, number = sorted(values), len(values)
    found = float(np.quantile(ordered, at))
    if number < _FEWEST:
        return LeadEstimate(found, number)
    half = Z_95 * sqrt(number * at * (1 - at))
    low, high = max(1, floor(number * at - half)), min(number, ceil(number * at + half) + 1)
    return LeadEstimate(found, number, ordered[low - 1], ordered[high - 1])


#: The squared difference of two values, given how often each value occurs, in order.
Difference = Callable[[int, int, _Floats], float]


def nominal(one: int, other: int, _counts: _Floats) -> float:
    """Return 1 for two values that differ."""
    return float(one != other)


def ordinal(one: int, other: int, counts: _Floats) -> float:
    """Return the squared number of values from one to the other, each end by half."""
    low, high = min(one, other), max(one, other)
    return float(counts[low : high + 1].sum() - (counts[low] + counts[high]) / 2) ** 2


def alpha(units: Iterable[Sequence[object]], difference: Difference) -> LeadEstimate | None:
    """Return Krippendorff's alpha of the values that people gave to each unit; None for no value.

    Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011). Units with one value say nothing of
    agreement. The interval is that of the percentiles of resampled units; None if more than 5% of these have
    no alpha.
    """
    paired = [[each for each in unit if each is not None] for unit in units]
    paired = [unit for unit in paired if len(unit) > 1]
    places = {
        value: place for place, value in enumerate(sorted({v for unit in paired for v in unit}, key=str))
    }
    pairs = np.zeros((len(paired), len(places), len(places)))
    for number, unit in enumerate(paired):
        counts = np.bincount([places[value] for value in unit], minlength=len(places))
        pairs[number] = (np.outer(counts, counts) - np.diag(counts)) / (len(unit) - 1)
    found = _alpha(pairs.sum(axis=0), difference)
    if found is None or len(paired) < _FEWEST:
        return None if found is None else LeadEstimate(found, len(paired))
    chance = np.random.default_rng(0)
    drawn = (pairs[chance.integers(len(paired), size=len(paired))].sum(axis=0) for _ in range(_RESAMPLES))
    resampled = [each for each in (_alpha(sums, difference) for sums in drawn) if each is not None]
    if len(resampled) < 0.95 * _RESAMPLES:
        return LeadEstimate(found, len(paired))
    low, high = np.quantile(resampled, (0.025, 0.975))
    return LeadEstimate(found, len(paired), float(low), float(high))


def _alpha(coincidences: _Floats, difference: Difference) -> float | None:
    counts = coincidences.sum(axis=0)
    total, size = counts.sum(), len(counts)
    distance = np.array([[difference(i, j, counts) for j in range(size)] for i in range(size)])
    expected = (np.outer(counts, counts) * distance).sum()
    if not expected:
        return None
    return float(1 - (total - 1) * (coincidences * distance).sum() / expected)
