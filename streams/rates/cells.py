"""One window's counts of one message type in one language."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from schemas.records import RateWindow
from streams.rates.memory import Label
from streams.rates.outcome import instant
from streams.rates.tally import Tally
from streams.rates.windows import WindowSpec


class Group(NamedTuple):
    """What is counted apart; ``language`` is empty where it is not known."""

    message_type: str
    language: str


class WindowKey(NamedTuple):
    """What names the counts of one group in one window; ``size`` and ``start`` in milliseconds."""

    size: int
    start: int
    message_type: str
    language: str


class State(NamedTuple):
    """What is told of the counts of one group in one window."""

    tally: Tally
    late: int
    final: bool


class Cell:
    """The counts of one group in one window.

    ``late`` is how many verdicts changed them after the window was final; ``published`` the state that was
    published last, None where nobody was told of them.
    """

    __slots__ = ("counts", "faithfulness_answers", "faithfulness_sum", "group", "late", "published", "window")

    def __init__(self, window: Window, group: Group) -> None:
        self.window = window
        self.group = group
        self.counts: dict[tuple[str, bool], int] = {}
        self.faithfulness_answers = 0
        self.faithfulness_sum = 0
        self.late = 0
        self.published: State | None = None

    def add(self, label: Label, number: int) -> None:
        """Count answers of one label; ``number`` is negative where they no longer count."""
        outcome = label.decision, label.scored
        total = self.counts.get(outcome, 0) + number
        if total:
            self.counts[outcome] = total
        else:
            del self.counts[outcome]
        if label.faithfulness >= 0:
            self.faithfulness_answers += number
            self.faithfulness_sum += number * label.faithfulness

    @property
    def state(self) -> State:
        """What a record of it tells."""
        return State(self.tally(), self.late, self.window.final)

    @property
    def key(self) -> WindowKey:
        """The name."""
        return WindowKey(self.window.spec.size, self.window.start, *self.group)

    def tally(self) -> Tally:
        """Sum up."""
        return replace(
            Tally.of((*outcome, answers) for outcome, answers in self.counts.items()),
            faithfulness_answers=self.faithfulness_answers,
            faithfulness_sum=self.faithfulness_sum,
        )

    def record(self) -> RateWindow:
        """Write the counts as a record; without scored answers the rate is 0, with bounds 0 and 1."""
        tally, window = self.tally(), self.window
        low, high = tally.bounds
        return RateWindow(
            window_start=instant(window.start),
            window_end=instant(window.end),
            message_type=self.group.message_type,
            language=self.group.language or None,
            answers=tally.answers,
            scored=tally.scored,
            hallucinated=tally.hallucinated,
            auto_sent=tally.auto_sent,
            review=tally.review,
            blocked=tally.blocked,
            rate=tally.rate or 0.0,
            rate_low=low,
            rate_high=high,
            late=self.late,
            final=window.final,
            faithfulness_answers=tally.faithfulness_answers,
            faithfulness_mean=tally.faithfulness,
        )


class Window:
    """One window of event time, and the cells of the groups that were seen in it."""

    __slots__ = ("cells", "end", "final", "spec", "start")

    def __init__(self, spec: WindowSpec, start: int, final: bool) -> None:
        self.spec = spec
        self.start = start
        self.end = start + spec.size
        self.final = final
        self.cells: dict[Group, Cell] = {}

    def cell(self, group: Group) -> Cell:
        """Give the cell of a group, made at its first use."""
        return self.cells.setdefault(group, Cell(self, group))
