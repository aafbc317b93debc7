"""The process that builds the index: chunks, vectors and files, away from the worker's event loop."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait

from streams.retrieval.faults import Fault, described, fault_of
from streams.retrieval.indexed import IndexedDocument, NoIndex
from streams.settings import RetrievalSettings

#: Scoring comes first.
_NICENESS = 10


@dataclass(frozen=True, slots=True)
class Put:
    """Put these documents into the index, in the place of other versions where ``known``."""

    documents: Sequence[IndexedDocument]
    known: bool


@dataclass(frozen=True, slots=True)
class Remove:
    """Take these documents out."""

    document_ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class Optimise:
    """All has been put for now: bring the index into good order."""


@dataclass(frozen=True, slots=True)
class Failed:
    """It could not be done: a code or a class of exception; ``damaged``: the index is at fault."""

    reason: str
    damaged: bool = False


Work = Put | Remove | Optimise


def serve(connection: Connection, location: str, settings: RetrievalSettings) -> None:
    """Do what comes through the pipe until it closes; the main function of the process.

    First it opens the index, or makes an empty one where there is none of this kind, and sends
    ``{document_id: version}``. Every piece of work is answered with None, or with a :class:`Failed`.
    """
    # Ctrl-C reaches every process of the terminal; the worker ends this one itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(_NICENESS)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):  # the worker is gone
        _serve(connection, location, settings)


def _end_with_parent() -> None:
    # A pipe is looked at only between two pieces of work; nobody wants the rest of one.
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _serve(connection: Connection, location: str, settings: RetrievalSettings) -> None:
    try:
        workbench = Workbench(location, settings)
        connection.send(workbench.contents())
    except BaseException as error:  # noqa: BLE001 - the worker decides what to do about it
        connection.send(failed(error))
        return
    while True:
        work = connection.recv()
        try:
            workbench.do(work)
        except BaseException as error:  # noqa: BLE001 - the same
            connection.send(failed(error))
        else:
            connection.send(None)


class Workbench:
    """An index that is open to be built, and what its vectors are made with.

    Its methods block, and raise EmbeddingFailed and what LanceDB raises.
    """

    def __init__(self, location: str, settings: RetrievalSettings) -> None:
        # Imported where it is built alone: the worker's own process would grow by what only a builder needs.
        from streams.retrieval.embedding import open_embedder  # noqa: PLC0415
        from streams.retrieval.index import ChunkIndex  # noqa: PLC0415
        from streams.retrieval.layout import BuiltWith  # noqa: PLC0415

        self._settings = settings
        self._embedder = open_embedder(settings)
        built_with = BuiltWith.of(settings, self._embedder.name, self._embedder.dimensions)
        try:
            self._index = ChunkIndex.open(location, built_with)
        except NoIndex:
            self._index = ChunkIndex.create(location, built_with)

    def contents(self) -> dict[str, str]:
        """Return the version of every document that is in the index, by id."""
        return self._index.contents()

    def do(self, work: Work) -> None:
        """Do one piece of work, wholly or, where it fails, not at all."""
        from streams.retrieval.indexing import put  # noqa: PLC0415 - the same

        match work:
            case Put():
                put(self._index, self._embedder, work.documents, known=work.known)
            case Remove():
                self._index.remove(work.document_ids)
            case Optimise():
                self._index.optimise(self._settings.ann_from)


def failed(error: BaseException) -> Failed:
    """Say what the worker is told of a failure."""
    return Failed(described(error), fault_of(error) is Fault.DAMAGE)
