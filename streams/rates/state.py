"""The internal topic in which a leader leaves its state for a successor; the last record of each key counts.

One key has the progress; each window that was corrected after it was final has one with its ``late``. They
are read strictly: anybody who may write there can write anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias

import structlog
from aiokafka import TopicPartition
from pydantic import Field, TypeAdapter, ValidationError

from schemas.records import LATEST, RateAlert
from scoring.language import stated_language
from scoring.values.types import MessageType
from streams.kafka.topic_identity import Origin
from streams.rates.cells import WindowKey
from streams.rates.outcome import milliseconds

log = structlog.get_logger(__name__)

VERSION: Final = 1
_PROGRESS: Final = b"progress"
_LATE: Final = "late"
_LATEST_MS: Final = milliseconds(LATEST)
#: What a leader can write: the producer refuses more.
_MOST_PROGRESS_BYTES: Final = 2 * 1024 * 1024
_MOST_KEY_BYTES: Final = 1_000
#: More verdicts than any window has, and far from what the record of a window holds at most.
_MOST_LATE: Final = 10**12

_Millisecond: TypeAlias = Annotated[int, Field(ge=0, le=_LATEST_MS)]
_Duration: TypeAlias = Annotated[int, Field(gt=0, le=_LATEST_MS)]
_Offset: TypeAlias = Annotated[int, Field(ge=0, lt=2**63)]
_Number: TypeAlias = Annotated[int, Field(ge=0, lt=2**31)]
_LateKey: TypeAlias = tuple[Literal["late"], _Duration, _Millisecond, MessageType, str]

Lates = Mapping[WindowKey, int]
Records = dict[bytes, bytes | None]


class NotOurs(ValueError):
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

    version: Annotated[int, Field(ge=VERSION, le=VERSION)] = VERSION
    origins: tuple[Origin, ...]
    partitions: dict[str, list[PartitionState]]
    boundaries: Boundaries
    firing: tuple[RateAlert, ...] = ()

    @property
    def places(self) -> dict[TopicPartition, PartitionState]:
        """The partitions by topic and number."""
        return {
            TopicPartition(topic, at.partition): at for topic, each in self.partitions.items() for at in each
        }

    def progress(self) -> bytes:
        """Write it as JSON."""
        return _compact(_STATES.dump_python(self, mode="json", warnings=False))


_STATES: Final[TypeAdapter[LeaderState]] = TypeAdapter(LeaderState)
_LATE_KEYS: Final[TypeAdapter[_LateKey]] = TypeAdapter(_LateKey)


def records_of(state: LeaderState, lates: Lates, before: Lates) -> Iterator[tuple[bytes, bytes | None]]:
    """Give key and value of the records to write where ``before`` is what the topic has of ``lates``."""
    for key, late in lates.items():
        if before.get(key) != late:
            yield _compact([_LATE, *key]), str(late).encode()
    for key in before.keys() - lates.keys():
        yield _compact([_LATE, *key]), None
    yield _PROGRESS, state.progress()


def lates_in(records: Records) -> dict[WindowKey, int]:
    """Give ``late`` of the windows that the topic has it of; what is none of ours is told and left out."""
    lates, refused = {}, 0
    for key, value in records.items():
        if key == _PROGRESS or value is None:
            continue
        try:
            lates[_read_late_key(key)] = _read_late(value)
        except NotOurs:
            refused += 1
    if refused:
        log.warning("rates_state_ignored", error_type="not_a_late", records=refused)
    return lates


def state_in(records: Records) -> LeaderState | None:
    """Give the state that was left, None where there is none; raises NotOurs for something else."""
    if (progress := records.get(_PROGRESS)) is None:
        return None
    if len(progress) > _MOST_PROGRESS_BYTES:
        raise NotOurs("too long")
    try:
        state = _STATES.validate_json(progress, strict=True)
    except ValidationError:
        raise NotOurs("no progress of this release") from None
    boundaries = state.boundaries
    if max(boundaries.final_to, boundaries.kept_from) > boundaries.watermark:
        raise NotOurs("windows that ended before the watermark came there")
    if any(hop > size for size, hop, _ in boundaries.floors):
        raise NotOurs("windows with gaps")
    if any(at.since > at.position for each in state.partitions.values() for at in each):
        raise NotOurs("verdicts to be read again that were not read")
    return state


def _read_late_key(key: bytes) -> WindowKey:
    if len(key) > _MOST_KEY_BYTES:
        raise NotOurs("too long")
    try:
        _, size, start, message_type, language = _LATE_KEYS.validate_json(key, strict=True)
    except ValidationError:
        raise NotOurs("no key of a window") from None
    if start + size > _LATEST_MS:
        raise NotOurs("a window that never ends")
    if language and stated_language(language) != language:
        raise NotOurs("no language")
    return WindowKey(size, start, message_type.value, language)


def _read_late(value: bytes) -> int:
    if len(value) > len(str(_MOST_LATE)) or not value.isdigit() or (late := int(value)) > _MOST_LATE:
        raise NotOurs("no count")
    return late


def _compact(values: object) -> bytes:
    return json.dumps(values, separators=(",", ":")).encode()
