"""The process that builds: it ends with the worker, and says what it could not do."""

from __future__ import annotations

import multiprocessing
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import psutil
import pytest

from streams.retrieval.builder import Work
from streams.retrieval.builder_process import BuilderFailed, BuilderProcesses
from streams.retrieval.index_file import IndexFile
from streams.retrieval.indexed import IndexedDocument, built_with
from streams.settings import RetrievalSettings
from tests.support.local_retrieval import INVOICE

SECONDS = 60.0
DOCUMENT = IndexedDocument("invoice", "1", "nl", "Factuur", INVOICE)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index" / "passages.sqlite3"


@contextmanager
def started(path: Path, **settings: int) -> Iterator[BuilderProcesses]:
    processes = BuilderProcesses(path, RetrievalSettings(**settings))
    try:
        processes.start()
        yield processes
    finally:
        processes.end()


def contents(path: Path) -> dict[str, str]:
    return IndexFile(path, built_with(RetrievalSettings())).contents()


def test_it_says_that_the_disk_is_full_keeps_what_it_has_and_is_replaced_when_killed(path: Path) -> None:
    with started(path) as builder:
        builder.do(Work([DOCUMENT]))
        (pid,) = builder.pids
        process = psutil.Process(pid)
        unlimited = process.rlimit(resource.RLIMIT_FSIZE)
        process.rlimit(resource.RLIMIT_FSIZE, (1_000, unlimited[1]))
        with pytest.raises(BuilderFailed, match="SQLITE_IOERR_WRITE") as failed:
            builder.do(Work([DOCUMENT]))
        assert not failed.value.damaged
        process.send_signal(signal.SIGKILL)
        process.wait(SECONDS)
        with pytest.raises(BuilderFailed, match="builder_died"):
            builder.do(Work(gone=["invoice"]))
        builder.start()
        assert contents(path) == {"invoice": "1"}


def test_several_processes_put_their_parts_of_a_batch_into_one_index(path: Path) -> None:
    documents = [IndexedDocument(str(number), "1", "nl", "Factuur", INVOICE) for number in range(7)]
    with started(path, embedding_processes=3) as builder:
        assert len(set(builder.pids)) == 3
        builder.do(Work(documents))
        builder.do(Work(documents[:1]))
        builder.do(Work(gone=["3"]))
    assert contents(path) == {one.document_id: "1" for one in documents if one.document_id != "3"}


def _run_until_killed(path: Path, told: Connection) -> None:
    builder = BuilderProcesses(path, RetrievalSettings())
    builder.start()
    told.send(builder.pids)
    signal.pause()


def test_it_ends_when_the_worker_is_killed(path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    told, theirs = context.Pipe()
    worker = context.Process(target=_run_until_killed, args=(path, theirs))
    worker.start()
    assert told.poll(SECONDS)
    (pid,) = told.recv()
    builder = psutil.Process(pid)
    worker.kill()
    worker.join(SECONDS)
    builder.wait(SECONDS)
