"""What a worker has parsed of the documents, it need not parse after a restart."""

from datetime import UTC, datetime
from pathlib import Path

from schemas import Codec
from schemas.records import ChatbotAnswer, KnowledgeDocument
from streams.kafka.topics import Topics
from streams.scorers.options import PARSE_CACHE_FILE_NAME
from streams.settings import Settings
from tests.support.ledger import outgoing, read_until_settled
from tests.support.records import Outgoing, produce
from tests.support.workers import Worker, changed

CODEC = Codec()
WHEN = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
TEXT = "1. Open het tabblad **Machines**.\n2. Klik op **Nieuw**."


def answers(run: str) -> list[ChatbotAnswer]:
    question, text = "Hoe voeg ik een machine toe?", "Open het tabblad **Machines** en klik op **Nieuw**."
    return [
        ChatbotAnswer(f"{run}-{n}", f"{run}-{n}", question, text, WHEN, document_ids=("m",), language="nl")
        for n in range(6)
    ]


async def prepared(settings: Settings, topics: Topics, folder: Path, run: str) -> dict[str, int]:
    """Return where the documents of some answers were found parsed by a worker that has just started."""
    asked = answers(run)
    with Worker(settings, folder) as worker:
        worker.wait_ready()
        await produce(settings.kafka, topics.answers, [outgoing(answer, CODEC) for answer in asked])
        await read_until_settled(settings, asked)
        page = worker.metrics()
        assert worker.terminate() == 0
    lines = [line for line in page.splitlines() if line.startswith("truthgate_prepared_documents_total")]
    return {line.split('"')[1]: int(float(line.split()[-1])) for line in lines}


async def test_a_document_is_parsed_once_and_not_again_after_a_restart(settings, topics, tmp_path):
    one_process = changed(settings, scoring={"processes": 1})
    document = KnowledgeDocument("m", "nl", "Machines", TEXT, datetime(2026, 1, 1, tzinfo=UTC))
    await produce(settings.kafka, topics.documents, [Outgoing(CODEC.encode(document), b"m")])
    assert await prepared(one_process, topics, tmp_path, "a") == {"memory": 5, "disk": 0, "miss": 1}
    file = tmp_path / "worker" / PARSE_CACHE_FILE_NAME
    assert file.stat().st_mode & 0o777 == 0o600
    assert await prepared(one_process, topics, tmp_path, "b") == {"memory": 5, "disk": 1, "miss": 0}

    file.write_bytes(b"not a database")
    assert await prepared(one_process, topics, tmp_path, "c") == {"memory": 5, "disk": 0, "miss": 1}
