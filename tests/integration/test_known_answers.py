"""Known answers with a real worker and desk: from a reviewer's keystroke to the next answer that is sent."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from schemas import ChatbotAnswer, Codec, KnownAnswer, Verdict
from scoring.policy import Policy
from streams.kafka.topics import Topics
from streams.known_answers.known_state import CODEC
from streams.settings import Settings
from tests.support.desk import DeskProcess, Reviewer
from tests.support.documents import document_record
from tests.support.ledger import outgoing, read_until_settled
from tests.support.records import Outgoing, consume_all, eventually, produce
from tests.support.reviews import a_review
from tests.support.workers import Worker, changed

ANSWER = ChatbotAnswer(
    "a-0",
    "c-0",
    "How do I delete a draft invoice?",
    "You delete it with a click on the bin beside it, at any time.",
    datetime(2026, 3, 2, 9, 15, tzinfo=UTC),
    document_ids=("drafts",),
    language="en",
    metadata={"tenant": "north"},
)
HELD = "Open the list of drafts and click the bin beside a draft invoice."
#: From the keystroke to the worker that sends by it, on a machine that tests keep busy.
WITHIN_SECONDS = 30.0


@dataclass
class Deployment:
    """A worker and a desk, and a chatbot that repeats itself."""

    settings: Settings
    worker: Worker
    desk: DeskProcess
    numbers: count = field(default_factory=lambda: count(1))  # type: ignore[type-arg]

    async def answer(self, **fields: object) -> Verdict:
        """Have the same answer judged in a conversation of its own, but for these fields."""
        ids = {"answer_id": f"a-{(number := next(self.numbers))}", "conversation_id": f"c-{number}"}
        answer = replace(ANSWER, **{**ids, "produced_at": datetime.now(UTC), **fields})
        topic = Topics(self.settings.kafka.topic_prefix).answers
        await produce(self.settings.kafka, topic, [outgoing(answer, Codec())])
        ledger = await read_until_settled(self.settings, [answer])
        return next(each for each in ledger.verdicts if each.answer_id == answer.answer_id)

    async def known(self, state: str, number: int = 1) -> None:
        """Wait until the worker knows so many answers of a state."""
        wanted = f'truthgate_known_answers{{state="{state}"}} {number}.0'

        async def is_known() -> bool:
            return wanted in await asyncio.to_thread(self.worker.metrics)

        await eventually(is_known, wanted)

    async def records(self) -> list[KnownAnswer]:
        topic = Topics(self.settings.kafka.topic_prefix).known_answers
        return [
            CODEC.decode(each.value, KnownAnswer) for each in await consume_all(self.settings.kafka, topic)
        ]


@pytest.fixture
async def deployment(topics: Topics, settings: Settings, tmp_path: Path) -> AsyncIterator[Deployment]:
    quick = {"scoring": {"processes": 1}, "flow": {"session_timeout_seconds": 6}}
    own = changed(settings, desk={"tenant_key": "tenant"}, **quick)
    own = own.model_copy(update={"policy": Policy(known_answers=True)})
    await produce(own.kafka, topics.documents, [document_record("drafts", "Draft invoices", HELD)])
    with Worker(own, tmp_path) as worker, DeskProcess(own, tmp_path) as desk:
        await asyncio.to_thread(worker.wait_ready)
        await asyncio.to_thread(desk.wait_ready)
        yield Deployment(own, worker, desk)


async def on_screen(reviewer: Reviewer, verdict: Verdict) -> None:
    await eventually(lambda: bool(reviewer.look()) and reviewer.shown == verdict.verdict_id, "on the screen")


@pytest.mark.timeout(300)
async def test_what_a_reviewer_sends_is_sent_by_itself_until_something_differs_or_a_lead_ends_it(
    deployment: Deployment, topics: Topics
) -> None:
    held = await deployment.answer()
    assert (held.decision, bool(held.known_answer_key)) == ("review", True)
    with Reviewer(deployment.desk.address) as kim:
        await on_screen(kim, held)
        assert "counts for this answer" in kim.page
        began = time.monotonic()
        kim.decide("send")
        await deployment.known("true")
        assert time.monotonic() - began < WITHIN_SECONDS
        sent = await deployment.answer()
        assert (sent.decision, sent.reasons) == ("auto_send", ("known_true", *held.reasons))

        for other in (
            {"metadata": {"tenant": "south"}},
            {"answer": f"{ANSWER.answer}\u200b"},
            {"question": f"\u202e{ANSWER.question}"},
            {"question": "And how do I delete a draft invoice?"},
        ):
            assert (await deployment.answer(**other)).decision != "auto_send", other

        changed_document = document_record("drafts", "Draft invoices", f"{HELD} Managers only.")
        await produce(deployment.settings.kafka, topics.documents, [changed_document])

        async def is_another() -> bool:
            return (await deployment.answer()).decision == "review"

        await eventually(is_another, "the changed document counts")
        await produce(
            deployment.settings.kafka, topics.documents, [document_record("drafts", "Draft invoices", HELD)]
        )

        async def is_sent_again() -> bool:
            return (await deployment.answer()).decision == "auto_send"

        await eventually(is_sent_again, "the first version is current again")

        assert held.known_answer_key is not None
        assert held.known_answer_key in kim.look(f"/known-answers?id={held.verdict_id}")
        began = time.monotonic()
        assert "It is ended" in kim.post("/known-answers/end", key=held.known_answer_key)
        await deployment.known("true", 0)
        assert time.monotonic() - began < WITHIN_SECONDS
        assert (await deployment.answer()).decision == "review"
        assert "It is not ended" in kim.post("/known-answers/end", key="no-such-key")
    assert [each.state for each in await deployment.records()] == ["true", "ended"]
    assert ANSWER.question not in deployment.desk.log


@pytest.mark.timeout(300)
async def test_what_a_killed_desk_did_not_publish_is_published_after_its_next_start(
    deployment: Deployment, tmp_path: Path, topics: Topics
) -> None:
    held = await deployment.answer()
    with Reviewer(deployment.desk.address) as kim:
        await on_screen(kim, held)
        kim.decide("reject")
    await eventually(lambda: '"review_published"' in deployment.desk.log, "the review is published")
    deployment.desk.kill()
    (tmp_path / "desk" / "state.sqlite3").unlink()
    deployment.desk.start()
    await asyncio.to_thread(deployment.desk.wait_ready)
    await deployment.known("untrue")
    blocked = await deployment.answer()
    assert (blocked.decision, blocked.reasons[0]) == ("blocked", "known_untrue")

    deployment.desk.kill()  # meanwhile another tool disagrees
    review = a_review(review_id="r-9", verdict_id=held.verdict_id, label="TRUE", reviewer="alex")
    record = Outgoing(Codec().encode(review), held.conversation_id.encode())
    await produce(deployment.settings.kafka, topics.reviews, [record])
    deployment.desk.start()
    await asyncio.to_thread(deployment.desk.wait_ready)
    await deployment.known("untrue", 0)
    assert (await deployment.answer()).decision == "review"
    states = [each.state for each in await deployment.records()]
    assert (states[-1], set(states)) == ("ended", {"untrue", "ended"})


@pytest.mark.timeout(300)
async def test_a_forged_record_sends_nothing_and_a_worker_that_is_started_later_knows_the_same(
    deployment: Deployment, tmp_path: Path, topics: Topics
) -> None:
    held = await deployment.answer()
    assert held.known_answer_key is not None
    key = held.known_answer_key.encode()
    forged = (b"nonsense", b"\xc3\x01" + b"x" * 40, b"")
    await produce(deployment.settings.kafka, topics.known_answers, [Outgoing(each, key) for each in forged])
    await deployment.known("unreadable", 3)
    assert deployment.worker.log.count('"known_answer_unreadable"') == 3
    assert (await deployment.answer()).decision == "review"
    deployment.worker.kill()
    with Worker(deployment.settings, tmp_path, "second") as second:
        await asyncio.to_thread(second.wait_ready)
        assert (await deployment.answer()).decision == "review"
        assert second.log.count('"known_answer_unreadable"') == 3
