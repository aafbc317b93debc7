"""The leader's state in its internal topic, and the point from which the next leader resumes.

One key has the progress; each window that was corrected after it was final has one with its late count. They
are validated strictly: anybody with write access can write anything.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias

import structlog
from aiokafka import TopicPartition
from pydantic import Field, TypeAdapter, ValidationError

from schemas.records import LATEST, RateAlert
from scoring.text.language_detection import language_code
from scoring.values.exchange import MessageType
from streams.kafka.topic_identity import TopicIdentity
from streams.kafka.topic_reader import Offsets, TopicSnapshot
from streams.rates.verdict_counts import WindowKey, to_epoch_ms

log = structlog.get_logger(__name__)

STATE_VERSION: Final = 1
_PROGRESS: Final = b"progress"
_LATE: Final = "late"
_LATEST_MS: Final = to_epoch_ms(LATEST)
#: The producer refuses larger records.
_MAX_PROGRESS_BYTES: Final = 2 * 1024 * 1024
_MAX_KEY_BYTES: Final = 1_000
#: More verdicts than any window has, and far below the limit of a window's record.
_MAX_LATE: Final = 10**12

_Millisecond: TypeAlias = Annotated[int, Field(ge=0, le=_LATEST_MS)]
_Duration: TypeAlias = Annotated[int, Field(gt=0, le=_LATEST_MS)]
_Offset: TypeAlias = Annotated[int, Field(ge=0, lt=2**63)]
_Number: TypeAlias = Annotated[int, Field(ge=0, lt=2**31)]
_LateKey: TypeAlias = tuple[Literal["late"], _Duration, _Millisecond, MessageType, str]

LateCounts = Mapping[WindowKey, int]
StateRecords = dict[bytes, bytes | None]


class InvalidState(ValueError):
    """A record that no leader of this release can have written; the message does not quote it."""


class PartitionState(NamedTuple):
    """One partition of the verdicts.

    ``position`` is the next offset to count, ``since`` the first one whose verdict still matters, ``seen``
    the greatest event time so far (milliseconds since 1970), or None.
    """

    partition: _Number
    position: _Offset
    since: _Offset
    seen: _Millisecond | None


@dataclass(frozen=True, slots=True)
class AggregatorState:
    """The state of an aggregator that its verdicts alone do not determine, in milliseconds since 1970.

    Windows that end at or before ``watermark`` are closed, ``final_to`` final, ``kept_from`` dropped; those
    that start before their ``floors`` (size, hop, floor) are never published. It is valid right after the
    changes were taken, and must be committed with them.
    """

    watermark: _Millisecond
    final_to: _Millisecond
    kept_from: _Millisecond
    floors: list[tuple[_Duration, _Duration, _Millisecond]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderState:
    """The record of the key ``progress``: the topics, the position in each partition, the firing alerts."""

    version: Annotated[int, Field(ge=STATE_VERSION, le=STATE_VERSION)] = STATE_VERSION
    origins: tuple[TopicIdentity, ...]
    partitions: dict[str, list[PartitionState]]
    aggregator: AggregatorState
    firing: tuple[RateAlert, ...] = ()

    @property
    def by_partition(self) -> dict[TopicPartition, PartitionState]:
        """The partitions by topic and number."""
        return {
            TopicPartition(topic, at.partition): at for topic, each in self.partitions.items() for at in each
        }

    def to_json(self) -> bytes:
        """Return the record as JSON."""
        return _compact(_STATES.dump_python(self, mode="json", warnings=False))


_STATES: Final[TypeAdapter[LeaderState]] = TypeAdapter(LeaderState)
_LATE_KEYS: Final[TypeAdapter[_LateKey]] = TypeAdapter(_LateKey)


def state_records(
    state: LeaderState, late_counts: LateCounts, before: LateCounts
) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield key and value of the records to write, given the late counts ``before`` in the topic."""
    for key, late in late_counts.items():
        if before.get(key) != late:
            yield _compact([_LATE, *key]), str(late).encode()
    for key in before.keys() - late_counts.keys():
        yield _compact([_LATE, *key]), None
    yield _PROGRESS, state.to_json()


