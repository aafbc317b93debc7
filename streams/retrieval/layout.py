"""What the index looks like: its table, and what it was built with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from scoring.language import stated_language
from streams.retrieval.chunks import Chunk
from streams.retrieval.embedding import Vectors
from streams.retrieval.indexed import LAYOUT_VERSION, IndexedDocument
from streams.retrieval.languages import STEMMERS
from streams.settings import RetrievalSettings

#: The column of chunks in languages that have no stemmer.
_OTHER = "other"
_BUILT_WITH = b"truthgate"


@dataclass(frozen=True, slots=True)
class BuiltWith:
    """What an index depends on; one that was built with anything else is built anew."""

    embedder: str
    dimensions: int
    chunk_characters: int
    overlap_characters: int

    @classmethod
    def of(cls, settings: RetrievalSettings, embedder: str, dimensions: int) -> BuiltWith:
        """Return what an index for these settings has to be built with."""
        return cls(embedder, dimensions, settings.chunk_characters, settings.overlap_characters)

    def described(self) -> str:
        """Return it as one line, which the table carries."""
        parts = (
            LAYOUT_VERSION,
            self.embedder,
            self.dimensions,
            self.chunk_characters,
            self.overlap_characters,
        )
        return " | ".join(map(str, parts))


def keyword_columns() -> Mapping[str, str | None]:
    """Return the columns of the keyword search: by name, the language of the stemmer, as LanceDB names it.

    A chunk's words stand in the column of its language alone. So each language has statistics of its
    own: what is rare in one need not be in another.
    """
    return {f"words_{code}": name.title() for code, name in STEMMERS.items()} | {f"words_{_OTHER}": None}


def keyword_column(language: str) -> str:
    """Return the column that has the words of chunks in a language."""
    return f"words_{language if language in STEMMERS else _OTHER}"


def schema(built_with: BuiltWith) -> pa.Schema:
    """Return the table's columns, and with them what they depend on."""
    vector = pa.list_(pa.float32(), built_with.dimensions)
    fields = [
        pa.field("chunk_id", pa.string(), nullable=False),
        *(pa.field(name, pa.string()) for name in ("document_id", "version", "language", "title", "text")),
        pa.field("start", pa.int32()),
        pa.field("end", pa.int32()),
        *(pa.field(name, pa.string()) for name in keyword_columns()),
        pa.field("vector", vector),
    ]
    return pa.schema(fields, metadata={_BUILT_WITH: built_with.described().encode()})


def described_in(table_schema: pa.Schema) -> str | None:
    """Return what a table says that it was built with; None where it says nothing."""
    found = (table_schema.metadata or {}).get(_BUILT_WITH)
    return found.decode("utf-8", "replace") if found else None


def embedded_text(title: str, text: str) -> str:
    """Return what is searched of a chunk: a title often has the words that its chunks do not repeat."""
    return f"{title}\n\n{text}" if title and not text.lstrip("# ").startswith(title) else text


def rows(
    documents: Sequence[tuple[IndexedDocument, Sequence[Chunk]]], vectors: Vectors, built_with: BuiltWith
) -> pa.Table:
    """Return the rows of documents; ``vectors`` has one row for each of their chunks, in order."""
    records = [record for document, chunks in documents for record in _records(document, chunks)]
    listed = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), built_with.dimensions)
    table_schema = schema(built_with)
    columns = [
        pa.array([record.get(name) for record in records], table_schema.field(name).type)
        for name in table_schema.names
        if name != "vector"
    ]
    return pa.table([*columns, listed], schema=table_schema)


def _records(document: IndexedDocument, chunks: Sequence[Chunk]) -> Iterator[dict[str, object]]:
    language = stated_language(document.language) or ""
    for number, chunk in enumerate(chunks):
        yield {
            "chunk_id": f"{number} {language} {document.document_id}",
            "document_id": document.document_id,
            "version": document.version,
            "language": language,
            "title": document.title,
            "text": chunk.text,
            "start": chunk.start,
            "end": chunk.end,
            keyword_column(language): embedded_text(document.title, chunk.text),
        }
