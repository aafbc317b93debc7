"""An index that is deleted, damaged or cannot be written: answers go on, and it comes back by itself."""

import resource
import shutil
from collections.abc import Iterable
from pathlib import Path

import psutil
import pytest

from schemas import Codec
from schemas.records import ChatbotAnswer, Verdict
from streams.kafka.topics import Topics
from streams.observability.failures import EXIT_SOFTWARE
from streams.settings import Settings
from tests.support.chatbot import Chatbot
from tests.support.documents import numbered_documents, sample_documents
from tests.support.ledger import Ledger, outgoing, read_until_settled, sample_answers
from tests.support.records import eventually, produce
from tests.support.retrieval import (
    INDEXED,
    assert_retrieved_or_reviewed,
    by_id,
    index_folder,
    metric,
    until_indexed,
    was_retrieved,
    with_retrieval,
    without_context,
)
from tests.support.workers import Supervised, Worker, changed

pytestmark = pytest.mark.timeout(900)

FAILURES = "truthgate_retrieval_index_failures_total"
_GARBAGE = b"no index"


@pytest.fixture
def searching(settings: Settings) -> Settings:
    """Give settings for one worker that searches, and whose successor takes over at once."""
    return with_retrieval(
        changed(
            settings,
            kafka={"group_instance_id": "only"},
            flow={"session_timeout_seconds": 6},
            scoring={"processes": 1},
        )
    )


