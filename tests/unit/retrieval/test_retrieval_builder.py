"""The process that builds: it ends with the worker, and says what it could not do."""

from __future__ import annotations

import multiprocessing
import resource
import signal
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import psutil
import pytest

from streams.retrieval.builder import Optimise, Put
from streams.retrieval.builder_process import BuilderFailed, BuilderProcess
from streams.retrieval.indexed import IndexedDocument
from streams.settings import RetrievalSettings
from tests.support.local_retrieval import INVOICE

SECONDS = 60.0
DOCUMENT = IndexedDocument("invoice", "1", "nl", "Factuur", INVOICE)


@pytest.fixture
def builder(tmp_path: Path) -> Iterator[BuilderProcess]:
    process = BuilderProcess(str(tmp_path / "index"), RetrievalSettings())
    yield process
    process.end()


def test_it_says_that_the_disk_is_full_keeps_what_it_has_and_is_replaced_when_killed(
    builder: BuilderProcess,
) -> None:
    assert builder.start() == {}
    builder.do(Put([DOCUMENT], known=False))
    assert builder.pid
    process = psutil.Process(builder.pid)
    unlimited = process.rlimit(resource.RLIMIT_FSIZE)
    process.rlimit(resource.RLIMIT_FSIZE, (1_000, unlimited[1]))
    with pytest.raises(BuilderFailed, match="EFBIG") as failed:
        builder.do(Put([DOCUMENT], known=True))
    assert not failed.value.damaged
    process.send_signal(signal.SIGKILL)
    process.wait(SECONDS)
    with pytest.raises(BuilderFailed, match="builder_died"):
        builder.do(Optimise())
    assert builder.start() == {"invoice": "1"}


def _run_until_killed(location: str, told: Connection) -> None:
    builder = BuilderProcess(location, RetrievalSettings())
    builder.start()
    told.send(builder.pid)
    signal.pause()


def test_it_ends_when_the_worker_is_killed(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    told, theirs = context.Pipe()
    worker = context.Process(target=_run_until_killed, args=(str(tmp_path / "index"), theirs))
    worker.start()
    assert told.poll(SECONDS)
    builder = psutil.Process(told.recv())
    worker.kill()
    worker.join(SECONDS)
    builder.wait(SECONDS)
