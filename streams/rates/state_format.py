"""What may stand in the state topic, read strictly: anybody who may write there can write anything."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from schemas.records import LATEST, RateAlert
from scoring.language import stated_language
from scoring.values.types import MessageType
from streams.rates.cells import WindowKey
from streams.rates.outcome import milliseconds

VERSION: Final = 1
LATE: Final = "late"

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


class NotOurs(ValueError):
    """A record that no leader of this release can have written; it quotes nothing of it."""


class _Boundaries(BaseModel):
    """The :class:`~streams.rates.boundaries.Boundaries` as they are written."""

    model_config = ConfigDict(strict=True)

    watermark: _Millisecond
    final_to: _Millisecond
    kept_from: _Millisecond
    floors: list[tuple[_Duration, _Duration, _Millisecond]]


class WrittenProgress(BaseModel):
    """The record of the key ``progress``.

    ``partitions`` has of each topic (number, position, since, seen), ``origins`` (cluster id, topic, topic
    id); times are milliseconds since 1970.
    """

    model_config = ConfigDict(strict=True)

    version: Annotated[int, Field(ge=VERSION, le=VERSION)]
    origins: list[tuple[str, str, str]]
    partitions: dict[str, list[tuple[_Number, _Offset, _Offset, _Millisecond | None]]]
    boundaries: _Boundaries
    firing: list[RateAlert]


_LATE_KEYS: Final[TypeAdapter[_LateKey]] = TypeAdapter(_LateKey)


def read_progress(value: bytes) -> WrittenProgress:
    """Read the progress; raises NotOurs."""
    if len(value) > _MOST_PROGRESS_BYTES:
        raise NotOurs("too long")
    try:
        told = WrittenProgress.model_validate_json(value, strict=True)
    except ValidationError:
        raise NotOurs("no progress of this release") from None
    boundaries = told.boundaries
    if max(boundaries.final_to, boundaries.kept_from) > boundaries.watermark:
        raise NotOurs("windows that ended before the watermark came there")
    if any(hop > size for size, hop, _ in boundaries.floors):
        raise NotOurs("windows with gaps")
    if any(since > position for each in told.partitions.values() for _, position, since, _ in each):
        raise NotOurs("verdicts to be read again that were not read")
    return told


def read_late_key(key: bytes) -> WindowKey:
    """Read which window a record of its ``late`` is of; raises NotOurs."""
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


def read_late(value: bytes) -> int:
    """Read the ``late`` of a window; raises NotOurs."""
    if len(value) > len(str(_MOST_LATE)) or not value.isdigit() or (late := int(value)) > _MOST_LATE:
        raise NotOurs("no count")
    return late
