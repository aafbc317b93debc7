"""Events of verdicts, the choice between several with one id, and the counts of windows."""

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
# A clock in the wrong time zone is ahead by less than this; a clock further ahead is ignored.
_MAX_AHEAD_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class VerdictEvent:
    """What counts of one verdict record; times are milliseconds since 1970.

    ``event_time`` determines its windows. ``produced_at`` is the chatbot's own time, later than
    ``event_time`` if the chatbot's clock is ahead: all repeats of a verdict share it, so it determines how
    long the verdict's id is remembered. 0: as ``event_time``. ``message_type`` is a known one and
    ``language`` has two letters, which bounds the number of groups. ``faithfulness`` is in whole parts
    (:func:`~streams.rates.windows.faithfulness_parts`), None if the verdict has none.
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
    """Return the event of a verdict whose record has this ``timestamp`` (ms; negative: none).

    The event time is the chatbot's, but never after the record's: a clock that is ahead would move the
    watermark into the future. Other writers may write anything: an unknown message type counts as
    ``unspecified``, an invalid language or faithfulness as none.
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
    """Convert an aware time to milliseconds since 1970, rounded down."""
    return (instant - _EPOCH) // _MILLISECOND


def from_epoch_ms(milliseconds: int) -> datetime:
    """Convert milliseconds since 1970 to UTC; raises ValueError or OverflowError beyond year 9999."""
    return _EPOCH + milliseconds * _MILLISECOND


_KEY_BYTES = 16  # collisions are as unlikely as those of UUIDs
# Two times and the number of a contribution: 48 bytes as an integer, 144 as objects.
_PACKED = Struct(">qqI")


class Contribution(NamedTuple):
    """What a verdict adds to counts; ``language`` is empty and ``faithfulness`` -1 if unknown."""

    decision: str
    scored: bool
    message_type: str
    language: str
    faithfulness: int = -1


class VerdictVersion(NamedTuple):
    """One of the records of a verdict id; the least one counts: the one that was scored first.

    The order includes all fields, so it never depends on which record was read first.
    """

    scored_at: int
    event_time: int
    contribution: Contribution


class Deduplicator:
    """The versions of each verdict, remembered until their horizon has passed.

    Of versions with the same horizon, as repeats have, only the least is stored. Which version counts is a
    function of the set of versions that are remembered, not of their order.

    The verdicts of some hours are stored, so each is two integers: 16 bytes of its id's hash, and its packed
    version. With their entry in a dict these take 130 to 155 bytes, and the garbage collector does not
    traverse them while answers wait.
    """

    def __init__(self) -> None:
        self._by_horizon: dict[int, dict[int, int]] = {}
        self._repeated: set[int] = set()
        self._contributions: list[Contribution] = []
        self._numbers: dict[Contribution, int] = {}

    def __len__(self) -> int:
        return sum(map(len, self._by_horizon.values()))

    def add(
        self, verdict_id: str, version: VerdictVersion, horizon: int
    ) -> tuple[VerdictVersion | None, VerdictVersion]:
        """Remember a version until ``horizon``; return which counted before, and which counts now."""
        key = _compact(verdict_id)
        before = self._least(key)
        versions = self._by_horizon.setdefault(horizon, {})
        same_horizon = versions.get(key)
        if same_horizon is None or version < self._unpacked(same_horizon):
            versions[key] = self._packed(version)
        if before is not None and same_horizon is None:
            self._repeated.add(key)
        return before, version if before is None else min(before, version)

    def forget(self, boundary: int) -> list[VerdictVersion]:
        """Forget versions with a horizon at or before ``boundary``; return those that now count instead."""
        passed = [horizon for horizon in self._by_horizon if horizon <= boundary]
        if not passed:
            return []
        gone = {key for horizon in passed for key in self._by_horizon[horizon].keys() & self._repeated}
        before = {key: self._least(key) for key in gone}
        for horizon in passed:
            del self._by_horizon[horizon]
        self._repeated -= {key for key in gone if self._copies(key) <= 1}
        after = {key: self._least(key) for key in gone}
        return [version for key, version in after.items() if version is not None and version != before[key]]

    def _copies(self, key: int) -> int:
        return sum(key in versions for versions in self._by_horizon.values())

    def _least(self, key: int) -> VerdictVersion | None:
        found = [self._unpacked(versions[key]) for versions in self._by_horizon.values() if key in versions]
        return min(found, default=None)

    def _packed(self, version: VerdictVersion) -> int:
        number = self._numbers.setdefault(version.contribution, len(self._contributions))
        if number == len(self._contributions):
            self._contributions.append(version.contribution)
        return int.from_bytes(_PACKED.pack(version.scored_at, version.event_time, number))

    def _unpacked(self, packed: int) -> VerdictVersion:
        scored_at, event_time, number = _PACKED.unpack(packed.to_bytes(_PACKED.size))
        return VerdictVersion(scored_at, event_time, self._contributions[number])


