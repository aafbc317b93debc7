"""The files of the index: what they hold, how they change, and whether they are as they were written."""

import json
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Self
from zlib import crc32

import numpy as np
from tantivy import Document, FieldType, Index, IndexWriter, Query, Schema, SchemaBuilder

from streams.search.embedders import Vectors
from streams.search.index_snapshot import (
    IndexSnapshot,
    PassageLocation,
    PassageTable,
    as_index_failed,
    index_terms,
    quantize,
)

_SIGNATURE_FILE = "built_with"
_HEAP_BYTES = 30_000_000  # of the one thread that writes; tantivy wants 15 MB at least
#: The files of each tantivy segment. Each ends with JSON that has the checksum of what is before it, the
#: length of that JSON, and a magic number.
_SEGMENT_SUFFIXES = ("fast", "fieldnorm", "idx", "pos", "store", "term")
_FOOTER_MAGIC = (1337).to_bytes(4, "little")


class IndexUnusable(Exception):
    """There is no index (``no_index``), or it is damaged or was built otherwise: it is to be built anew."""


@dataclass(frozen=True, slots=True, eq=False)
class IndexedDocument:
    """A document as it is indexed.

    ``key`` and ``version`` are those by which its text is found again; ``spans`` are the character offsets of
    its passages, ``texts`` what the keyword search finds of each, ``vectors`` a row for each.
    """

    key: str
    version: str
    language: str
    spans: Sequence[tuple[int, int]]
    texts: Sequence[str]
    vectors: Vectors


class PassageIndex:
    """An open index, in a folder of its own. Its methods block.

    Tantivy commits all of a change or, where it fails or the process is killed, nothing. It maps its files
    into memory: truncating one while the index is open ends the process. Opening an index compares the
    checksums of all of its files, which finds such damage.

    Args:
        path: the folder.
        signature: what the index must have been built with.

    Attributes:
        contents: The version of every document, by key.
        snapshot: The passages as they are now.

    Raises:
        IndexUnusable: it is to be created.
        IndexFailed: it cannot be read now.
    """

    def __init__(self, path: Path, signature: str) -> None:
        self._path = path
        if not (path / _SIGNATURE_FILE).is_file():
            raise IndexUnusable("no_index")
        with as_index_failed():
            if (path / _SIGNATURE_FILE).read_text() != signature:
                raise IndexUnusable("index_built_otherwise")
            if not _is_intact(path):
                raise IndexUnusable("index_damaged")
            self._index = Index.open(str(path))
            self._index.config_reader("manual")
            languages = _read_tables(self._index)
        self.contents = {
            location.key: location.version for table in languages.values() for location in table.locations
        }
        self.snapshot = IndexSnapshot(self._index.searcher(), self._index.schema, languages)

    @classmethod
    def create(cls, path: Path, signature: str) -> Self:
        """Create an empty index, replacing what is there; raises IndexFailed.

        It is created under another name: a process that is killed here leaves no incomplete one behind.
        """
        unfinished = path.with_name(f"{path.name}.new")
        with as_index_failed():
            remove_index(path)
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir(parents=True)
            Index(_schema(), str(unfinished), reuse=False)
            (unfinished / _SIGNATURE_FILE).write_text(signature)
            unfinished.replace(path)
        return cls(path, signature)

    @property
    def exists(self) -> bool:
        """Whether the index still exists in its folder."""
        return (self._path / "meta.json").exists()

    def update(self, documents: Sequence[IndexedDocument], removed_keys: Collection[str]) -> None:
        """Add documents, replacing their indexed versions, and remove others, in one commit.

        Raises IndexFailed: nothing was changed, and the index is to be opened anew.
        """
        replaced = {*removed_keys, *(document.key for document in documents)} & self.contents.keys()
        numbers = [int(table.numbers[-1]) + 1 for table in self.snapshot.languages.values()]
        added, next_number = [], max(numbers, default=0)
        for document in documents:
            added.append(_table(document, next_number))
            next_number += len(document.spans)
        with as_index_failed():
            self._write(list(zip(documents, added, strict=True)), replaced)
            self._index.reload()
        tables = defaultdict(list)
        for language, table in self.snapshot.languages.items():
            tables[language].append(table.without(replaced) if replaced else table)
        for document, table in zip(documents, added, strict=True):
            tables[document.language].append(table)
        for key in replaced:
            del self.contents[key]
        self.contents |= {document.key: document.version for document in documents}
        self.snapshot = IndexSnapshot(self._index.searcher(), self._index.schema, _joined(tables))

    def _write(
        self, added: Iterable[tuple[IndexedDocument, PassageTable]], replaced: Collection[str]
    ) -> None:
        writer = self._index.writer(_HEAP_BYTES, 1)
        try:
            for key in replaced:
                writer.delete_documents_by_term("document", key)
            for document, table in added:
                _add(writer, document, table)
            writer.commit()
            writer.wait_merging_threads()
        finally:
            del writer  # it locks the folder, and the traceback of an exception would keep it


