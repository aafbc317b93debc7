"""Publishes known answers: what follows from reviews, and what a lead ends."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Final

import structlog

from schemas import KnownAnswer
from streams.delivery.publisher import Publisher
from streams.desk.desk import Desk
from streams.desk.desk_state import DeskState
from streams.kafka.kafka_records import published_headers
from streams.known_answers.known_state import CODEC, KnownAnswerState
from streams.observability.failures import BadAnswer, InfrastructureFailure

log = structlog.get_logger(__name__)

_POLL_SECONDS: Final = 0.25
_RETRY_SECONDS: Final = 1.0
_MOST: Final = 200
#: What was sent is read back sooner; else it is sent again, or another desk wrote over it meanwhile.
_READ_BACK_SECONDS: Final = 10.0
#: A lead waits so long at most for Kafka.
_END_SECONDS: Final = 10.0


class KnownAnswerPublishing:
    """Makes the topic `known-answers` say what the state of the desk says; nothing else writes it.

    A key that is ended on the topic is so for good, so that of two desks that are active at the same time the
    one that has not read the end yet does not undo it: who reads `true` behind it publishes the end again.

    What a crash prevents is published after the next start, since the state then has what the topic lacks.

    Args:
        desk: tells when the topics are read.
        state: has what is to be published.
        topic: the full name.

    Attributes:
        publisher: sends it; None until there is a connection.
    """

    def __init__(self, desk: Desk, state: DeskState, topic: str) -> None:
        self._desk = desk
        self._state = state
        self.publisher: Publisher | None = None
        self._topic = topic
        self._sent: dict[str, tuple[str, float]] = {}
        self._failed = False
        # Two records of one key must not overtake each other.
        self._lock = asyncio.Lock()

    async def run(self, publisher: Publisher) -> None:
        """Publish until cancelled."""
        self.publisher = publisher
        while True:
            taken = await self.publish_due()
            await asyncio.sleep(_POLL_SECONDS if taken else _RETRY_SECONDS)

    async def publish_due(self) -> bool:
        """Publish what the topic lacks; False if Kafka did not take it."""
        if not self._desk.is_ready:
            return True
        async with self._lock:
            due = await asyncio.to_thread(self._state.due_answers, _MOST)
            # What was sent stays due until it is read back.
            self._sent = {each.key: sent for each in due if (sent := self._sent.get(each.key))}
            for known in due:
                state, sent_at = self._sent.get(known.key, ("", 0.0))
                if state == known.state and time.monotonic() < sent_at + _READ_BACK_SECONDS:
                    continue
                try:
                    await self._publish(known)
                except (InfrastructureFailure, BadAnswer) as failure:
                    if not self._failed:
                        log.warning("known_answers_not_published", reason=str(failure))
                    self._failed = True
                    return False
                self._failed = False
                self._sent[known.key] = known.state, time.monotonic()
                log.info(
                    "known_answer_published",
                    key=known.key,
                    state=known.state,
                    verdict_id=known.verdict_id,
                    reviewers=known.reviewers,
                )
        return True

    async def end(self, key: str, lead: str) -> bool:
        """End what is known of a key, for good; False if there is no such key, or Kafka did not take it."""
        if not await asyncio.to_thread(self._state.listed_answers, key, 1):
            return False
        known = KnownAnswer(key, KnownAnswerState.ENDED, None, (), (lead,), datetime.now(UTC))
        try:
            async with asyncio.timeout(_END_SECONDS), self._lock:
                await self._publish(known)
        except (InfrastructureFailure, BadAnswer, TimeoutError) as failure:
            log.warning("known_answer_not_ended", key=key, lead=lead, error_type=type(failure).__name__)
            return False
        log.info("known_answer_ended", key=key, lead=lead)
        return True

    async def _publish(self, known: KnownAnswer) -> None:
        headers = published_headers(
            f"{known.key}/{known.state}", known, subject=known.key, time=known.at, source="desk"
        )
        if self.publisher is None:
            raise InfrastructureFailure("Kafka cannot be reached yet")
        await self.publisher.publish(self._topic, known.key.encode(), CODEC.encode(known), headers)
