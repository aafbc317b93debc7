"""A worker that starts again on its folders: what it did to its documents, it does not do again."""

from datetime import UTC, datetime

from schemas import Codec
from schemas.records import ChatbotAnswer
from streams.kafka.topics import Topics
from streams.settings import Settings
from tests.support.documents import numbered_documents
from tests.support.ledger import outgoing, read_until_settled
from tests.support.records import produce
from tests.support.retrieval import INDEXED, metric, until_indexed, with_retrieval
from tests.support.workers import Worker, changed

_DOCUMENTS = 300
_NAMED = 60
_WHEN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)


def _answers(run: str) -> list[ChatbotAnswer]:
    return [
        ChatbotAnswer(
            f"{run}-{number}",
            f"{run}-{number}",
            "Hoe voeg ik een machine toe?",
            f"Kies **Machine {number}** en klik op **Nieuw**.",
            _WHEN,
            document_ids=(f"machine-{number}",),
            language="nl",
        )
        for number in range(_NAMED)
    ]


async def _judged(settings: Settings, topics: Topics, run: str) -> None:
    answers = _answers(run)
    await produce(settings.kafka, topics.answers, [outgoing(answer, Codec()) for answer in answers])
    ledger = await read_until_settled(settings, answers)
    assert {verdict.context_source for verdict in ledger.verdicts} == {"by_id"}


def _parsed(worker: Worker) -> dict[str, int]:
    """Give where the documents of the answers were found parsed."""
    lines = worker.metrics().splitlines()
    counts = [line for line in lines if line.startswith("truthgate_prepared_documents_total{")]
    return {line.split('"')[1]: int(float(line.split()[-1])) for line in counts}


async def test_after_a_restart_no_document_is_embedded_or_parsed_again(settings, topics, tmp_path):
    searching = with_retrieval(changed(settings, scoring={"processes": 1}))
    await produce(settings.kafka, topics.documents, numbered_documents(_DOCUMENTS))
    with Worker(searching, tmp_path) as worker:
        worker.wait_ready()
        await until_indexed(worker, _DOCUMENTS)
        assert metric(worker, INDEXED) == _DOCUMENTS
        await _judged(searching, topics, "first")
        assert _parsed(worker) == {"memory": 0, "disk": 0, "miss": _NAMED}
        assert worker.terminate() == 0
        worker.start()
        worker.wait_ready()
        await until_indexed(worker, _DOCUMENTS)
        await _judged(searching, topics, "second")
        assert metric(worker, INDEXED) == 0
        assert _parsed(worker) == {"memory": 0, "disk": _NAMED, "miss": 0}
        assert metric(worker, "truthgate_contexts_total") == _NAMED
        assert worker.terminate() == 0