def remove_index(path: Path) -> None:
    """Delete the index at ``path``, which can be built again; rename a folder that is no index.

    A wrong setting may have named somebody's own folder. Raises OSError.
    """
    if path.exists() and not (path / _SIGNATURE_FILE).is_file():
        path.replace(path.with_name(f"{path.name}.set-aside"))
    shutil.rmtree(path, ignore_errors=True)


def _schema() -> Schema:
    builder = SchemaBuilder()
    builder.add_text_field("document", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
    builder.add_unsigned_field("number", fast=True)
    # The first passage of a document has the table of all of its passages.
    builder.add_unsigned_field("first", indexed=True)
    builder.add_bytes_field("about", stored=True)
    builder.add_bytes_field("scales", stored=True)
    builder.add_bytes_field("codes", stored=True)
    return builder.build()


def _table(document: IndexedDocument, first: int) -> PassageTable:
    locations = [PassageLocation(document.key, document.version, *span) for span in document.spans]
    codes, scales = quantize(document.vectors)
    return PassageTable(locations, np.arange(first, first + len(locations)), scales, codes)


def _add(writer: IndexWriter, document: IndexedDocument, table: PassageTable) -> None:
    first = int(table.numbers[0])
    for number, text in enumerate(document.texts, first):
        passage = Document()
        passage.add_text("document", document.key)
        passage.add_text("words", " ".join(index_terms(text, document.language)))
        passage.add_unsigned("number", number)
        if number == first:
            about = (first, document.key, document.version, document.language, document.spans)
            passage.add_unsigned("first", first)
            passage.add_bytes("about", json.dumps(about).encode())
            passage.add_bytes("scales", table.scales.tobytes())
            passage.add_bytes("codes", table.codes.tobytes())
        writer.add_document(passage)


def _read_tables(index: Index) -> dict[str, PassageTable]:
    searcher, tables = index.searcher(), []
    query = Query.range_query(index.schema, "first", FieldType.Unsigned, 0, None)
    for _, address in searcher.search(query, max(1, searcher.num_docs), count=False).hits:
        stored = searcher.doc(address)
        about, scales, codes = (stored.get_first(name) or b"" for name in ("about", "scales", "codes"))
        first, key, version, language, spans = json.loads(about)
        table = PassageTable(
            [PassageLocation(key, version, *span) for span in spans],
            np.arange(first, first + len(spans)),
            np.frombuffer(scales, np.float32),
            np.frombuffer(codes, np.int8).reshape(len(spans), -1),
        )
        tables.append((first, language, table))
    by_language = defaultdict(list)
    for _, language, table in sorted(tables, key=lambda each: each[0]):
        by_language[language].append(table)
    return _joined(by_language)


def _joined(tables: Mapping[str, Sequence[PassageTable]]) -> dict[str, PassageTable]:
    """Return one table for each language, from the passages of several in this order; none without any."""
    joined = {}
    for language, every in tables.items():
        some = [table for table in every if table.locations]
        if len(some) == 1:
            (joined[language],) = some
        elif some:
            locations, *columns = zip(*some, strict=True)
            joined[language] = PassageTable([*chain(*locations)], *map(np.concatenate, columns))
    return joined


def _is_intact(path: Path) -> bool:
    """Return whether all files of the last commit are there as they were written."""
    try:
        segments = json.loads((path / "meta.json").read_bytes())["segments"]
    except (ValueError, KeyError, FileNotFoundError):
        return False
    files: list[Path] = []
    for segment in segments:
        name, deletes = segment["segment_id"].replace("-", ""), segment["deletes"]
        files += (path / f"{name}.{suffix}" for suffix in _SEGMENT_SUFFIXES)
        files += [path / f"{name}.{deletes['opstamp']}.del"] if deletes else []
    return all(map(_has_valid_checksum, files))


def _has_valid_checksum(file: Path) -> bool:
    try:
        content = memoryview(file.read_bytes())
        length = int.from_bytes(content[-8:-4], "little")
        footer = json.loads(bytes(content[-8 - length : -8]))
        return content[-4:] == _FOOTER_MAGIC and crc32(content[: -8 - length]) == footer["crc"]
    except (ValueError, KeyError, TypeError, FileNotFoundError):
        return False
