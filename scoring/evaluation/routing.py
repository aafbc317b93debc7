"""The decisions of the policy on answers of each rating, scored or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.evaluation.cases import EVERY, RATINGS, Case, Group
from scoring.evaluation.statistics import Share
from scoring.values.types import Decision


@dataclass(frozen=True, slots=True)
class RoutingRow:
    """Where answers of one rating went, or of several (``rating`` None); no shares where there are none."""

    rating: int | None
    answers: int
    auto_send: Share | None
    review: Share | None
    blocked: Share | None


@dataclass(frozen=True, slots=True)
class Routing:
    """The decisions on the rated answers of one group; ``counted_out`` of them for want of a translation."""

    group: Group
    ratings: tuple[RoutingRow, ...]
    counted_out: int


def routing(cases: Sequence[Case], group: Group = EVERY) -> Routing:
    """Count the decisions for each rating; the answers that have no score are among them.

    Those that were not scored in the way that was asked for are not: what was decided about them, the
    other way decided.
    """
    rated = [case for case in group.of(cases) if case.rating is not None]
    members = [case for case in rated if case.as_asked]
    rows = tuple(
        routing_row([case.decision for case in members if case.rating == rating], rating)
        for rating in RATINGS
    )
    return Routing(group, rows, counted_out=len(rated) - len(members))


def routing_row(decisions: Sequence[Decision], rating: int | None = None) -> RoutingRow:
    """Count the decisions on some answers."""
    shares = {each.value: Share.of(decisions.count(each), len(decisions)) for each in Decision}
    return RoutingRow(rating, len(decisions), **shares)
