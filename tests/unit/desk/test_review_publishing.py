"""Decisions are published side by side: what Kafka does not take of one holds up no other."""

import asyncio
from contextlib import suppress
from pathlib import Path

from schemas import Codec, Review
from streams.delivery.publisher import RecordLocation
from streams.desk.decisions import DecisionStatus
from streams.desk.review_publishing import ReviewPublishing
from streams.desk.reviewer_choice import Choice
from streams.kafka.kafka_records import Headers
from streams.observability.failures import BadAnswer, InfrastructureFailure, Stage
from streams.settings import DeskRole
from tests.support.desk import held
from tests.support.records import eventually
from tests.support.served_desk import serving_desk
from tests.unit.desk.test_desk import ALEX, KIM, SEND, Desks, current


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


class RefusingBrokers:
    """Refuse every review with a comment, as too large."""

    async def publish(self, topic: str, key: bytes, value: bytes, headers: Headers) -> RecordLocation:
        if Codec().decode(value, Review).comment:
            raise BadAnswer(Stage.PUBLISH, "MessageSizeTooLargeError", "too large")
        return RecordLocation(0, 0)


async def test_a_reviewer_is_told_that_kafka_refuses_a_decision_and_may_decide_anew(tmp_path: Path) -> None:
    desks, counted = Desks(tmp_path), list[Review]()
    desks.hold(1)
    publishing = ReviewPublishing(desks.desk, Codec(), RefusingBrokers(), "reviews", counted.append)  # type: ignore[arg-type]
    assert desks.desk.decide("v-1", KIM, Choice("send", comment="x" * 1_000)) is None
    changed = desks.desk.changes.next
    await publishing.publish_all()
    assert changed.is_set()
    (told,) = desks.desk.decisions_of(KIM)
    assert (told.status, told.verdict_id) == (DecisionStatus.REFUSED, "v-1")
    counts = desks.desk.counts()
    assert (counts.waiting, counts.unpublished) == (1, 0)
    desks.desk.settle()
    desks.restart()
    assert len(desks.desk.decisions_of(KIM)) == 1
    assert current(desks, ALEX) == "v-1"
    desks.desk.leave(ALEX)
    publishing = ReviewPublishing(desks.desk, Codec(), RefusingBrokers(), "reviews", counted.append)  # type: ignore[arg-type]
    assert desks.desk.decide("v-1", KIM, SEND) is None
    assert [each.status for each in desks.desk.decisions_of(KIM)] == [DecisionStatus.UNDOABLE]
    await publishing.publish_all()
    assert [each.outcome for each in counted] == ["send"]
    desks.close()


async def test_the_page_leads_to_the_answer_of_a_refused_decision(tmp_path: Path) -> None:
    async with serving_desk(tmp_path, held(1)) as served, served.client(DeskRole.LEAD) as kim:
        await kim.get("/")
        session = served.sessions.read(kim.cookies["truthgate_desk"])
        assert session
        assert served.desk.decide("v-1", session, SEND) is None
        (due,) = served.desk.take_due(at_once=True)
        served.desk.withdraw(due.review_id)
        page = (await kim.get("/blocked")).text
        assert '<a href="/?answer=v-1"><code>v-1</code></a>' in page
        assert "Kafka refused it" in page
        assert "Answer 1." in (await kim.get("/?answer=v-1")).text


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
