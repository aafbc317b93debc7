"""What counts of a verdict, in which window, and which of several with one id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from struct import Struct
from typing import Final, NamedTuple

from schemas.catalogue import VerdictOutcome
from schemas.records import RateWindow, Verdict
from scoring.text.language_detection import language_code
from scoring.values.exchange import MessageType
from streams.rates.windows import Tally, WindowSpec, faithfulness_parts

_TYPES: Final = frozenset(kind.value for kind in MessageType)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
# A clock in the wrong time zone is ahead by less than this; one that is further ahead tells nothing.
_MAX_AHEAD_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class VerdictEvent:
    """One verdict record; times are milliseconds since 1970.

    ``event_time`` places it in windows. ``produced_at`` is the chatbot's own time, which is later than
    ``event_time`` where the chatbot's clock is ahead: all repeats of a verdict share it, so it says how
    long the verdict's id is remembered. 0: as ``event_time``. ``message_type`` is one of the known ones and
    ``language`` of two letters, so that there is an end to what is counted apart. ``faithfulness`` is in
    whole parts (:func:`~streams.rates.windows.faithfulness_parts`), None where the verdict has none.
    """

    verdict_id: str
    event_time: int
    scored_at: int
    message_type: str
    language: str | None
    decision: str
    scored: bool
    produced_at: int = 0
    faithfulness: int | None = None


def verdict_event(verdict: Verdict | VerdictOutcome, timestamp: int) -> VerdictEvent:
    """Give what counts of a verdict whose record on its topic has this ``timestamp`` (ms; negative: none).

    The event time is the chatbot's, but never after the record's: a clock that is ahead would move the
    watermark into the future. Whoever else writes verdicts may write anything: a message type that is not
    known counts as ``unspecified``, and what is no language or no faithfulness as none.
    """
    produced_at, scored_at = to_epoch_ms(verdict.produced_at), to_epoch_ms(verdict.scored_at)
    latest = timestamp if timestamp >= 0 else scored_at
    return VerdictEvent(
        verdict_id=verdict.verdict_id,
        event_time=min(produced_at, latest),
        scored_at=scored_at,
        message_type=verdict.message_type
        if verdict.message_type in _TYPES
        else MessageType.UNSPECIFIED.value,
        language=language_code(verdict.language),
        decision=verdict.decision,
        scored=verdict.score is not None,
        produced_at=min(produced_at, latest + _MAX_AHEAD_MS),
        faithfulness=faithfulness_parts(verdict.faithfulness),
    )


def to_epoch_ms(instant: datetime) -> int:
    """Give an aware time as milliseconds since 1970, rounded down."""
    return (instant - _EPOCH) // _MILLISECOND


def from_epoch_ms(milliseconds: int) -> datetime:
    """Give milliseconds since 1970 as an aware time in UTC; ValueError or OverflowError beyond year 9999."""
    return _EPOCH + milliseconds * _MILLISECOND


_KEY_BYTES = 16  # collisions are as unlikely as those of UUIDs
# Two times and the number of a label: as a whole number it takes 48 bytes, as objects it took 144.
_PACKED = Struct(">qqI")


class Contribution(NamedTuple):
    """What a verdict is counted as; ``language`` is empty and ``faithfulness`` -1 where it is not known."""

    decision: str
    scored: bool
    message_type: str
    language: str
    faithfulness: int = -1


class VerdictVersion(NamedTuple):
    """One of the records that carry one verdict's id; the least counts: the one that was scored first.

    All its fields take part in the order, so which one is least never depends on what was read first.
    """

    scored_at: int
    event_time: int
    contribution: Contribution


class Deduplicator:
    """The versions of each verdict, kept until their horizon is passed.

    Versions that share their horizon, as repeats do, are told apart and forgotten together. What counts is
    a function of the set of versions that are not forgotten, whatever the order they came in.

    A deployment's verdicts of some hours are kept, so each is two whole numbers: 16 bytes of its id's hash,
    and its packed version. That is 130 to 155 bytes with their place in a table, and nothing that a
    collection of garbage has to look through while answers wait.
    """

    def __init__(self) -> None:
        self._kept: dict[int, dict[int, int]] = {}
        self._several: set[int] = set()
        self._labels: list[Contribution] = []
        self._numbers: dict[Contribution, int] = {}

    def __len__(self) -> int:
        return sum(map(len, self._kept.values()))

    def add(
        self, verdict_id: str, version: VerdictVersion, horizon: int
    ) -> tuple[VerdictVersion | None, VerdictVersion]:
        """Keep a version until ``horizon``; give the one that counted before, and the one that does now."""
        key = _compact(verdict_id)
        before = self._least(key)
        versions = self._kept.setdefault(horizon, {})
        same_horizon = versions.get(key)
        if same_horizon is None or version < self._unpacked(same_horizon):
            versions[key] = self._packed(version)
        if before is not None and same_horizon is None:
            self._several.add(key)
        return before, version if before is None else min(before, version)

    def forget(self, boundary: int) -> list[VerdictVersion]:
        """Forget all with a horizon at or before ``boundary``; give the versions that now count instead."""
        passed = [horizon for horizon in self._kept if horizon <= boundary]
        if not passed:
            return []
        gone = {key for horizon in passed for key in self._kept[horizon].keys() & self._several}
        before = {key: self._least(key) for key in gone}
        for horizon in passed:
            del self._kept[horizon]
        self._several -= {key for key in gone if self._copies(key) <= 1}
        after = {key: self._least(key) for key in gone}
        return [version for key, version in after.items() if version is not None and version != before[key]]

    def _copies(self, key: int) -> int:
        return sum(key in versions for versions in self._kept.values())

    def _least(self, key: int) -> VerdictVersion | None:
        found = [self._unpacked(versions[key]) for versions in self._kept.values() if key in versions]
        return min(found, default=None)

    def _packed(self, version: VerdictVersion) -> int:
        number = self._numbers.setdefault(version.contribution, len(self._labels))
        if number == len(self._labels):
            self._labels.append(version.contribution)
        return int.from_bytes(_PACKED.pack(version.scored_at, version.event_time, number))

    def _unpacked(self, packed: int) -> VerdictVersion:
        scored_at, event_time, number = _PACKED.unpack(packed.to_bytes(_PACKED.size))
        return VerdictVersion(scored_at, event_time, self._labels[number])


def _compact(verdict_id: str) -> int:
    digest = blake2b(verdict_id.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()
    return int.from_bytes(digest)


class RateGroup(NamedTuple):
    """What is counted apart; ``language`` is empty where it is not known."""

    message_type: str
    language: str


class WindowKey(NamedTuple):
    """What names the counts of one group in one window; ``size`` and ``start`` in milliseconds."""

    size: int
    start: int
    message_type: str
    language: str


class CountsSnapshot(NamedTuple):
    """What is told of the counts of one group in one window."""

    tally: Tally
    late: int
    final: bool


class GroupCounts:
    """The counts of one group in one window.

    ``late`` is how many verdicts changed them after the window was final; ``published`` the state that was
    published last, None where nobody was told of them.
    """

    __slots__ = ("counts", "faithfulness_answers", "faithfulness_sum", "group", "late", "published", "window")

    def __init__(self, window: WindowCounts, group: RateGroup) -> None:
        self.window = window
        self.group = group
        self.counts: dict[tuple[str, bool], int] = {}
        self.faithfulness_answers = 0
        self.faithfulness_sum = 0
        self.late = 0
        self.published: CountsSnapshot | None = None

    def add(self, contribution: Contribution, number: int) -> None:
        """Count answers of one label; ``number`` is negative where they no longer count."""
        outcome = contribution.decision, contribution.scored
        total = self.counts.get(outcome, 0) + number
        if total:
            self.counts[outcome] = total
        else:
            del self.counts[outcome]
        if contribution.faithfulness >= 0:
            self.faithfulness_answers += number
            self.faithfulness_sum += number * contribution.faithfulness

    @property
    def snapshot(self) -> CountsSnapshot:
        """What a record of it tells."""
        return CountsSnapshot(self.tally(), self.late, self.window.final)

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
            window_start=from_epoch_ms(window.start),
            window_end=from_epoch_ms(window.end),
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
            faithfulness_answers=tally.faithfulness_answers,
            faithfulness_mean=tally.faithfulness,
            late=self.late,
            final=window.final,
        )


class WindowCounts:
    """One window of event time, and the cells of the groups that were seen in it."""

    __slots__ = ("end", "final", "groups", "spec", "start")

    def __init__(self, spec: WindowSpec, start: int, final: bool) -> None:
        self.spec = spec
        self.start = start
        self.end = start + spec.size
        self.final = final
        self.groups: dict[RateGroup, GroupCounts] = {}

    def group(self, group: RateGroup) -> GroupCounts:
        """Give the cell of a group, made at its first use."""
        return self.groups.setdefault(group, GroupCounts(self, group))


@dataclass(frozen=True, slots=True)
class ClosedWindow:
    """The newest window of one size that ended at or before the watermark; milliseconds since 1970.

    ``tallies`` has every group that any kept window has, with zeros where nothing was counted here. Late
    verdicts may still change them.
    """

    spec: WindowSpec
    start: int
    tallies: Mapping[RateGroup, Tally]

    @property
    def end(self) -> int:
        """The instant after the last."""
        return self.start + self.spec.size

    def total(self, message_type: str | None = None, language: str | None = None) -> Tally:
        """Sum up over the groups of that message type and language, over all where it is None."""
        matching = (
            tally
            for group, tally in self.tallies.items()
            if message_type in (None, group.message_type) and language in (None, group.language)
        )
        return sum(matching, Tally())
