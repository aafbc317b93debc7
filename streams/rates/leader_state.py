"""The internal topic in which a leader leaves its state, and where a successor resumes.

One key has the progress; each window that was corrected after it was final has one with its ``late``. They
are read strictly: anybody who may write there can write anything.
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
#: What a leader can write: the producer refuses more.
_MAX_PROGRESS_BYTES: Final = 2 * 1024 * 1024
_MAX_KEY_BYTES: Final = 1_000
#: More verdicts than any window has, and far from what the record of a window holds at most.
_MAX_LATE: Final = 10**12

_Millisecond: TypeAlias = Annotated[int, Field(ge=0, le=_LATEST_MS)]
_Duration: TypeAlias = Annotated[int, Field(gt=0, le=_LATEST_MS)]
_Offset: TypeAlias = Annotated[int, Field(ge=0, lt=2**63)]
_Number: TypeAlias = Annotated[int, Field(ge=0, lt=2**31)]
_LateKey: TypeAlias = tuple[Literal["late"], _Duration, _Millisecond, MessageType, str]

LateCounts = Mapping[WindowKey, int]
StateRecords = dict[bytes, bytes | None]


class InvalidState(ValueError):
    """A record that no leader of this release can have written; it quotes nothing of it."""


class PartitionState(NamedTuple):
    """One partition of the verdicts.

    ``position`` is the next offset to count, ``since`` the first one whose verdict still matters, ``seen``
    the largest event time that was met (milliseconds since 1970), or None.
    """

    partition: _Number
    position: _Offset
    since: _Offset
    seen: _Millisecond | None


@dataclass(frozen=True, slots=True)
class Boundaries:
    """The boundaries of an aggregator, in milliseconds since 1970, which the verdicts alone do not tell.

    Windows that end at or before ``watermark`` are closed, ``final_to`` final, ``kept_from`` forgotten;
    those that start before their ``floors`` (size, hop, floor) never come out. It holds right after the
    changes were taken, and is to be committed with them.
    """

    watermark: _Millisecond
    final_to: _Millisecond
    kept_from: _Millisecond
    floors: list[tuple[_Duration, _Duration, _Millisecond]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderState:
    """The record of the key ``progress``: of which topics, how far each partition was read, what fires."""

    version: Annotated[int, Field(ge=STATE_VERSION, le=STATE_VERSION)] = STATE_VERSION
    origins: tuple[TopicIdentity, ...]
    partitions: dict[str, list[PartitionState]]
    boundaries: Boundaries
    firing: tuple[RateAlert, ...] = ()

    @property
    def by_partition(self) -> dict[TopicPartition, PartitionState]:
        """The partitions by topic and number."""
        return {
            TopicPartition(topic, at.partition): at for topic, each in self.partitions.items() for at in each
        }

    def to_json(self) -> bytes:
        """Write it as JSON."""
        return _compact(_STATES.dump_python(self, mode="json", warnings=False))


_STATES: Final[TypeAdapter[LeaderState]] = TypeAdapter(LeaderState)
_LATE_KEYS: Final[TypeAdapter[_LateKey]] = TypeAdapter(_LateKey)


def state_records(
    state: LeaderState, lates: LateCounts, before: LateCounts
) -> Iterator[tuple[bytes, bytes | None]]:
    """Give key and value of the records to write where ``before`` is what the topic has of ``lates``."""
    for key, late in lates.items():
        if before.get(key) != late:
            yield _compact([_LATE, *key]), str(late).encode()
    for key in before.keys() - lates.keys():
        yield _compact([_LATE, *key]), None
    yield _PROGRESS, state.to_json()


def read_late_counts(records: StateRecords) -> dict[WindowKey, int]:
    """Give ``late`` of the windows that the topic has it of; what is none of ours is told and left out."""
    lates, refused = {}, 0
    for key, value in records.items():
        if key == _PROGRESS or value is None:
            continue
        try:
            lates[_read_late_key(key)] = _read_late(value)
        except InvalidState:
            refused += 1
    if refused:
        log.warning("rates_state_ignored", error_type="not_a_late", records=refused)
    return lates


def read_state(records: StateRecords) -> LeaderState | None:
    """Give the state that was left, None where there is none; raises NotOurs for something else."""
    if (progress := records.get(_PROGRESS)) is None:
        return None
    if len(progress) > _MAX_PROGRESS_BYTES:
        raise InvalidState("too long")
    try:
        state = _STATES.validate_json(progress, strict=True)
    except ValidationError:
        raise InvalidState("no progress of this release") from None
    boundaries = state.boundaries
    if max(boundaries.final_to, boundaries.kept_from) > boundaries.watermark:
        raise InvalidState("windows that ended before the watermark came there")
    if any(hop > size for size, hop, _ in boundaries.floors):
        raise InvalidState("windows with gaps")
    if any(at.since > at.position for each in state.partitions.values() for at in each):
        raise InvalidState("verdicts to be read again that were not read")
    return state


def _read_late_key(key: bytes) -> WindowKey:
    if len(key) > _MAX_KEY_BYTES:
        raise InvalidState("too long")
    try:
        _, size, start, message_type, language = _LATE_KEYS.validate_json(key, strict=True)
    except ValidationError:
        raise InvalidState("no key of a window") from None
    if start + size > _LATEST_MS:
        raise InvalidState("a window that never ends")
    if language and language_code(language) != language:
        raise InvalidState("no language")
    return WindowKey(size, start, message_type.value, language)


def _read_late(value: bytes) -> int:
    if len(value) > len(str(_MAX_LATE)) or not value.isdigit() or (late := int(value)) > _MAX_LATE:
        raise InvalidState("no count")
    return late


def _compact(values: object) -> bytes:
    return json.dumps(values, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """How to go on.

    What is from ``since`` up to ``positions`` was counted before and is read again without a word; what comes
    after is new. Windows that start before ``floor`` (milliseconds since 1970) are incomplete.
    """

    replay_from: Offsets
    positions: Offsets
    floor: int = 0


def restart_reason(state: LeaderState | None, seen: TopicSnapshot) -> str | None:
    """Say in a stable code why to start over with what the topics hold, or None to go on from the state."""
    if state is None:
        return "new"
    if not seen.is_same(state.origins):
        return "another_topic"
    # Beyond the end, or of a partition that is gone: not the log that was read.
    if any(now.position > seen.end_offsets.get(at, -1) for at, now in state.by_partition.items()):
        return "offset_out_of_range"
    return None


def resume(state: LeaderState, seen: TopicSnapshot, now: int) -> ResumePoint:
    """Go on from a state; where verdicts were deleted before they could be read again, windows are given up.

    ``now`` is in milliseconds since 1970. A new partition is read from its beginning.
    """
    places, since, positions, floor = state.by_partition, {}, {}, 0
    for at, begin in seen.beginning_offsets.items():
        left = places.get(at)
        since[at] = max(begin, left.since) if left else begin
        positions[at] = max(begin, left.position) if left else begin
        if left and begin > left.since:
            # What was deleted unread may be as young as the present.
            newest_lost = now if begin > left.position or left.seen is None else left.seen
            floor = max(floor, newest_lost + 1)
    return ResumePoint(since, positions, floor)


def start_over(seen: TopicSnapshot, firsts: Mapping[TopicPartition, int], horizon: int) -> ResumePoint:
    """Start with the verdicts from ``horizon`` (milliseconds) on, at ``firsts``; with all if that is all."""
    if all(firsts[at] <= begin for at, begin in seen.beginning_offsets.items()):
        return ResumePoint(seen.beginning_offsets, seen.beginning_offsets)
    return ResumePoint(firsts, firsts, horizon)
