"""What is known of answers, from the records of the topic `known-answers`."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Final

import structlog
from aiokafka import ConsumerRecord

from schemas import ChatbotAnswer, Codec, DecodeError, KnownAnswer
from scoring.values.exchange import Passage
from scoring.values.rules import Reason
from streams.kafka.topic_reader import Freshness
from streams.known_answers.answer_key import answer_key

log = structlog.get_logger(__name__)

#: Without a schema registry, whatever the settings say: a lead's "end" must not depend on one.
CODEC: Final = Codec()
#: A worker uses what it has read for this long without word from the brokers: the longest that it can miss
#: that a lead ended an answer. Brokers respond twice a second.
STALE_SECONDS: Final = 10.0


class KnownAnswerState(StrEnum):
    """What is known of an answer."""

    TRUE = "true"
    UNTRUE = "untrue"
    #: A person decides each time: people disagreed, or a lead ended it. It is final, whatever the topic has
    #: behind it: a second desk may not have read it yet.
    ENDED = "ended"


#: Nothing is known of an answer in any other state.
_REASONS: Final[Mapping[str, Reason]] = {
    KnownAnswerState.TRUE: Reason.KNOWN_TRUE,
    KnownAnswerState.UNTRUE: Reason.KNOWN_UNTRUE,
}


def read_known_answer(record: ConsumerRecord) -> KnownAnswer:
    """Read a record that is no tombstone; raises DecodeError."""
    known = CODEC.decode(record.value, KnownAnswer)
    if known.key.encode() != record.key:
        raise DecodeError("key_mismatch", "the record has the key of another answer")
    return known


class KnownAnswers:
    """What persons decided about each key, for the decisions of a worker.

    Args:
        tenant_key: the key of an answer's metadata that names its tenant.
        clock: seconds since 1970.

    Attributes:
        freshness: when the topic was last read to its end.
        unreadable: the number of records that could not be read since the start.
    """

    def __init__(self, tenant_key: str | None = None, clock: Callable[[], float] = time.time) -> None:
        self.unreadable = 0
        self._tenant_key = tenant_key
        self.freshness = Freshness(STALE_SECONDS, clock)
        self._reasons: dict[bytes, Reason] = {}
        self._ended: set[bytes] = set()
        self._counts = Counter[Reason]()

    def apply(self, records: Iterable[ConsumerRecord]) -> None:
        """Apply records in their order; what is ended stays so until a tombstone.

        A record that cannot be read ends what was known of its key: it may have said so, and compaction
        leaves nothing else of that key.
        """
        for record in records:
            key = record.key or b""
            if (before := self._reasons.pop(key, None)) is not None:
                self._counts[before] -= 1
            if record.value is None:
                self._ended.discard(key)
                continue
            state = self._state(record)
            if state == KnownAnswerState.ENDED:
                self._ended.add(key)
            reason = _REASONS.get(state or "")
            if reason is not None and key not in self._ended:
                self._reasons[key] = reason
                self._counts[reason] += 1

    def _state(self, record: ConsumerRecord) -> str | None:
        try:
            return read_known_answer(record).state
        except DecodeError as error:
            self.unreadable += 1
            at, offset = record.partition, record.offset
            log.warning("known_answer_unreadable", error_type=error.code, partition=at, offset=offset)
            return None

    def forget(self) -> None:
        """Forget everything: the topic is read anew."""
        self._reasons.clear()
        self._ended.clear()
        self._counts.clear()
        self.freshness.forget()

    def key(self, answer: ChatbotAnswer, passages: Iterable[Passage]) -> str:
        """Return the key of an answer (:func:`answer_key`)."""
        return answer_key(answer, passages, self._tenant_key)

    def reason(self, key: str | None) -> Reason | None:
        """Return ``known_true``, ``known_untrue``, or None if nothing is known of this key now."""
        return self._reasons.get(key.encode()) if key and self.freshness.is_current else None

    def impairment(self) -> str | None:
        """Return the impairment that readiness reports, or None."""
        is_current = self.freshness.is_current
        return None if is_current else "known answers cannot be read: a person decides about them again"

    def counts(self) -> Counter[str]:
        """Count the answers by their state."""
        return Counter({state: self._counts[reason] for state, reason in _REASONS.items()})
