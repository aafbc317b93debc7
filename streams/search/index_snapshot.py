"""A snapshot of the index for searches: terms in tantivy, and vectors, which are all compared."""

import errno
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import simsimd
from numpy.typing import NDArray
from tantivy import Occur, Query, Schema, Searcher

from streams.observability.failures import loggable_reason
from streams.search.embedders import Vectors
from streams.search.passages import stemmed_terms
from streams.search.types import IndexFailed

#: A word in at most so many passages, or this share of them, is rare: a product's own name is in more.
_FEW, _RARE = 3, 0.05
#: The candidates of the search in 8 bits, for each passage asked for; the full question vector ranks them.
_OVERSAMPLING = 2
_LARGEST_CODE = 127
_OS_ERROR = re.compile(r"(?:os error |code: )(\d+)")

Rows = NDArray[np.integer[Any]]
#: The language of a passage, and its row in the table of that language.
PassageKey = tuple[str, int]


class PassageLocation(NamedTuple):
    """Where the text of a passage is: the version of a document, and the span in its text."""

    key: str
    version: str
    start: int
    end: int


class PassageMatch(NamedTuple):
    """A passage that was found, and its score; higher is better."""

    key: PassageKey
    score: float


class PassageTable(NamedTuple):
    """Passages of one language, one a row, ordered by their numbers in tantivy.

    ``codes`` are the vectors in 8 bits, to be multiplied by ``scales``: with 512 dimensions a cosine is off
    by 0.001 at most (measured).
    """

    locations: Sequence[PassageLocation]
    numbers: NDArray[np.int64]
    scales: NDArray[np.float32]
    codes: NDArray[np.int8]

    def vectors(self, rows: Rows) -> Vectors:
        """Return the vectors of some passages, to within the 8 bits."""
        return self.codes[rows].astype(np.float32) * self.scales[rows, np.newaxis]

    def without(self, keys: Collection[str]) -> "PassageTable":
        """Return the passages of other documents than these."""
        rows = [row for row, location in enumerate(self.locations) if location.key not in keys]
        if len(rows) == len(self.locations):
            return self
        locations = [self.locations[row] for row in rows]
        return PassageTable(locations, self.numbers[rows], self.scales[rows], self.codes[rows])


@dataclass(frozen=True, slots=True, eq=False)
class IndexSnapshot:
    """The passages of one moment, by language. Its methods raise IndexFailed."""

    searcher: Searcher
    schema: Schema
    languages: Mapping[str, PassageTable]

    def search_keywords(self, language: str, question: str, limit: int) -> list[PassageMatch]:
        """Find the passages of a language that have any of a question's words, the best first.

        Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), as tantivy
        computes it: with k1 = 1.2, b = 0.75, lengths in 8 bits, and document frequencies over all languages.
        """
        terms = sorted(set(index_terms(question, language)))
        query = Query.boolean_query(
            [(Occur.Should, Query.term_query(self.schema, "words", term, "freq")) for term in terms]
        )
        with as_index_failed():
            hits = self.searcher.search(query, limit, count=False).hits
            numbers = self.searcher.fast_field_values("number", [address for _, address in hits])
        rows = np.searchsorted(self.languages[language].numbers, np.array(numbers, np.int64)).tolist()
        return best_matches(
            (PassageMatch((language, row), score) for row, (score, _) in zip(rows, hits, strict=True)), limit
        )

    def search_vectors(self, language: str, vector: Vectors, limit: int) -> list[PassageMatch]:
        """Find the passages of a language with the nearest vectors; the score is the cosine."""
        table, (codes, scales) = self.languages[language], quantize(vector[np.newaxis])
        if table.codes.shape[1] != codes.shape[1]:
            raise IndexFailed("index_built_otherwise")
        near = np.asarray(simsimd.cdist(table.codes, codes, "dot", out_dtype="float32"))[:, 0]
        near *= table.scales * scales
        rows = np.arange(len(near))
        if (candidates := _OVERSAMPLING * limit) < len(near):
            rows = np.sort(np.argpartition(near, -candidates)[-candidates:])
        cosines = table.vectors(rows) @ vector
        matches = zip(rows.tolist(), cosines.tolist(), strict=True)
        return best_matches((PassageMatch((language, row), cosine) for row, cosine in matches), limit)

    def is_rare(self, language: str, words: str) -> bool:
        """Return whether one of the words is in few passages of a language; False where it is in none."""
        with as_index_failed():
            counts = [self.searcher.doc_freq("words", term) for term in index_terms(words, language)]
        return 0 < min(counts, default=0) <= max(_FEW, _RARE * len(self.languages[language].locations))

    def location(self, key: PassageKey) -> PassageLocation:
        """Return where the text of a passage is."""
        language, row = key
        return self.languages[language].locations[row]

    def vector(self, key: PassageKey) -> Vectors:
        """Return the vector of a passage."""
        language, row = key
        vector: Vectors = self.languages[language].vectors(np.array([row]))[0]
        return vector


def best_matches(matches: Iterable[PassageMatch], limit: int) -> list[PassageMatch]:
    """Return the passages with the highest scores, the best first; of equal ones the first."""
    return sorted(matches, key=lambda match: (-match.score, match.key[1]))[:limit]


def index_terms(text: str, language: str) -> list[str]:
    """Return the terms of a text as the index has them: those of two languages are never the same."""
    return [f"{language}:{term}" for term in stemmed_terms(text, language)]


def quantize(vectors: Vectors) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return the rows in 8 bits, and what each is to be multiplied by."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    scales = np.where(largest > 0, largest, 1) / _LARGEST_CODE
    return np.round(vectors / scales).astype(np.int8), scales[:, 0].astype(np.float32)


@contextmanager
def as_index_failed() -> Iterator[None]:
    """Raise IndexFailed for an error of tantivy or the operating system."""
    try:
        yield
    except (ValueError, OSError) as error:
        # Tantivy quotes an error of the operating system in its message.
        found = None if isinstance(error, OSError) else _OS_ERROR.search(str(error))
        if found is None:
            raise IndexFailed(loggable_reason(error)) from error
        number = int(found[1])
        raise IndexFailed(f"{errno.errorcode.get(number, number)} ({os.strerror(number)})") from error
    except BaseException as error:
        # A panic in Rust, whose class cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        raise IndexFailed("index_damaged") from error
