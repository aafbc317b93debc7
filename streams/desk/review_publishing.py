"""Publishes stored decisions as reviews; each is repeated until the brokers have it."""

import asyncio
from collections.abc import Callable
from typing import Final

import structlog

from schemas import Codec, Review
from streams.delivery.publisher import Publisher
from streams.desk.desk import Desk
from streams.kafka.kafka_records import published_headers
from streams.observability.failures import BadAnswer, InfrastructureFailure

log = structlog.get_logger(__name__)

_POLL_SECONDS: Final = 0.1
_RETRY_SECONDS: Final = 1.0


class ReviewPublishing:
    """Publishes what is due, in order.

    Args:
        desk: has the decisions.
        codec: writes reviews.
        publisher: sends them.
        topic: of the reviews.
        count: called with each review that Kafka has.
    """

    def __init__(
        self, desk: Desk, codec: Codec, publisher: Publisher, topic: str, count: Callable[[Review], object]
    ) -> None:
        self._desk = desk
        self._codec = codec
        self._publisher = publisher
        self._topic = topic
        self._count = count
        self._failed = False

    async def run(self) -> None:
        """Publish until cancelled."""
        while True:
            taken = await self.publish_due()
            await asyncio.sleep(_POLL_SECONDS if taken else _RETRY_SECONDS)

    async def publish_due(self, *, at_once: bool = False) -> bool:
        """Publish what is due, or ``at_once`` all; False if Kafka did not take all of it."""
        accepted = True
        for review in await asyncio.to_thread(self._desk.take_due, at_once=at_once):
            try:
                accepted &= await self._publish(review)
            except InfrastructureFailure as failure:
                if not self._failed:
                    log.warning("reviews_not_published", reason=str(failure))
                self._failed = True
                return False
            self._failed = False
            self._desk.changes.notify()
        return accepted

    async def _publish(self, review: Review) -> bool:
        key, value = review.conversation_id.encode(), self._codec.encode(review)
        headers = published_headers(
            review.review_id, review, subject=review.verdict_id, time=review.reviewed_at, source="desk"
        )
        try:
            place = await self._publisher.publish(self._topic, key, value, headers)
        except BadAnswer as error:
            await asyncio.to_thread(self._desk.withdraw, review.review_id)
            log.warning("review_refused", review_id=review.review_id, error_type=error.error_class)
            return False
        await asyncio.to_thread(self._desk.acknowledge, review.review_id)
        self._count(review)
        log.info(
            "review_published",
            review_id=review.review_id,
            verdict_id=review.verdict_id,
            outcome=review.outcome,
            partition=place.partition,
            offset=place.offset,
        )
        return True
