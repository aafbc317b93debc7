"""The processes that embed: they end with the worker, are replaced, and say what they could not do."""

import multiprocessing
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

import numpy as np
import psutil
import pytest

from streams.search.embedders import EmbeddingProcesses
from streams.search.types import EmbeddingFailed
from streams.settings import RetrievalSettings
from tests.support.ports import NOBODY

SECONDS = 240.0
TEXTS = [f"Verstuur factuur {number}." for number in range(7)]


def children() -> list[psutil.Process]:
    """Give the processes of this one that embed: they go behind the others."""
    return [child for child in psutil.Process().children() if child.nice() > psutil.Process().nice()]


@contextmanager
def started(**settings: object) -> Iterator[EmbeddingProcesses]:
    processes = EmbeddingProcesses(RetrievalSettings(**settings))
    try:
        yield processes
    finally:
        processes.close()


def test_several_processes_embed_their_parts_and_the_rows_are_in_the_order_of_the_texts():
    with started(embedding_processes=3) as several, started() as one:
        vectors = several.embed(TEXTS)
        assert np.allclose(vectors, one.embed(TEXTS), atol=1e-5)
        assert len(children()) > 1


def test_a_killed_process_is_told_and_replaced():
    with started() as processes:
        processes.embed(TEXTS[:1])
        (child,) = children()
        child.send_signal(signal.SIGKILL)
        child.wait(SECONDS)
        with pytest.raises(EmbeddingFailed, match="embedder_died"):
            processes.embed(TEXTS)
        assert not processes.is_running
        assert processes.embed(TEXTS).shape == (7, 512)


def test_what_the_embedder_says_comes_over():
    with (
        started(
            embedder="http",
            embeddings_url=f"http://{NOBODY}",
            embeddings_model="m",
            floor=0,
        ) as processes,
        pytest.raises(EmbeddingFailed, match="embeddings_unreachable"),
    ):
        processes.embed(TEXTS)


def test_what_is_being_embedded_is_given_up_at_the_end():
    with started() as processes:
        processes.embed(TEXTS[:1])
        (child,) = children()
        told: list[str] = []

        def embed() -> None:
            with pytest.raises(EmbeddingFailed) as failed:
                processes.embed(["word " * 500] * 5_000)
            told.append(str(failed.value))

        thread = threading.Thread(target=embed)  # ended before it begins, or while it is at it
        thread.start()
        processes.close()
        child.wait(SECONDS)
        thread.join(SECONDS)
        assert told == ["embedder_died"]
        with pytest.raises(EmbeddingFailed, match="ended"):
            processes.embed(TEXTS)


def _run_until_killed(told: Connection) -> None:
    EmbeddingProcesses(RetrievalSettings()).embed(TEXTS)
    told.send([child.pid for child in children()])
    signal.pause()


def test_they_end_when_the_worker_is_killed():
    context = multiprocessing.get_context("spawn")
    told, theirs = context.Pipe()
    worker = context.Process(target=_run_until_killed, args=(theirs,))
    worker.start()
    assert told.poll(SECONDS)
    (pid,) = told.recv()
    child = psutil.Process(pid)
    worker.kill()
    worker.join(SECONDS)
    child.wait(SECONDS)