def _three_ways(count: int, run: str) -> list[ChatbotAnswer]:
    """Give answers with passages, with ids and with neither, in turn."""
    inline = sample_answers(count // 3, run, conversation_length=1)
    named, bare = by_id(inline, "named"), without_context(inline, f"{run}-bare")
    return [answer for three in zip(inline, named, bare, strict=True) for answer in three]


def _of(ledger: Ledger, answers: Iterable[ChatbotAnswer]) -> list[Verdict]:
    ids = {answer.answer_id for answer in answers}
    return [verdict for verdict in ledger.verdicts if verdict.answer_id in ids]


def _assert_judged_as_they_can_be(ledger: Ledger, answers: list[ChatbotAnswer]) -> None:
    inline, named, bare = (answers[first::3] for first in range(3))
    assert {verdict.context_source for verdict in _of(ledger, inline)} == {"inline"}
    assert {verdict.context_source for verdict in _of(ledger, named)} == {"by_id"}
    for verdict in _of(ledger, [*inline, *named]):
        assert not verdict.degraded
    assert_retrieved_or_reviewed(_of(ledger, bare))


async def _asked(settings: Settings, run: str) -> Verdict:
    """Ask one question without context and return the verdict on its answer."""
    (bare,) = without_context(sample_answers(1, run), run)
    topic = Topics(settings.kafka.topic_prefix).answers
    await produce(settings.kafka, topic, [outgoing(bare, Codec())])
    (verdict,) = _of(await read_until_settled(settings, [bare]), [bare])
    assert_retrieved_or_reviewed([verdict])
    return verdict


async def _searched_again(settings: Settings, run: str) -> list[ChatbotAnswer]:
    """Ask until something is found; return what was asked, which all has its verdict."""
    asked: list[ChatbotAnswer] = []

    async def found() -> bool:
        name = f"{run}-{len(asked)}"
        asked.extend(without_context(sample_answers(1, name), name))
        return was_retrieved(await _asked(settings, name))

    await eventually(found, "the documents are searched again", 90)
    return asked


def _damage(folder: Path) -> None:
    for file in folder.rglob("*"):
        if file.is_file():
            file.write_bytes(_GARBAGE)


def _lay_garbage(index: Path) -> None:
    (index / "passages").mkdir(parents=True)
    (index / "passages" / "meta.json").write_bytes(_GARBAGE)


async def test_an_index_deleted_and_damaged_again_and_again_comes_back_and_holds_nothing_up(
    searching, topics, tmp_path, scale, report
):
    index, rounds = index_folder(tmp_path), max(1, scale.kills // 3)
    documents = [*sample_documents(), *numbered_documents(rounds)]
    answers, asked = _three_ways(scale.events // 4, "harm"), list[ChatbotAnswer]()
    first = len(documents) - rounds
    _lay_garbage(index)
    await produce(searching.kafka, topics.documents, documents[:first])
    with Worker(searching, tmp_path) as worker:
        worker.wait_ready()
        await until_indexed(worker, first)
        async with Chatbot(searching, answers, scale.events_per_second / 4) as chatbot:
            for number in range(rounds):
                await chatbot.sent_at_least((2 * number + 1) * len(answers) // (2 * rounds + 1))
                shutil.rmtree(index, ignore_errors=True)
                await eventually(lambda: metric(worker, "truthgate_retrieval_complete") == 0, "it is noticed")
                await until_indexed(worker, first + number)
                asked += await _searched_again(searching, f"deleted-{number}")
                worker.kill()  # a file that is cut off under a worker ends it too
                _damage(index)
                await produce(searching.kafka, topics.documents, [documents[first + number]])
                worker.start()
                await until_indexed(worker, first + number + 1)
                asked += await _searched_again(searching, f"damaged-{number}")
            await chatbot.finished()
            ledger = await read_until_settled(searching, [*answers, *asked])
        assert worker.running
    ledger.assert_settled([*answers, *asked])
    _assert_judged_as_they_can_be(ledger, answers)
    assert any(map(was_retrieved, _of(ledger, answers)))
    report(ledger, [*answers, *asked], kills=rounds, faults=1 + 2 * rounds)


def _limit_files(process: psutil.Process, size: int) -> None:
    """Let a process, and those that it starts from now on, write no file beyond this size."""
    _, hard = process.rlimit(resource.RLIMIT_FSIZE)
    process.rlimit(resource.RLIMIT_FSIZE, (size, hard))


async def test_an_index_that_cannot_be_written_holds_up_only_what_needs_it(
    searching, topics, tmp_path, report
):
    index, documents = index_folder(tmp_path), sample_documents()
    answers = _three_ways(30, "unwritable")
    await produce(searching.kafka, topics.documents, documents)
    with Worker(searching, tmp_path) as worker:
        worker.wait_ready()
        await until_indexed(worker, len(documents))
        shutil.rmtree(index)
        index.write_bytes(_GARBAGE)
        await eventually(lambda: metric(worker, FAILURES) > 0, "it fails", 60)
        await produce(searching.kafka, topics.answers, [outgoing(answer, Codec()) for answer in answers])
        ledger = await read_until_settled(searching, answers)
        ledger.assert_settled(answers)
        _assert_judged_as_they_can_be(ledger, answers)
        assert not any(map(was_retrieved, _of(ledger, answers)))
        index.unlink()
        await until_indexed(worker, len(documents))
        asked = await _searched_again(searching, "room")
        ledger = await read_until_settled(searching, [*answers, *asked])
    ledger.assert_settled([*answers, *asked])
    report(ledger, [*answers, *asked], faults=1)


async def test_a_disk_too_full_for_the_store_ends_the_worker_and_for_prepared_documents_does_not(
    searching, topics, tmp_path, report
):
    answers = by_id(sample_answers(20, "disk", conversation_length=1), "named")
    needed = {document_id for answer in answers for document_id in answer.document_ids}
    with Supervised(Worker(changed(searching, retrieval={"embedder": "none"}), tmp_path)) as supervised:
        worker = supervised.worker
        worker.wait_ready()
        process = psutil.Process(worker.pid)
        for child in process.children(recursive=True):
            _limit_files(child, 1_000)
        await produce(searching.kafka, topics.documents, sample_documents(*needed))
        half = len(answers) // 2
        await produce(
            searching.kafka, topics.answers, [outgoing(answer, Codec()) for answer in answers[:half]]
        )
        await read_until_settled(searching, answers[:half])
        failed = "truthgate_prepared_file_errors_total"
        await eventually(lambda: metric(worker, failed) > 0, "the file cannot be used")
        assert not supervised.exit_codes
        _limit_files(process, 1_000)
        await produce(searching.kafka, topics.documents, numbered_documents(1))
        await eventually(lambda: bool(supervised.exit_codes), "the worker that cannot store it ends", 60)
        await produce(
            searching.kafka, topics.answers, [outgoing(answer, Codec()) for answer in answers[half:]]
        )
        ledger = await read_until_settled(searching, answers)
        worker.wait_ready()
        stored = len(needed) + 1
        await eventually(lambda: metric(worker, "truthgate_documents") == stored, "all are stored")
    assert supervised.exit_codes == [EXIT_SOFTWARE]
    ledger.assert_settled(answers)
    assert {verdict.degraded for verdict in ledger.verdicts} == {()}
    report(ledger, answers, faults=2)


def _embedding_process(worker: Worker) -> psutil.Process:
    """Find the process that embeds: the only one of the worker that is spawned and goes behind the others."""
    (found,) = [
        child for child in psutil.Process(worker.pid).children() if "spawn_main" in " ".join(child.cmdline())
    ]
    return found


async def test_an_embedding_process_and_a_worker_killed_in_mid_build_go_on_from_where_they_were(
    searching, topics, tmp_path, scale, report
):
    count = 200 * max(1, scale.kills // 3)
    answers = _three_ways(30, "build")
    await produce(searching.kafka, topics.documents, [*sample_documents(), *numbered_documents(count)])
    count += len(sample_documents())
    ready = changed(searching, retrieval={"ready_before_complete": True})
    with Worker(ready, tmp_path) as worker:
        worker.wait_ready()
        await produce(searching.kafka, topics.answers, [outgoing(answer, Codec()) for answer in answers])
        await eventually(lambda: 0 < metric(worker, INDEXED) < count, "some are indexed", 60)
        _embedding_process(worker).kill()
        await eventually(lambda: metric(worker, FAILURES) == 1, "its end is noticed")
        before = metric(worker, INDEXED)
        await eventually(lambda: metric(worker, INDEXED) > before, "it goes on", 60)
        done = metric(worker, INDEXED)
        worker.kill()
        worker.start()
        worker.wait_ready()
        await until_indexed(worker, count)
        assert metric(worker, INDEXED) <= count - done
        ledger = await read_until_settled(searching, answers)
    ledger.assert_settled(answers)
    _assert_judged_as_they_can_be(ledger, answers)
    report(ledger, answers, kills=2)
