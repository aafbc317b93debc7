"""The index: a LanceDB table of chunks with their vectors and words, in a folder or an object storage."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

os.environ.setdefault("LANCEDB_LOG", "error")  # read at import; its warnings may quote what is searched for

import lancedb
from lancedb.index import FTS, Bitmap, BTree, IvfFlat
from lancedb.query import MatchQuery

from streams.retrieval.indexed import (
    TABLE,
    WHOLE,
    WHOLE_STATE,
    WHOLE_STATE_UNFINISHED,
    NoIndex,
    is_folder,
    table_folder,
)
from streams.retrieval.layout import (
    BuiltWith,
    described_in,
    keyword_column,
    keyword_columns,
    schema,
)

#: How long a searcher goes on with the table as it knows it before it looks for a newer one.
_FRESH_SECONDS = 1.0
#: Longer than any search takes: no file goes that a search still reads.
_KEPT = timedelta(minutes=5)
_COLUMNS = ["document_id", "version", "language", "title", "text", "start", "end", "vector"]
_OTHER_INDEXES: Mapping[str, Any] = {"language": Bitmap, "chunk_id": BTree, "document_id": BTree}
_VECTOR_INDEX = "vector_idx"
#: Of 250,000 chunks, a fifth of the partitions gives 98 of the 100 nearest in a tenth of the time.
_PARTITION_ROWS = 2_000
_PROBES_SHARE = 0.2
_LEAST_PROBES = 20


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk that one of the searches found; ``score`` is that search's own, higher is better."""

    document_id: str
    version: str
    language: str
    title: str
    text: str
    start: int
    end: int
    vector: np.ndarray[Any, np.dtype[np.float32]]
    score: float

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells chunks apart; a file may have the same id in several languages."""
        return self.document_id, self.language, self.start


class ChunkIndex:
    """An index that is open. Its methods block, and raise what LanceDB raises: RuntimeError, OSError."""

    def __init__(self, table: lancedb.table.Table, built_with: BuiltWith) -> None:
        self._table = table
        self._built_with = built_with
        self._looked_at = time.monotonic()
        self._languages: tuple[int, frozenset[str]] | None = None  # as of a version of the table

    @classmethod
    def open(cls, location: str, built_with: BuiltWith) -> ChunkIndex:
        """Open an index.

        Raises:
            NoIndex: there is none (``no_index``), or it was built with something else.
        """
        database = lancedb.connect(location)
        try:
            table = database.open_table(TABLE)
        except (ValueError, FileNotFoundError) as error:
            if not _says_none(error):
                raise
            raise NoIndex("no_index") from error
        if described_in(table.schema) != built_with.described():
            raise NoIndex("index_built_otherwise")
        if len(list(table.list_indices())) < len(keyword_columns()) + len(_OTHER_INDEXES):
            raise NoIndex("index_half_made")  # whoever made it was killed between two of them
        return cls(table, built_with)

    @classmethod
    def create(cls, location: str, built_with: BuiltWith) -> ChunkIndex:
        """Make an empty index, in the place of any that is there."""
        remove(location)
        database = lancedb.connect(location)
        table = database.create_table(TABLE, schema=schema(built_with))
        for column, language in keyword_columns().items():
            table.create_index(column, config=_keywords(language), replace=True)
        for column, kind in _OTHER_INDEXES.items():
            table.create_index(column, config=kind())
        return cls(table, built_with)

    def refresh(self) -> None:
        """Take the table as others have changed it, if that was not looked at within the last second."""
        now = time.monotonic()
        if now - self._looked_at > _FRESH_SECONDS:
            self._looked_at = now
            self._table.checkout_latest()  # type: ignore[no-untyped-call]

    def __len__(self) -> int:
        return self._table.count_rows()

    @property
    def built_with(self) -> BuiltWith:
        """What it was built with."""
        return self._built_with

    def contents(self) -> dict[str, str]:
        """Return the version of every document that is in it, by id."""
        columns = self._table.search().select(["document_id", "version"]).limit(None).to_arrow()
        return dict(zip(columns["document_id"].to_pylist(), columns["version"].to_pylist(), strict=True))

    def languages(self) -> frozenset[str]:
        """Return the languages of its chunks."""
        version = self._table.version
        if self._languages is None or self._languages[0] != version:
            found = self._table.search().select(["language"]).limit(None).to_arrow()
            self._languages = version, frozenset(found["language"].unique().to_pylist())
        return self._languages[1]

    def add(self, rows: pa.Table) -> None:
        """Add the chunks of documents that are not in it."""
        self._table.add(rows)

    def replace(self, rows: pa.Table, document_ids: Collection[str]) -> None:
        """Put ``rows`` in the place of all chunks of ``document_ids``, in one step."""
        merge = self._table.merge_insert("chunk_id").when_matched_update_all().when_not_matched_insert_all()
        merge.when_not_matched_by_source_delete(_is_one_of("document_id", document_ids)).execute(rows)

    def remove(self, document_ids: Collection[str]) -> None:
        """Take documents out."""
        self._table.delete(_is_one_of("document_id", document_ids))

    def optimise(self, ann_from: int) -> None:
        """Bring the search indexes up to date, merge small files and delete old ones."""
        if self._needs_vectors(ann_from):
            partitions = max(len(self) // _PARTITION_ROWS, 1)
            self._table.create_index(
                "vector", config=IvfFlat(distance_type="dot", num_partitions=partitions), replace=True
            )
        self._table.optimize(cleanup_older_than=_KEPT)

    def search_words(
        self, text: str, languages: Iterable[str], only: str | None, limit: int, seconds: float
    ) -> dict[str, list[Found]]:
        """Find chunks by the words of ``text`` (BM25): a list for each column, the best first."""
        columns = dict.fromkeys(map(keyword_column, [only] if only is not None else sorted(languages)))
        # A language with a column of its own has nothing else in it.
        shared = only if only is not None and keyword_columns()[keyword_column(only)] is None else None
        return {column: self._by_words(text, column, shared, limit, seconds) for column in columns}

    def search_vectors(
        self, vector: np.ndarray[Any, np.dtype[np.float32]], only: str | None, limit: int, seconds: float
    ) -> list[Found]:
        """Find the chunks with the nearest vectors; ``score`` is the cosine."""
        query: Any = self._table.search(vector, vector_column_name="vector", query_type="vector")
        query = query.distance_type("dot").nprobes(self._probes())
        query = query.select([*_COLUMNS, "_distance"]).limit(limit)
        if only is not None:
            query = query.where(_is("language", only), prefilter=True)
        return [_found(row, 1 - row["_distance"]) for row in _listed(query, seconds)]

    def _by_words(self, text: str, column: str, only: str | None, limit: int, seconds: float) -> list[Found]:
        query = self._table.search(_match(text, column), query_type="fts")
        query = query.select([*_COLUMNS, "_score"]).limit(limit)
        if only is not None:
            query = query.where(_is("language", only), prefilter=True)
        return [_found(row, row["_score"]) for row in _listed(query, seconds)]

    def _probes(self) -> int:
        return max(int(len(self) / _PARTITION_ROWS * _PROBES_SHARE), _LEAST_PROBES)

    def _needs_vectors(self, ann_from: int) -> bool:
        if len(self) < ann_from:
            return False
        stats = self._table.index_stats(_VECTOR_INDEX)
        # The partitions were made for the chunks of that time: with twice as many they are made anew.
        return stats is None or stats.num_unindexed_rows > stats.num_indexed_rows


def _says_none(error: Exception) -> bool:
    # It says the same, ValueError, of a storage that it cannot reach: only the text tells them apart.
    return isinstance(error, FileNotFoundError) or str(error).endswith("was not found")


def remove(location: str) -> None:
    """Delete the index at a location, which can be built again at any time, and nothing else there.

    A wrong setting may have named a folder that holds somebody's files.
    """
    if is_folder(location):
        folder = Path(location)
        shutil.rmtree(table_folder(location), ignore_errors=True)
        for note in (WHOLE, WHOLE_STATE, WHOLE_STATE_UNFINISHED):
            with suppress(OSError):  # somebody's folder of that name
                (folder / note).unlink(missing_ok=True)
        with suppress(OSError):  # there is more in it
            folder.rmdir()
        return
    with suppress(ValueError, FileNotFoundError):
        lancedb.connect(location).drop_table(TABLE)


def _keywords(language: str | None) -> FTS:
    if language is None:
        return FTS(stem=False, remove_stop_words=False)
    return FTS(language=language, stem=True, remove_stop_words=True)


def _match(text: str, column: str) -> MatchQuery:
    match: Any = MatchQuery  # its types ask for what has defaults
    found: MatchQuery = match(text, column)
    return found


def _listed(query: Any, seconds: float) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = query.to_list(timeout=timedelta(seconds=seconds))
    return found


def _found(row: Mapping[str, Any], score: float) -> Found:
    values = {name: row[name] for name in _COLUMNS if name != "vector"}
    return Found(**values, vector=np.asarray(row["vector"], dtype=np.float32), score=score)


def _is(column: str, value: str) -> str:
    return f"{column} = {_quoted(value)}"


def _is_one_of(column: str, values: Collection[str]) -> str:
    return f"{column} IN ({', '.join(map(_quoted, values))})" if values else "false"


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
