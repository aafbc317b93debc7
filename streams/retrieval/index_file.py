"""The file of the index: documents with their chunks, words and vectors, in one SQLite database."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from scoring.storage import sqlite_file
from streams.retrieval.chunks import whole
from streams.retrieval.indexed import IndexedDocument, Packed, code_of

_APPLICATION_ID = 0x74677078  # "tgpx", marks the file as ours in SQLite's header
_LAYOUT_VERSION = 1  # raise it with every change of _SCHEMA or of what is in it
#: Longer than any commit takes; a search that has less time gives up before.
_LOCKED_SECONDS = 10.0
#: Documents that are read at once: nobody can write meanwhile, for some hundredths of a second.
_READ_AT_ONCE = 4_096

# Pages that hold several documents waste less of what does not fit.
# The lists of ids and versions come from the index alone, a fiftieth of the file.
_SCHEMA = f"""
PRAGMA page_size = 16384;
PRAGMA application_id = {_APPLICATION_ID};
PRAGMA user_version = {_LAYOUT_VERSION};
BEGIN;
CREATE TABLE state (
    only_row INTEGER NOT NULL PRIMARY KEY CHECK (only_row = 0),
    built_with TEXT NOT NULL,
    changes INTEGER NOT NULL,
    removals INTEGER NOT NULL
) STRICT;
CREATE TABLE documents (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id TEXT NOT NULL,
    version TEXT NOT NULL,
    language TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    places BLOB NOT NULL,
    terms BLOB NOT NULL,
    counts BLOB NOT NULL,
    scales BLOB NOT NULL,
    codes BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX documents_by_id ON documents (document_id, language, version);
"""
_PUT = "INSERT INTO documents VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_REMOVE = "DELETE FROM documents WHERE document_id = ?"
_NOTE = "UPDATE state SET changes = changes + 1, removals = removals + ?"
_DIMENSIONS = "SELECT length(codes) / (length(scales) / 4) FROM documents LIMIT 1"
_READ = """
SELECT number, language, checksum, places, terms, counts, scales, codes FROM documents
WHERE number > ? ORDER BY number LIMIT ?
"""


class NoIndex(Exception):
    """There is no index (``no_index``), or not one that was built with what is asked for."""


class DamagedIndex(Exception):
    """The index holds what cannot be in it."""


class State(NamedTuple):
    """How often the index was changed, and how often documents were taken out."""

    changes: int
    removals: int


class Read(NamedTuple):
    """What a search keeps in memory of a document; ``number`` is not given to another one, ever."""

    number: int
    language: str
    chunks: Packed


class IndexFile:
    """An index, opened anew for each call: so damage is seen, and nothing is held that is deleted.

    No memory map and no write-ahead log, which is one: a file that is cut off while it is mapped would end
    the worker. Raises sqlite3.Error.

    Args:
        path: of the file.
        built_with: what it must have been built with.
    """

    def __init__(self, path: Path, built_with: str) -> None:
        self.path = path
        self._built_with = built_with

    def create(self) -> None:
        """Make an empty index in the place of what is there.

        It is made under another name: a process that is killed here leaves no half-made one behind.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_name(f"{self.path.name}.new")
        sqlite_file.remove(unfinished)
        with closing(sqlite3.connect(unfinished, isolation_level=None)) as database:
            database.executescript(_SCHEMA)
            database.execute("INSERT INTO state VALUES (0, ?, 0, 0)", (self._built_with,))
            database.execute("COMMIT")
        remove(self.path)
        unfinished.replace(self.path)

    def change(self, documents: Sequence[tuple[IndexedDocument, Packed]], gone: Collection[str]) -> None:
        """Take documents out, and put others in, in one step."""
        ids = [(document_id,) for document_id in gone]
        with self._opened() as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                removed = database.executemany(_REMOVE, ids).rowcount if ids else 0
                database.executemany(_PUT, [_row(document, chunks) for document, chunks in documents])
                database.execute(_NOTE, (removed,))
                database.execute("COMMIT")
            finally:
                if database.in_transaction:
                    database.execute("ROLLBACK")

    def contents(self) -> dict[str, str]:
        """Return the version of every document, by id."""
        with self._opened() as database:
            return dict(database.execute("SELECT document_id, version FROM documents"))

    def dimensions(self) -> int | None:
        """Return how many numbers its vectors have, None where it has none."""
        with self._opened() as database:
            found = database.execute(_DIMENSIONS).fetchone()
        return found[0] if found else None

    def state(self) -> State:
        """Return what tells whether anything was changed."""
        with self._opened() as database:
            return State(*database.execute("SELECT changes, removals FROM state").fetchone())

    def numbers(self) -> list[int]:
        """Return the numbers of all documents."""
        with self._opened() as database:
            return [number for (number,) in database.execute("SELECT number FROM documents")]

    def read(self, after: int) -> Iterator[list[Read]]:
        """Yield the documents with greater numbers, some at a time; raises DamagedIndex."""
        while some := self._read(after):
            yield some
            after = some[-1].number

    def _read(self, after: int) -> list[Read]:
        with self._opened() as database:
            rows = database.execute(_READ, (after, _READ_AT_ONCE)).fetchall()
        return [_checked(*row) for row in rows]

    def documents(self, numbers: Collection[int]) -> dict[int, IndexedDocument]:
        """Return the documents of these numbers, as far as they are still there."""
        wanted = ", ".join(map(str, numbers))
        query = f"SELECT number, document_id, version, language, title, text FROM documents WHERE number IN ({wanted})"  # noqa: S608, E501
        with self._opened() as database:
            return {number: IndexedDocument(*rest) for number, *rest in database.execute(query)}

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        if not self.path.exists():
            raise NoIndex("no_index")
        # Writable, so that whoever comes first takes back what a killed builder had begun to write.
        uri = f"{self.path.absolute().as_uri()}?mode=rw"
        opened = sqlite3.connect(uri, uri=True, timeout=_LOCKED_SECONDS, isolation_level=None)
        with closing(opened) as database:
            self._check(database)
            yield database

    def _check(self, database: sqlite3.Connection) -> None:
        if _number(database, "application_id") != _APPLICATION_ID:
            raise DamagedIndex("index_foreign")
        if _number(database, "user_version") != _LAYOUT_VERSION:
            raise NoIndex("index_built_otherwise")
        if database.execute("SELECT built_with FROM state").fetchone() != (self._built_with,):
            raise NoIndex("index_built_otherwise")


def remove(path: Path) -> None:
    """Delete the index at ``path``, which can be built again at any time; set a file aside that is not one.

    A wrong setting may have named somebody's own file. Raises OSError.
    """
    if sqlite_file.is_foreign(path, _APPLICATION_ID):
        path.replace(path.with_name(f"{path.name}.set-aside"))
    sqlite_file.remove(path)


def _number(database: sqlite3.Connection, name: str) -> int:
    number: int = database.execute(f"PRAGMA {name}").fetchone()[0]
    return number


def _row(document: IndexedDocument, chunks: Packed) -> tuple[str | int | bytes, ...]:
    blobs = astuple(chunks)
    return (
        document.document_id,
        document.version,
        code_of(document.language),
        whole(document.title),
        whole(document.text),
        _checksum(blobs),
        *blobs,
    )


def _checked(number: int, language: str, checksum: int, *blobs: bytes) -> Read:
    if _checksum(blobs) != checksum:
        raise DamagedIndex("index_damaged")
    return Read(number, language, Packed(*blobs))


def _checksum(blobs: Sequence[bytes]) -> int:
    value = 0
    for blob in blobs:
        value = crc32(blob, value)
    return value
