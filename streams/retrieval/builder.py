"""The process that builds the index: chunks, vectors and the file, away from the worker's event loop."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path

from streams.retrieval.embedding import open_embedder
from streams.retrieval.faults import Fault, described, fault_of
from streams.retrieval.indexed import IndexedDocument
from streams.retrieval.indexing import Workbench
from streams.settings import RetrievalSettings

#: Scoring comes first.
_NICENESS = 10


@dataclass(frozen=True, slots=True)
class Work:
    """Documents to put into the index, in the place of other versions of them, and ids to take out."""

    documents: Sequence[IndexedDocument] = ()
    gone: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """It could not be done: a code or a class of exception; ``damaged``: the index is at fault."""

    reason: str
    damaged: bool = False


def serve(connection: Connection, path: Path, settings: RetrievalSettings) -> None:
    """Do what comes through the pipe until it closes; the main function of the process.

    First it opens the index, or makes an empty one where there is none of this kind, and sends
    ``{document_id: version}``. Every piece of work is answered with None, or with a :class:`Failed`.
    """
    # Ctrl-C reaches every process of the terminal; the worker ends this one itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(_NICENESS)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):  # the worker is gone
        _serve(connection, path, settings)


def _end_with_parent() -> None:
    # A pipe is looked at only between two pieces of work; nobody wants the rest of one.
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _serve(connection: Connection, path: Path, settings: RetrievalSettings) -> None:
    try:
        workbench = Workbench(path, open_embedder(settings), settings)
        connection.send(workbench.contents())
    except BaseException as error:  # noqa: BLE001 - the worker decides what to do about it
        connection.send(failed(error))
        return
    while True:
        work, failure = connection.recv(), None
        try:
            do(workbench, work)
        except BaseException as error:  # noqa: BLE001 - the same
            failure = failed(error)
        connection.send(failure)


def do(workbench: Workbench, work: Work) -> None:
    """Do one piece of work, wholly or, where it fails, not at all."""
    workbench.change(work.documents, [*work.gone, *(document.document_id for document in work.documents)])


def failed(error: BaseException) -> Failed:
    """Say what the worker is told of a failure."""
    return Failed(described(error), fault_of(error) is Fault.DAMAGE)
