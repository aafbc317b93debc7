"""The index of passages: their words in tantivy, their vectors beside these, all of which are compared."""

import errno
import json
import os
import re
import shutil
import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self
from zlib import crc32

import numpy as np
import simsimd
from numpy.typing import NDArray
from tantivy import (
    Document,
    FieldType,
    Index,
    IndexWriter,
    Occur,
    Query,
    Schema,
    SchemaBuilder,
    Searcher,
)

from streams.observability.failures import loggable_reason
from streams.search.embedder import Vectors
from streams.search.prepared import IndexedDocument, indexed_terms, quantize

_SIGNATURE_FILE = "built_with"
_HEAP_BYTES = 30_000_000  # of the one thread that writes; tantivy wants 15 MB at least
#: A word is rare that is in so few passages, or in this share of them: a product's own name is in more.
_FEW, _RARE = 3, 0.05
#: Of so many more than are asked for, by 8 bits, those nearest by the question's full vector are taken.
_OVERSAMPLING = 2
#: What each segment of tantivy's has.
_SEGMENT_SUFFIXES = ("fast", "fieldnorm", "idx", "pos", "store", "term")
#: The end of each of these files: JSON with the checksum of what is before it, its length, a number.
_FOOTER_MAGIC = (1337).to_bytes(4, "little")
_OS_ERROR = re.compile(r"(?:os error |code: )(\d+)")

Rows = NDArray[np.integer[Any]]


class IndexUnusable(Exception):
    """There is no index (``no_index``), or none that can be used: it is damaged, or was built otherwise."""


class IndexFailed(Exception):
    """The index cannot be read or written; the message says why, without quoting what is in it."""


class PassageLocation(NamedTuple):
    """Where the text of a passage is: which version of a document, and the offsets in its text."""

    key: str
    version: str
    start: int
    end: int


class PassageMatch(NamedTuple):
    """A passage that was found: its language, its row there, and its score, where higher is better."""

    language: str
    row: int
    score: float

    @property
    def key(self) -> tuple[str, int]:
        """What tells passages apart."""
        return self.language, self.row


