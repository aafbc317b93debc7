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
    """Publishes what is due. A verdict has one decision at a time, so that their order says nothing.

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
        self._in_work: set[str] = set()

    async def run(self) -> None:
        """Publish until cancelled; what one partition does not take holds up no other decision."""
        async with asyncio.TaskGroup() as works:
            while True:
                busy = set(self._in_work)  # one that ends now may be among those that are due
                for review in await asyncio.to_thread(self._desk.take_due):
                    if review.review_id not in busy:
                        self._in_work.add(review.review_id)
                        works.create_task(self._deliver(review))
                await asyncio.sleep(_POLL_SECONDS)

    async def publish_all(self) -> None:
        """Publish what is due and what could still be undone, each once."""
        due = await asyncio.to_thread(self._desk.take_due, at_once=True)
        await asyncio.gather(*map(self._publish, due))

    async def _deliver(self, review: Review) -> None:
        """Try once; what is not taken comes again after a while."""
        try:
            if not await self._publish(review):
                await asyncio.sleep(_RETRY_SECONDS)
        finally:
            self._in_work.discard(review.review_id)

    async def _publish(self, review: Review) -> bool:
        """Publish one review; False if Kafka did not take it."""
        key, value = review.conversation_id.encode(), self._codec.encode(review)
        headers = published_headers(
            review.review_id, review, subject=review.verdict_id, time=review.reviewed_at, source="desk"
        )
        try:
            place = await self._publisher.publish(self._topic, key, value, headers)
        except BadAnswer as error:
            await asyncio.to_thread(self._desk.withdraw, review.review_id)
            log.warning("review_refused", review_id=review.review_id, error_type=error.error_class)
            self._desk.changes.notify()
            return False
        except InfrastructureFailure as failure:
            if not self._failed:
                log.warning("reviews_not_published", reason=str(failure))
            self._failed = True
            return False
        self._failed = False
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
        self._desk.changes.notify()
        return True
