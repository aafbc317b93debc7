"""What of a verdict counts towards rates, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from schemas.outcome import VerdictOutcome
from schemas.records import Verdict
from scoring.language import stated_language
from scoring.values.types import MessageType
from streams.rates.tally import faithfulness_parts

_TYPES: Final = frozenset(kind.value for kind in MessageType)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
# A clock in the wrong time zone is ahead by less than this; one that is further ahead tells nothing.
_MOST_AHEAD_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """One verdict record; times are milliseconds since 1970.

    ``event_time`` places it in windows. ``produced_at`` is the chatbot's own time, which is later than
    ``event_time`` where the chatbot's clock is ahead: all repeats of a verdict share it, so it says how
    long the verdict's id is remembered. 0: as ``event_time``. ``message_type`` is one of the known ones and
    ``language`` of two letters, so that there is an end to what is counted apart. ``faithfulness`` is in
    whole parts (:func:`~streams.rates.tally.faithfulness_parts`), None where the verdict has none.
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


def outcome_of(verdict: Verdict | VerdictOutcome, timestamp: int) -> Outcome:
    """Give what counts of a verdict whose record on its topic has this ``timestamp`` (ms; negative: none).

    The event time is the chatbot's, but never after the record's: a clock that is ahead would move the
    watermark into the future. Whoever else writes verdicts may write anything: a message type that is not
    known counts as ``unspecified``, and what is no language or no faithfulness as none.
    """
    produced_at, scored_at = milliseconds(verdict.produced_at), milliseconds(verdict.scored_at)
    latest = timestamp if timestamp >= 0 else scored_at
    return Outcome(
        verdict_id=verdict.verdict_id,
        event_time=min(produced_at, latest),
        scored_at=scored_at,
        message_type=verdict.message_type
        if verdict.message_type in _TYPES
        else MessageType.UNSPECIFIED.value,
        language=stated_language(verdict.language),
        decision=verdict.decision,
        scored=verdict.score is not None,
        produced_at=min(produced_at, latest + _MOST_AHEAD_MS),
        faithfulness=faithfulness_parts(verdict.faithfulness),
    )


def milliseconds(instant: datetime) -> int:
    """Give an aware time as milliseconds since 1970, rounded down."""
    return (instant - _EPOCH) // _MILLISECOND


def instant(milliseconds: int) -> datetime:
    """Give milliseconds since 1970 as an aware time in UTC; ValueError or OverflowError beyond year 9999."""
    return _EPOCH + milliseconds * _MILLISECOND
