"""A worker's log in normal operation: when it is ready and where, and nothing that looks like a failure."""

import json
from pathlib import Path

from streams.embedded import EmbeddedKafka
from streams.kafka.topics import Topics, create_topics
from tests.support.brokers import isolated_settings
from tests.support.documents import numbered_documents
from tests.support.records import eventually, produce
from tests.support.workers import Worker


def _lines(worker: Worker) -> list[dict[str, object]]:
    return [json.loads(line) for line in worker.log.splitlines() if line.startswith("{")]


def _ready(worker: Worker) -> list[dict[str, object]]:
    return [line for line in _lines(worker) if line["event"] == "worker_ready"]


def _alarms(worker: Worker) -> list[dict[str, object]]:
    return [line for line in _lines(worker) if line["level"] not in {"debug", "info"}]


async def test_workers_that_come_and_go_on_a_new_cluster_tell_of_no_error(
    tmp_path: Path,
) -> None:
    # Of its own: the first group of a cluster waits until the topic of offsets is made.
    with EmbeddedKafka() as kafka:
        settings = isolated_settings(kafka.bootstrap_servers, tmp_path, "")
        await create_topics(settings)
        await produce(settings.kafka, Topics().documents, numbered_documents(16))
        with Worker(settings, tmp_path, "first") as first:
            first.wait_ready()
            await eventually(lambda: bool(_ready(first)), "it says that it is ready")
            (ready,) = _ready(first)
            assert (ready["address"], ready["documents"], ready["partitions"]) == (first.address, 16, 3)
            with Worker(settings, tmp_path, "second") as second:
                second.wait_ready()
                assert second.terminate() == 0
            await eventually(lambda: first.get("/readyz")[0] == 200, "the other has taken over")
            assert first.terminate() == 0
    assert [len(_ready(worker)) for worker in (first, second)] == [1, 1]
    assert _alarms(first) == _alarms(second) == []
    told = {str(line["logger"]) for worker in (first, second) for line in _lines(worker)}
    assert {name.partition(".")[0] for name in told} == {"streams"}
    assert not [line for line in _lines(first) if str(line["event"]).startswith("[")]