def read_late_counts(records: StateRecords) -> dict[WindowKey, int]:
    """Return the late counts in the topic; invalid records are logged and ignored."""
    late_counts, refused = {}, 0
    for key, value in records.items():
        if key == _PROGRESS or value is None:
            continue
        try:
            late_counts[_read_late_key(key)] = _read_late(value)
        except InvalidState:
            refused += 1
    if refused:
        log.warning("rates_state_ignored", error_type="invalid_late_count", records=refused)
    return late_counts


def read_state(records: StateRecords) -> LeaderState | None:
    """Return the state of the last leader, or None; raises InvalidState for any other record."""
    if (progress := records.get(_PROGRESS)) is None:
        return None
    if len(progress) > _MAX_PROGRESS_BYTES:
        raise InvalidState("too long")
    try:
        state = _STATES.validate_json(progress, strict=True)
    except ValidationError:
        raise InvalidState("not a progress record of this release") from None
    aggregator = state.aggregator
    if max(aggregator.final_to, aggregator.kept_from) > aggregator.watermark:
        raise InvalidState("final or dropped windows beyond the watermark")
    if any(hop > size for size, hop, _ in aggregator.floors):
        raise InvalidState("windows with gaps")
    if any(at.since > at.position for each in state.partitions.values() for at in each):
        raise InvalidState("a replay that begins beyond the position")
    return state


def _read_late_key(key: bytes) -> WindowKey:
    if len(key) > _MAX_KEY_BYTES:
        raise InvalidState("too long")
    try:
        _, size, start, message_type, language = _LATE_KEYS.validate_json(key, strict=True)
    except ValidationError:
        raise InvalidState("not a key of a window") from None
    if start + size > _LATEST_MS:
        raise InvalidState("a window that never ends")
    if language and language_code(language) != language:
        raise InvalidState("not a language")
    return WindowKey(size, start, message_type.value, language)


def _read_late(value: bytes) -> int:
    if len(value) > len(str(_MAX_LATE)) or not value.isdigit() or (late := int(value)) > _MAX_LATE:
        raise InvalidState("not a count")
    return late


def _compact(values: object) -> bytes:
    return json.dumps(values, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """The offsets from which a leader resumes.

    Verdicts from ``replay_from`` up to ``positions`` were counted before and are replayed; later ones are
    new. Windows that start before ``floor`` (milliseconds since 1970) are incomplete.
    """

    replay_from: Offsets
    positions: Offsets
    floor: int = 0


def restart_reason(state: LeaderState | None, seen: TopicSnapshot) -> str | None:
    """Return the code of why to start over with the verdicts in the topics, or None to resume."""
    if state is None:
        return "new"
    if not seen.is_same(state.origins):
        return "another_topic"
    # Beyond the end, or in a partition that is gone: another log.
    if any(now.position > seen.end_offsets.get(at, -1) for at, now in state.by_partition.items()):
        return "offset_out_of_range"
    return None


def resume(state: LeaderState, seen: TopicSnapshot, now: int) -> ResumePoint:
    """Resume from a state; windows whose verdicts were deleted before their replay are given up.

    ``now`` is in milliseconds since 1970. A new partition is read from its beginning.
    """
    left_at, replay_from, positions, floor = state.by_partition, {}, {}, 0
    for at, begin in seen.beginning_offsets.items():
        left = left_at.get(at)
        replay_from[at] = max(begin, left.since) if left else begin
        positions[at] = max(begin, left.position) if left else begin
        if left and begin > left.since:
            # A verdict that was deleted unread may be as recent as now.
            newest_lost = now if begin > left.position or left.seen is None else left.seen
            floor = max(floor, newest_lost + 1)
    return ResumePoint(replay_from, positions, floor)


def start_over(seen: TopicSnapshot, firsts: Mapping[TopicPartition, int], horizon: int) -> ResumePoint:
    """Start at ``firsts``, the first verdicts since ``horizon`` (milliseconds); or with all verdicts."""
    if all(firsts[at] <= begin for at, begin in seen.beginning_offsets.items()):
        return ResumePoint(seen.beginning_offsets, seen.beginning_offsets)
    return ResumePoint(firsts, firsts, horizon)
