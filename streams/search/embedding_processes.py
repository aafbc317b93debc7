"""The processes that embed the texts of documents, away from the worker's event loop."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, CancelledError, ProcessPoolExecutor
from functools import cache, partial
from math import ceil
from multiprocessing.connection import Connection, wait

import numpy as np

from streams.search.embedder import Embedder, EmbeddingFailed, Vectors
from streams.search.embedding import open_embedder
from streams.settings import RetrievalSettings

#: Reading the model takes seconds, embedding a batch too; this is for when it hangs.
_TIMEOUT_SECONDS = 600.0
#: Scoring comes first.
_NICENESS = 10


class EmbeddingProcesses:
    """Starts ``embedding_processes`` when they are first needed, and anew after every failure.

    ``end`` and ``pause`` may be called while another thread is in ``embed``, which then fails.

    Args:
        settings: which embedder, and how many processes.
    """

    def __init__(self, settings: RetrievalSettings) -> None:
        self._settings = settings
        self._pool: ProcessPoolExecutor | None = None
        self._alive: Connection | None = None
        self._ended = False

    @property
    def is_running(self) -> bool:
        """Whether there are processes."""
        return self._pool is not None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, of which there is one at least; raises EmbeddingFailed."""
        size = ceil(len(texts) / self._settings.embedding_processes)
        parts = [texts[at : at + size] for at in range(0, len(texts), size)]
        pool = self._pool or self._start_pool()
        try:
            return np.concatenate(
                list(pool.map(partial(_embed, self._settings), parts, timeout=_TIMEOUT_SECONDS))
            )
        except TimeoutError:
            self.stop()
            raise EmbeddingFailed("embedder_hangs") from None
        except (BrokenExecutor, CancelledError, OSError, RuntimeError) as error:
            self.stop()
            raise EmbeddingFailed("embedder_died") from error

    def stop(self) -> None:
        """End the processes, whatever they are doing, until texts are to be embedded again."""
        if self._alive:
            self._alive.close()
        if self._pool:
            self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = self._alive = None

    def close(self) -> None:
        """End the processes for good."""
        self._ended = True
        self.stop()

    def _start_pool(self) -> ProcessPoolExecutor:
        if self._ended:
            raise EmbeddingFailed("ended")
        theirs, self._alive = multiprocessing.Pipe(duplex=False)
        # Neither the threads of the worker nor what it has open come along.
        self._pool = ProcessPoolExecutor(
            self._settings.embedding_processes,
            multiprocessing.get_context("spawn"),
            _start_process,
            (theirs,),
        )
        return self._pool


def _start_process(worker: Connection) -> None:
    # Ctrl-C reaches every process of the terminal; the worker ends this one itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(_NICENESS)
    threading.Thread(target=_exit_with_worker, args=(worker,), daemon=True).start()


def _exit_with_worker(worker: Connection) -> None:
    # Nobody writes: it is closed by the worker, or with it.
    wait([worker])
    os._exit(1)


@cache
def _open_once(settings: RetrievalSettings) -> Embedder:
    return open_embedder(settings)


def _embed(settings: RetrievalSettings, texts: Sequence[str]) -> Vectors:
    return _open_once(settings).embed_documents(texts)
