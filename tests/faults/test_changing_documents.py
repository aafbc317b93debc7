"""Documents that come late, twice, or go while answers wait: each answer on the version of its time."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from schemas import Codec
from schemas.records import ChatbotAnswer, Verdict
from streams.kafka.topics import Topics
from streams.settings import Settings
from tests.support.documents import document_record
from tests.support.ledger import outgoing, read_until_settled
from tests.support.records import Outgoing, eventually, produce
from tests.support.retrieval import INDEXED, metric, until_indexed, with_retrieval
from tests.support.workers import Worker, changed

pytestmark = pytest.mark.timeout(600)

_TEXT = (
    "Zo voeg je een nieuwe machine toe, als je daarvoor het recht hebt gekregen.\n\n"
    "1. Open het tabblad **Machines** en klik daar op **Nieuw**.\n2. Vul het **Serienummer** in."
)
_OLD = document_record("machine", "Een machine toevoegen", _TEXT)
_NEW = document_record("machine", "Een machine toevoegen", _TEXT.replace("**Nieuw**", "**Maken**"))
_LATE = document_record("late", "Een printer aansluiten", _TEXT.replace("machine", "printer"))


@pytest.fixture
def lagging(settings: Settings) -> Settings:
    """Give settings for one worker whose index takes in changes at its start alone."""
    quick = changed(
        settings,
        kafka={"group_instance_id": "only"},
        flow={"session_timeout_seconds": 6},
        scoring={"processes": 1},
        documents={"wait_timeout_seconds": 3},
    )
    return with_retrieval(quick, update_interval_seconds=3_600)


class _Chat:
    """Answers about the machine, and what became of them."""

    def __init__(self, settings: Settings, topics: Topics) -> None:
        self._settings = settings
        self._topics = topics
        self.answers: list[ChatbotAnswer] = []

    async def document(self, *records: Outgoing) -> None:
        """Publish documents, each later than everything before."""
        before = datetime.now(UTC)
        await eventually(lambda: (datetime.now(UTC) - before).microseconds > 5_000, "time goes on")
        await produce(self._settings.kafka, self._topics.documents, records)

    async def publish(self, *document_ids: str) -> ChatbotAnswer:
        """Publish an answer that was produced now and names these documents."""
        answer = ChatbotAnswer(
            f"chat-{len(self.answers)}",
            f"chat-{len(self.answers)}",
            "Hoe voeg ik een machine toe?",
            # The yes keeps it from being sent as a repetition: its decision does not depend on its documents.
            "Ja, dat kan. Open het tabblad **Machines** en klik op **Nieuw**.",
            datetime.now(UTC),
            document_ids=document_ids,
            language="nl",
        )
        return await self.again(answer)

    async def again(self, answer: ChatbotAnswer) -> ChatbotAnswer:
        """Publish an answer under an id of its own."""
        name = f"chat-{len(self.answers)}"
        self.answers.append(replace(answer, answer_id=name, conversation_id=name))
        await produce(self._settings.kafka, self._topics.answers, [outgoing(self.answers[-1], Codec())])
        return self.answers[-1]

    async def verdict(self, answer: ChatbotAnswer) -> Verdict:
        """Wait for the verdict on an answer."""
        ledger = await read_until_settled(self._settings, [answer])
        return next(verdict for verdict in ledger.verdicts if verdict.answer_id == answer.answer_id)


@pytest.fixture
def chat(lagging: Settings, topics: Topics) -> _Chat:
    """Give a chatbot that publishes documents too."""
    return _Chat(lagging, topics)


def _versions(verdict: Verdict) -> list[tuple[str | None, str | None]]:
    return [(passage.document_id, passage.version) for passage in verdict.context]


def _assert_reviewed(verdicts: Iterable[Verdict], *degraded: str) -> None:
    for verdict in verdicts:
        assert (verdict.decision, verdict.degraded) == ("review", degraded)


async def test_each_answer_is_judged_on_the_version_of_its_time_and_an_index_that_lags_is_not_trusted(
    lagging, chat, tmp_path, report
):
    await chat.document(_OLD, _OLD)  # twice
    with Worker(lagging, tmp_path) as worker:
        worker.wait_ready()
        await until_indexed(worker, 1)
        assert metric(worker, INDEXED) == 1
        early = await chat.publish("machine")
        old = await chat.verdict(early)
        assert (old.context_source, old.degraded) == ("by_id", ())
        found = await chat.verdict(await chat.publish())
        assert (found.context_source, found.degraded, _versions(found)) == ("retrieved", (), _versions(old))

        await chat.document(_NEW)
        new = await _with_another_version(chat, old)
        assert (new.context_source, new.degraded) == ("by_id", ())
        # The index has the old version, and what it misses may be what any answer needs.
        before = await chat.verdict(await chat.again(replace(early, document_ids=())))
        _assert_reviewed([before, await chat.verdict(await chat.publish())], "documents_stale")
        assert _versions(before) == _versions(old)

        _assert_reviewed([await chat.verdict(await chat.publish("late"))], "context_missing")
        worker.kill()
    waiting = [await chat.publish("machine"), await chat.publish("late"), await chat.publish()]
    await chat.document(Outgoing(None, b"machine"), _LATE)
    gone = [await chat.publish("machine")]
    with worker:
        worker.wait_ready()
        await until_indexed(worker, 1)
        assert metric(worker, INDEXED) == 1
        named, late, bare = [await chat.verdict(answer) for answer in waiting]
        assert (named.degraded, _versions(named)) == ((), _versions(new))
        assert [document_id for document_id, _ in _versions(late)] == ["late"]
        assert [document_id for document_id, _ in _versions(bare)] == ["late"]
        _assert_reviewed([await chat.verdict(answer) for answer in gone], "context_missing")
        ledger = await read_until_settled(lagging, chat.answers)
    ledger.assert_settled(chat.answers)
    report(ledger, chat.answers, kills=1, faults=5)


async def _with_another_version(chat: _Chat, old: Verdict) -> Verdict:
    """Ask until the new version is there; until then it is judged on the old one."""
    verdicts = [old]

    async def another() -> bool:
        verdicts.append(await chat.verdict(await chat.publish("machine")))
        return _versions(verdicts[-1]) != _versions(old)

    await eventually(another, "the new version counts")
    return verdicts[-1]