def _compact(verdict_id: str) -> int:
    digest = blake2b(verdict_id.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()
    return int.from_bytes(digest)


class RateGroup(NamedTuple):
    """The group that a verdict counts in; ``language`` is empty if unknown."""

    message_type: str
    language: str


class WindowKey(NamedTuple):
    """The key of the counts of one group in one window; ``size`` and ``start`` in milliseconds."""

    size: int
    start: int
    message_type: str
    language: str


class CountsSnapshot(NamedTuple):
    """What is published of the counts of one group in one window."""

    tally: Tally
    late: int
    final: bool


class GroupCounts:
    """The counts of one group in one window.

    ``late`` is the number of verdicts that changed them after the window was final; ``published`` the last
    published snapshot, if any.
    """

    __slots__ = (
        "faithfulness_answers",
        "faithfulness_sum",
        "group",
        "late",
        "outcomes",
        "published",
        "window",
    )

    def __init__(self, window: WindowCounts, group: RateGroup) -> None:
        self.window = window
        self.group = group
        self.outcomes: dict[tuple[str, bool], int] = {}
        self.faithfulness_answers = 0
        self.faithfulness_sum = 0
        self.late = 0
        self.published: CountsSnapshot | None = None

    def add(self, contribution: Contribution, number: int) -> None:
        """Add a contribution ``number`` times; a negative number removes it."""
        outcome = contribution.decision, contribution.scored
        total = self.outcomes.get(outcome, 0) + number
        if total:
            self.outcomes[outcome] = total
        else:
            del self.outcomes[outcome]
        if contribution.faithfulness >= 0:
            self.faithfulness_answers += number
            self.faithfulness_sum += number * contribution.faithfulness

    @property
    def snapshot(self) -> CountsSnapshot:
        """What a record of them has."""
        return CountsSnapshot(self.tally(), self.late, self.window.final)

    @property
    def key(self) -> WindowKey:
        """Their key."""
        return WindowKey(self.window.spec.size, self.window.start, *self.group)

    def tally(self) -> Tally:
        """Return the tally of the counts."""
        return replace(
            Tally.of((*outcome, answers) for outcome, answers in self.outcomes.items()),
            faithfulness_answers=self.faithfulness_answers,
            faithfulness_sum=self.faithfulness_sum,
        )

    def record(self) -> RateWindow:
        """Return the counts as a record; without scored answers the rate is 0, with bounds 0 and 1."""
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
    """One window of event time, and the counts of its groups."""

    __slots__ = ("end", "final", "groups", "spec", "start")

    def __init__(self, spec: WindowSpec, start: int, final: bool) -> None:
        self.spec = spec
        self.start = start
        self.end = start + spec.size
        self.final = final
        self.groups: dict[RateGroup, GroupCounts] = {}

    def group(self, group: RateGroup) -> GroupCounts:
        """Return the counts of a group, created at its first use."""
        return self.groups.setdefault(group, GroupCounts(self, group))


@dataclass(frozen=True, slots=True)
class ClosedWindow:
    """The newest window of one size that ended at or before the watermark; milliseconds since 1970.

    ``tallies`` has the groups of all windows that are not dropped, zero where nothing was counted. Late
    verdicts may still change them.
    """

    spec: WindowSpec
    start: int
    tallies: Mapping[RateGroup, Tally]

    @property
    def end(self) -> int:
        """The end, exclusive."""
        return self.start + self.spec.size

    def total(self, message_type: str | None = None, language: str | None = None) -> Tally:
        """Return the tally over the groups of a message type and language; None matches all."""
        matching = (
            tally
            for group, tally in self.tallies.items()
            if message_type in (None, group.message_type) and language in (None, group.language)
        )
        return sum(matching, Tally())
