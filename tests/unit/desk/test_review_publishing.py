"""Decisions are published side by side: what Kafka does not take of one holds up no other."""

import asyncio
from contextlib import suppress
from pathlib import Path

from schemas import Codec, Review
from streams.delivery.publisher import RecordLocation
from streams.desk.review_publishing import ReviewPublishing
from streams.kafka.kafka_records import Headers
from streams.observability.failures import InfrastructureFailure
from tests.support.records import eventually
from tests.unit.desk.test_desk import ALEX, KIM, SEND, Desks


class StuckPartition:
    """Takes what is published, but for the first verdict: that waits until it is let go, and fails once."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.tries = 0
        self.free = asyncio.Event()

    async def publish(self, topic: str, key: bytes, value: bytes, headers: Headers) -> RecordLocation:
        verdict_id = Codec().decode(value, Review).verdict_id
        if verdict_id == "v-1":
            self.tries += 1
            await self.free.wait()
            if self.tries == 1:
                raise InfrastructureFailure("no leader")
        self.taken.append(verdict_id)
        return RecordLocation(0, len(self.taken))


async def test_a_decision_that_kafka_does_not_take_holds_up_no_other(tmp_path: Path) -> None:
    desks, publisher, counted = Desks(tmp_path), StuckPartition(), list[Review]()
    desks.hold(1, 2, 3)
    publishing = ReviewPublishing(desks.desk, Codec(), publisher, "reviews", counted.append)  # type: ignore[arg-type]
    assert desks.desk.decide("v-1", KIM, SEND) is None
    assert desks.desk.decide("v-2", ALEX, SEND) is None
    desks.clock.now += 6
    running = asyncio.create_task(publishing.run())
    await eventually(lambda: publisher.taken == ["v-2"], "the other one is published")
    assert desks.desk.decide("v-3", KIM, SEND) is None
    desks.clock.now += 6
    await eventually(lambda: publisher.taken == ["v-2", "v-3"], "and one that comes later")
    assert publisher.tries == 1
    publisher.free.set()
    await eventually(lambda: len(counted) == 3, "what failed is tried again")
    assert (sorted(publisher.taken), publisher.tries) == (["v-1", "v-2", "v-3"], 2)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    desks.close()
