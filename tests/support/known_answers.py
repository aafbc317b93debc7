"""Known answers and their records, for tests."""

from typing import Any

from aiokafka import ConsumerRecord

from schemas import KnownAnswer
from streams.known_answers.known_state import CODEC, KnownAnswers
from tests.support.clock import Clock
from tests.support.pauses import WHEN, raw_record


def a_known_answer(key: str = "k-1", state: str = "true", **fields: Any) -> KnownAnswer:
    """Give a known answer."""
    own = {"verdict_id": "v-1", "review_ids": ("r-1",), "reviewers": ("kim",), "at": WHEN, **fields}
    return KnownAnswer(key=key, state=state, **own)


def known_record(known: KnownAnswer, offset: int = 0) -> ConsumerRecord:
    """Give the Kafka record of a known answer."""
    return raw_record(known.key.encode(), CODEC.encode(known), offset)


def nothing_known(clock: Clock, tenant_key: str | None = None) -> KnownAnswers:
    """Give the state of a topic that was empty when it was read, just now."""
    known = KnownAnswers(tenant_key, clock)
    known.freshness.confirm(clock.now)
    return known
