"""The plain count of a whole log of verdicts, by which the streamed rates are checked."""

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction

from schemas import RateWindow
from streams.rates.verdict_counts import VerdictEvent

# Answers, scored, untrue, sent, review, blocked, those with a faithfulness, and its mean.
Counted = tuple[int, int, int, int, int, int, int, float | None]
# By the window's start and size in ms, message type, language.
Counts = dict[tuple[int, int, str, str | None], Counted]


def counted_in(record: RateWindow) -> Counted:
    """Give the counts of a record."""
    return (
        record.answers,
        record.scored,
        record.hallucinated,
        record.auto_sent,
        record.review,
        record.blocked,
        record.faithfulness_answers,
        record.faithfulness_mean,
    )


def offline_rates(outcomes: Iterable[VerdictEvent], windows: Iterable[tuple[int, int]]) -> Counts:
    """Count each verdict once, by its record with the earliest ``scored_at``; windows are (size, hop) in ms.

    Of records scored at the same time the one with the least event time, decision, ... counts.
    """
    firsts: dict[str, VerdictEvent] = {}
    for outcome in sorted(outcomes, key=_precedence):
        firsts.setdefault(outcome.verdict_id, outcome)
    cells: dict[tuple[int, int, str, str | None], list[VerdictEvent]] = defaultdict(list)
    for outcome in firsts.values():
        for size, hop in windows:
            latest = outcome.event_time - outcome.event_time % hop
            for start in range(latest, outcome.event_time - size, -hop):
                if start >= 0:
                    cells[start, size, outcome.message_type, outcome.language].append(outcome)
    return {cell: _counted(outcomes) for cell, outcomes in cells.items()}


def _precedence(outcome: VerdictEvent) -> tuple[int, int, str, bool, str, str, int]:
    return (
        outcome.scored_at,
        outcome.event_time,
        outcome.decision,
        outcome.scored,
        outcome.message_type,
        outcome.language or "",
        -1 if outcome.faithfulness is None else outcome.faithfulness,
    )


def _counted(outcomes: list[VerdictEvent]) -> Counted:
    decisions = [outcome.decision for outcome in outcomes]
    faithful = [Fraction(o.faithfulness, 10_000) for o in outcomes if o.faithfulness is not None]
    return (
        len(outcomes),
        sum(outcome.scored for outcome in outcomes),
        sum(outcome.scored and outcome.decision == "blocked" for outcome in outcomes),
        decisions.count("auto_send"),
        decisions.count("review"),
        decisions.count("blocked"),
        len(faithful),
        float(sum(faithful) / len(faithful)) if faithful else None,
    )