@dataclass(frozen=True, slots=True, eq=False)
class PassageTable:
    """The passages of one language, one a row, in the order of their numbers; to be replaced, not changed."""

    locations: Sequence[PassageLocation]
    numbers: NDArray[np.int64]
    scales: NDArray[np.float32]
    codes: NDArray[np.int8]

    @classmethod
    def of(cls, documents: Sequence[tuple[int, IndexedDocument]]) -> Self:
        """Return the passages of documents, each with the number of its first passage, in order."""
        sizes = [len(document.spans) for _, document in documents]
        return cls(
            [
                PassageLocation(document.key, document.version, *place)
                for _, document in documents
                for place in document.spans
            ],
            np.concatenate(
                [np.arange(first, first + size) for (first, _), size in zip(documents, sizes, strict=True)]
            ),
            np.concatenate([document.scales for _, document in documents]),
            np.concatenate([document.codes for _, document in documents]),
        )

    def __len__(self) -> int:
        return len(self.locations)

    def vectors(self, rows: Rows) -> Vectors:
        """Return the vectors of some passages, to within what 8 bits can tell."""
        return self.codes[rows].astype(np.float32) * self.scales[rows, np.newaxis]

    def without(self, keys: Collection[str]) -> Self:
        """Return the passages of other documents than these."""
        rows = [row for row, place in enumerate(self.locations) if place.key not in keys]
        places = [self.locations[row] for row in rows]
        return type(self)(places, self.numbers[rows], self.scales[rows], self.codes[rows])

    def plus(self, more: Self) -> Self:
        """Return these passages and others, whose numbers are greater."""
        return type(self)(
            [*self.locations, *more.locations],
            np.concatenate([self.numbers, more.numbers]),
            np.concatenate([self.scales, more.scales]),
            np.concatenate([self.codes, more.codes]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class IndexSnapshot:
    """The passages of one moment, by language. Its methods raise IndexFailed."""

    searcher: Searcher
    schema: Schema
    languages: Mapping[str, PassageTable]

    def search_keywords(self, language: str, question: str, limit: int) -> list[PassageMatch]:
        """Find the passages of a language that have any of a question's words, the best first.

        Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), as tantivy
        reckons it: with k1 = 1.2, b = 0.75 and lengths in 8 bits. What is rare is told among all languages.
        """
        terms = sorted(set(indexed_terms(question, language)))
        query = Query.boolean_query(
            [(Occur.Should, Query.term_query(self.schema, "words", term, "freq")) for term in terms]
        )
        with _as_index_failed():
            hits = self.searcher.search(query, limit, count=False).hits
            numbers = self.searcher.fast_field_values("number", [address for _, address in hits])
        rows = np.searchsorted(self.languages[language].numbers, np.array(numbers, np.int64)).tolist()
        return best_matches(
            (PassageMatch(language, row, score) for row, (score, _) in zip(rows, hits, strict=True)), limit
        )

    def search_vectors(self, language: str, vector: Vectors, limit: int) -> list[PassageMatch]:
        """Find the passages of a language with the nearest vectors; the score is the cosine."""
        passages, ((code,), (scale,)) = self.languages[language], quantize(vector[np.newaxis])
        if passages.codes.shape[1] != len(code):
            raise IndexFailed("index_built_otherwise")
        near = np.asarray(simsimd.cdist(passages.codes, code[np.newaxis], "dot", out_dtype="float32"))[:, 0]
        near *= passages.scales * scale
        rows = _top_rows(near, _OVERSAMPLING * limit)
        cosines = passages.vectors(rows) @ vector
        return best_matches(map(PassageMatch, [language] * len(rows), rows.tolist(), cosines.tolist()), limit)

    def is_rare(self, language: str, words: str) -> bool:
        """Say whether one of the words is in few passages of a language; false where none of them has it."""
        with _as_index_failed():
            counts = [self.searcher.doc_freq("words", term) for term in indexed_terms(words, language)]
        return 0 < min(counts, default=0) <= max(_FEW, _RARE * len(self.languages[language]))


class PassageIndex:
    """An index that is open, in a folder of its own. Its methods block.

    Tantivy commits all of a change or, where it fails or the process is killed, nothing. It maps its files
    into memory: one that is cut off while the index is open ends the process. Whoever opens it again
    compares the checksums of all of its files, and finds that.

    Args:
        path: the folder.
        built_with: what it must have been built with.

    Raises:
        NoIndex: it cannot be used and is to be created.
        IndexFailed: it cannot be read now.
    """

    def __init__(self, path: Path, signature: str) -> None:
        self._path = path
        if not (path / _SIGNATURE_FILE).is_file():
            raise IndexUnusable("no_index")
        with _as_index_failed():
            if (path / _SIGNATURE_FILE).read_text() != signature:
                raise IndexUnusable("index_built_otherwise")
            if not _is_intact(path):
                raise IndexUnusable("index_damaged")
            self._index = Index.open(str(path))
            self._index.config_reader("manual")
            documents = sorted(_stored_documents(self._index), key=lambda each: each[0])
        self._next = documents[-1][0] + len(documents[-1][1].spans) if documents else 0
        self._languages_of = {document.key: document.language for _, document in documents}
        self._contents = {document.key: document.version for _, document in documents}
        self._publish(_by_language(documents))
        self._changing = threading.Lock()

    @classmethod
    def create(cls, path: Path, signature: str) -> Self:
        """Make an empty index in the place of what is there; raises IndexFailed.

        It is made under another name: a process that is killed here leaves no half-made one behind.
        """
        unfinished = path.with_name(f"{path.name}.new")
        with _as_index_failed():
            remove_index(path)
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir(parents=True)
            Index(_schema(), str(unfinished), reuse=False)
            (unfinished / _SIGNATURE_FILE).write_text(signature)
            unfinished.replace(path)
        return cls(path, signature)

    def __len__(self) -> int:
        return len(self._contents)

    @property
    def contents(self) -> dict[str, str]:
        """The version of every document, by key."""
        return dict(self._contents)

    @property
    def exists(self) -> bool:
        """Whether it is still in its folder."""
        return (self._path / "meta.json").exists()

    @property
    def snapshot(self) -> IndexSnapshot:
        """The passages as they are now."""
        return self._snapshot

    def update(self, documents: Sequence[IndexedDocument], removed_keys: Collection[str]) -> None:
        """Put documents in, each in the place of what there is of it, and take others out, in one step.

        Raises IndexFailed: nothing was changed, and the index is to be opened anew.
        """
        with self._changing, _as_index_failed():
            old = {*removed_keys, *(document.key for document in documents)} & self._contents.keys()
            firsts = self._next + np.cumsum([0, *(len(document.spans) for document in documents)])
            numbered = list(zip(firsts.tolist(), documents, strict=False))
            self._write(numbered, old)
            self._index.reload()
            languages = dict(self._snapshot.languages)
            for language in {self._languages_of.pop(key) for key in old}:
                languages[language] = languages[language].without(old)
            for language, more in _by_language(numbered).items():
                known = languages.get(language)
                languages[language] = known.plus(more) if known else more
            self._next = int(firsts[-1])
            for key in old:
                del self._contents[key]
            self._contents |= {document.key: document.version for document in documents}
            self._languages_of |= {document.key: document.language for document in documents}
            self._publish({language: some for language, some in languages.items() if len(some)})

    def _write(self, documents: Iterable[tuple[int, IndexedDocument]], old: Collection[str]) -> None:
        writer = self._index.writer(_HEAP_BYTES, 1)
        try:
            for key in old:
                writer.delete_documents_by_term("document", key)
            for first, document in documents:
                _add(writer, first, document)
            writer.commit()
            writer.wait_merging_threads()
        finally:
            del writer  # it holds the lock of the folder, and an exception would hold it

    def _publish(self, languages: Mapping[str, PassageTable]) -> None:
        self._snapshot = IndexSnapshot(self._index.searcher(), self._index.schema, languages)


def remove_index(path: Path) -> None:
    """Delete the index at ``path``, which can be built again; set aside what is no index.

    A wrong setting may have named somebody's own folder. Raises OSError.
    """
    if path.exists() and not (path / _SIGNATURE_FILE).is_file():
        path.replace(path.with_name(f"{path.name}.set-aside"))
    shutil.rmtree(path, ignore_errors=True)


def best_matches(matches: Iterable[PassageMatch], limit: int) -> list[PassageMatch]:
    """Return so many of the passages, the best first; of equal ones the first."""
    return sorted(matches, key=lambda spot: (-spot.score, spot.row))[:limit]


def _schema() -> Schema:
    builder = SchemaBuilder()
    builder.add_text_field("document", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
    builder.add_unsigned_field("number", fast=True)
    # The first passage of a document has what is known of all.
    builder.add_unsigned_field("first", indexed=True)
    builder.add_bytes_field("about", stored=True)
    builder.add_bytes_field("scales", stored=True)
    builder.add_bytes_field("codes", stored=True)
    return builder.build()


def _add(writer: IndexWriter, first: int, document: IndexedDocument) -> None:
    for number, words in enumerate(document.words, first):
        passage = Document()
        passage.add_text("document", document.key)
        passage.add_text("words", words)
        passage.add_unsigned("number", number)
        if number == first:
            about = (first, document.key, document.version, document.language, document.spans)
            passage.add_unsigned("first", first)
            passage.add_bytes("about", json.dumps(about).encode())
            passage.add_bytes("scales", document.scales.tobytes())
            passage.add_bytes("codes", document.codes.tobytes())
        writer.add_document(passage)


def _stored_documents(index: Index) -> Iterator[tuple[int, IndexedDocument]]:
    searcher = index.searcher()
    query = Query.range_query(index.schema, "first", FieldType.Unsigned, 0, None)
    for _, address in searcher.search(query, max(1, searcher.num_docs), count=False).hits:
        stored = searcher.doc(address)
        about, scales, codes = (stored.get_first(name) for name in ("about", "scales", "codes"))
        first, key, version, language, places = json.loads(about or b"")
        rows = np.frombuffer(codes or b"", np.int8).reshape(len(places), -1)
        known = np.frombuffer(scales or b"", np.float32)
        yield first, IndexedDocument(key, version, language, places, (), known, rows)


def _by_language(documents: Iterable[tuple[int, IndexedDocument]]) -> dict[str, PassageTable]:
    found = defaultdict(list)
    for first, document in documents:
        found[document.language].append((first, document))
    return {language: PassageTable.of(some) for language, some in found.items()}


def _is_intact(path: Path) -> bool:
    """Say whether all files of the last commit are there as they were written."""
    try:
        segments = json.loads((path / "meta.json").read_bytes())["segments"]
    except (ValueError, KeyError, FileNotFoundError):
        return False
    files: list[Path] = []
    for segment in segments:
        name, deletes = segment["segment_id"].replace("-", ""), segment["deletes"]
        files += (path / f"{name}.{kind}" for kind in _SEGMENT_SUFFIXES)
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


def _top_rows(scores: NDArray[np.float32], limit: int) -> Rows:
    """Return the rows with the highest scores, in order of the rows."""
    if limit >= len(scores):
        return np.arange(len(scores))
    return np.sort(np.argpartition(scores, -limit)[-limit:])


@contextmanager
def _as_index_failed() -> Iterator[None]:
    try:
        yield
    except (ValueError, OSError) as error:
        raise IndexFailed(_reason(error)) from error
    except BaseException as error:
        # What Rust did not expect; its class can be imported from nowhere.
        if type(error).__name__ != "PanicException":
            raise
        raise IndexFailed("index_damaged") from error


def _reason(error: Exception) -> str:
    """Name an error of the operating system, which tantivy tells of in words, or where else it came up."""
    found = _OS_ERROR.search(str(error))
    if isinstance(error, OSError) or not found:
        return loggable_reason(error)
    number = int(found[1])
    return f"{errno.errorcode.get(number, number)} ({os.strerror(number)})"
