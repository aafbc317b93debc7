"""A part of the index in memory: chunks of one language, with their words and vectors, to be searched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import simsimd
from numpy.typing import NDArray

from streams.retrieval.embedder import Vectors, only
from streams.retrieval.index_file import Read
from streams.retrieval.indexed import quantised

#: Chunks of a block: their places fit in two bytes, and nobody waits longer for Python's lock than one takes.
LARGEST = 65_536
#: BM25's usual: how soon a word that is repeated counts no more, and how much length counts.
_K1, _B = 1.2, 0.75
#: A word is rare that is in so few chunks, or in this share of them: a product's own name is in more.
_FEW, _RARE = 3, 0.05
_PLACE_COLUMNS = 4
#: A word's number, its chunk's row and how often it is there, in one number that can be sorted.
_ROW_BITS, _COUNT_BITS = 24, 8
_ROW_MASK = np.uint64(2**_ROW_BITS - 1)
#: Of so many more than are asked for, by 8 bits, those nearest by the question's full vector are taken.
_MORE = 2

Numbers = NDArray[np.integer[Any]]


class Spot(NamedTuple):
    """A chunk that was found, and its score in the search that found it, where higher is better."""

    block: Block
    row: int
    score: float

    @property
    def key(self) -> tuple[int, int]:
        """What tells chunks apart: the document's number, and where the chunk starts in it."""
        return int(self.block.numbers[self.row]), int(self.block.places[self.row, 0])

    @property
    def end(self) -> int:
        """Where the chunk ends."""
        return int(self.block.places[self.row, 1])

    @property
    def vector(self) -> Vectors:
        """The chunk's vector, to within what 8 bits can tell."""
        return only(self.block.vectors(np.array([self.row])))


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """Where words are: that of ``terms[i]`` is in ``rows[starts[i] : starts[i + 1]]``, ``counts`` times."""

    terms: NDArray[np.uint32]
    starts: NDArray[np.int64]
    rows: Numbers
    counts: NDArray[np.uint8]

    @classmethod
    def of(cls, terms: Numbers, rows: Numbers, counts: Numbers, largest: int) -> Postings:
        """Sort what is known of each chunk's words by word; no row is greater than ``largest``."""
        packed = terms.astype(np.uint64) << np.uint64(_ROW_BITS + _COUNT_BITS)
        packed |= rows.astype(np.uint64) << np.uint64(_COUNT_BITS)
        packed |= counts.astype(np.uint64)
        packed.sort()
        sorted_terms = (packed >> np.uint64(_ROW_BITS + _COUNT_BITS)).astype(np.uint32)
        starts = np.flatnonzero(np.diff(sorted_terms, prepend=~sorted_terms[:1]))
        return cls(
            sorted_terms[starts],
            np.append(starts, len(packed)),
            (packed >> np.uint64(_COUNT_BITS) & np.uint64(2**_ROW_BITS - 1)).astype(
                np.min_scalar_type(largest)
            ),
            packed.astype(np.uint8),
        )

    def find(self, terms: NDArray[np.uint32]) -> list[slice]:
        """Return where the rows of each word are."""
        if not len(self.terms):
            return [slice(0, 0)] * len(terms)
        at = np.minimum(np.searchsorted(self.terms, terms), len(self.terms) - 1)
        ends = np.where(self.terms[at] == terms, self.starts[at + 1], self.starts[at])
        return [slice(start, end) for start, end in zip(self.starts[at].tolist(), ends.tolist(), strict=True)]

    def spread(self) -> Numbers:
        """Return the word of each row."""
        return np.repeat(self.terms, np.diff(self.starts))


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Chunks, one a row of each array; those of documents that are gone are not ``alive``."""

    numbers: NDArray[np.int64]
    places: NDArray[np.int32]
    scales: NDArray[np.float32]
    codes: NDArray[np.int8]
    alive: NDArray[np.bool_]
    postings: Postings

    @classmethod
    def of(cls, documents: Sequence[Read]) -> Block:
        """Return the chunks of documents, of which there is one at least."""
        chunks = [document.chunks for document in documents]
        places = np.frombuffer(b"".join(one.places for one in chunks), np.int32).reshape(-1, _PLACE_COLUMNS)
        terms = np.frombuffer(b"".join(one.terms for one in chunks), np.uint32)
        counts = np.frombuffer(b"".join(one.counts for one in chunks), np.uint8)
        scales = np.frombuffer(b"".join(one.scales for one in chunks), np.float32)
        codes = np.frombuffer(b"".join(one.codes for one in chunks), np.int8)
        sizes = [len(one.places) // (_PLACE_COLUMNS * places.itemsize) for one in chunks]
        count, widths = len(places), places[:, 3]
        return cls(
            np.repeat(np.array([document.number for document in documents], np.int64), sizes),
            places,
            scales,
            codes.reshape(count, -1),
            np.ones(count, dtype=bool),
            Postings.of(terms, np.repeat(np.arange(count), widths), counts, count - 1),
        )

    def __len__(self) -> int:
        return len(self.numbers)

    def vectors(self, rows: Numbers) -> Vectors:
        """Return the vectors of some chunks."""
        return self.codes[rows].astype(np.float32) * self.scales[rows, np.newaxis]

    def only(self, numbers: Numbers) -> Block:
        """Return the block with the chunks of these documents alive."""
        return replace(self, alive=np.isin(self.numbers, numbers))


def merged(blocks: Sequence[Block]) -> Block:
    """Return one block with the chunks of several that are alive."""
    alive = np.concatenate([block.alive for block in blocks])
    moved = np.cumsum(alive) - 1
    shifts = np.cumsum([0, *map(len, blocks)])
    rows = np.concatenate(
        [block.postings.rows + shift for block, shift in zip(blocks, shifts[:-1], strict=True)]
    )
    kept = alive[rows]
    terms = np.concatenate([block.postings.spread() for block in blocks])
    counts = np.concatenate([block.postings.counts for block in blocks])
    return Block(
        np.concatenate([block.numbers for block in blocks])[alive],
        np.concatenate([block.places for block in blocks])[alive],
        np.concatenate([block.scales for block in blocks])[alive],
        np.concatenate([block.codes for block in blocks])[alive],
        alive[alive],
        Postings.of(terms[kept], moved[rows[kept]], counts[kept], len(alive)),
    )


def by_words(blocks: Sequence[Block], words: Iterable[int], limit: int) -> list[Spot]:
    """Find chunks by words.

    Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
    weight of a word that Lucene takes, which is never below 0.

    Args:
        blocks: of one language, so that what is rare is told within it.
        words: their numbers.
        limit: how many to find at most.

    Returns:
        The chunks that have any of the words, the best first.
    """
    terms = np.unique(np.fromiter(words, np.uint32))
    found = [block.postings.find(terms) for block in blocks]
    count = sum(len(block) for block in blocks)
    if not len(terms) or not count:
        return []
    frequencies = np.array([[place.stop - place.start for place in places] for places in found]).sum(axis=0)
    weights = np.log1p((count - frequencies + 0.5) / (frequencies + 0.5)) * (_K1 + 1)
    mean = sum(float(block.places[:, 2].sum()) for block in blocks) / count or 1.0
    spots: list[Spot] = []
    for block, places in zip(blocks, found, strict=True):
        scores = np.zeros(len(block), np.float32)
        lengths = (_K1 * (1 - _B) + _K1 * _B / mean * block.places[:, 2]).astype(np.float32)
        for weight, place in zip(weights.astype(np.float32), places, strict=True):
            rows, counts = block.postings.rows[place], block.postings.counts[place].astype(np.float32)
            scores[rows] += weight * counts / (counts + lengths[rows])
        scores *= block.alive
        rows = _highest(scores, limit)
        rows = rows[scores[rows] > 0]
        spots += map(Spot, repeat(block), rows.tolist(), scores[rows].tolist())
    return best(spots, limit)


def is_rare(blocks: Sequence[Block], words: Iterable[int]) -> bool:
    """Say whether one of the words is in few of the chunks; false where none of them has it."""
    terms = np.unique(np.fromiter(words, np.uint32))
    counts = np.zeros(len(terms), np.int64)
    for block in blocks:
        counts += [place.stop - place.start for place in block.postings.find(terms)]
    rarest = int(min(counts, default=0))
    return 0 < rarest <= max(_FEW, _RARE * sum(map(len, blocks)))


def by_vector(blocks: Sequence[Block], vector: Vectors, limit: int) -> list[Spot]:
    """Find the chunks with the nearest vectors; the score is the cosine. All are looked at."""
    (code,), (scale,) = quantised(vector[np.newaxis])
    spots: list[Spot] = []
    for block in blocks:
        near = np.asarray(simsimd.cdist(block.codes, code[np.newaxis], "dot", out_dtype="float32"))[:, 0]
        rows = _highest(np.where(block.alive, near * (block.scales * scale), -np.inf), _MORE * limit)
        rows = rows[block.alive[rows]]
        cosines = block.vectors(rows) @ vector
        nearest = np.argsort(-cosines, kind="stable")[:limit]
        spots += map(Spot, repeat(block), rows[nearest].tolist(), cosines[nearest].tolist())
    return best(spots, limit)


def best(spots: Iterable[Spot], limit: int) -> list[Spot]:
    """Return so many of the chunks, the best first; of equal ones the first."""
    return sorted(spots, key=lambda spot: -spot.score)[:limit]


def _highest(scores: NDArray[np.float32], limit: int) -> Numbers:
    """Return the rows with the highest scores, in order of the rows."""
    if limit >= len(scores):
        return np.arange(len(scores))
    return np.sort(np.argpartition(-scores, limit)[:limit])
