"""Outcomes and logs of them, as hypothesis makes them: repeated, disordered, late, and with odd clocks."""

from collections.abc import Iterable
from math import prod
from random import Random

from hypothesis import strategies as st

from schemas import RateWindow
from streams.rates.verdict_counts import VerdictEvent, to_epoch_ms
from streams.rates.windows import WindowConfig, WindowSpec
from tests.support.offline_rates import Counts, counted_in

# Small numbers, so that windows overlap, close and are forgotten within a short log. One hop does not divide.
RULES = WindowConfig(
    (WindowSpec(10, 10), WindowSpec(50, 10), WindowSpec(30, 20)), allowed_lateness=15, retention=40
)
DAY = 10_000
FAR = WindowConfig(RULES.specs, allowed_lateness=15, retention=100 * DAY)


def windows_of(rules: WindowConfig) -> list[tuple[int, int]]:
    return [(spec.size, spec.hop) for spec in rules.specs]


def outcome(verdict_id: str, event_time: int, scored_at: int = 0, **other: object) -> VerdictEvent:
    values: dict[str, object] = {
        "message_type": "binary", "language": "nl", "decision": "blocked", "scored": True, **other
    }  # fmt: skip
    return VerdictEvent(verdict_id, event_time, scored_at, **values)  # type: ignore[arg-type]


def outcomes(latest: int) -> st.SearchStrategy[VerdictEvent]:
    """Few ids, so that repeats are frequent; they may differ in everything, as no real ones do.

    Each is made of one number: to draw field by field would take ten times as long.
    """
    sizes = (8, latest, 4, 2, 2, 3, 2, 3 * latest, 4)
    return st.integers(0, prod(sizes) - 1).map(lambda number: _made_of(number, sizes))


def _made_of(number: int, sizes: tuple[int, ...]) -> VerdictEvent:
    drawn: list[int] = []
    for size in sizes:
        number, one = divmod(number, size)
        drawn.append(one)
    name, time, scored_at, message_type, language, decision, scored, produced_at, faithfulness = drawn
    return VerdictEvent(
        verdict_id=str(name),
        event_time=time,
        scored_at=scored_at,
        message_type=("binary", "error")[message_type],
        language=("nl", None)[language],
        decision=("auto_send", "review", "blocked")[decision],
        scored=bool(scored),
        produced_at=produced_at if produced_at < sizes[1] else 0,
        faithfulness=(None, 0, 3_333, 10_000)[faithfulness],
    )


randoms = st.integers(0, 2**32).map(Random)


def counts_of(records: Iterable[RateWindow]) -> Counts:
    """Give the last record of each window, without those that were emptied."""
    last = {_cell(record): counted_in(record) for record in records}
    return {cell: counts for cell, counts in last.items() if counts[0]}


def _cell(record: RateWindow) -> tuple[int, int, str, str | None]:
    start = to_epoch_ms(record.window_start)
    return start, to_epoch_ms(record.window_end) - start, record.message_type, record.language
