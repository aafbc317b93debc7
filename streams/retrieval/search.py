"""The search: by words and by vectors, fused, and the most diverse of the best."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice

import numpy as np

from scoring.lexicon import Lexicon
from streams.retrieval.block import Spot, best, by_vector, by_words, is_rare
from streams.retrieval.embedder import Embedder, Vectors
from streams.retrieval.index import Blocks, ChunkIndex
from streams.retrieval.index_file import DamagedIndex
from streams.retrieval.indexed import IndexedDocument
from streams.retrieval.ranking import choose_diverse, fuse
from streams.retrieval.relevance import Relevance
from streams.retrieval.types import Hit, Retrieved
from streams.retrieval.words import STEMMERS, terms_of
from streams.settings import RetrievalSettings

Key = tuple[int, int]
#: Characters of a question that are searched for.
_LONGEST = 4_096
#: The index is written every few seconds, and a search takes some milliseconds.
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, its language and vector, and what each of the two searches finds in a language.

    ``is_rare`` says whether a name is in few passages of a language.
    """

    question: str
    language: str | None
    vector: Vectors
    by_words: Callable[[str], Sequence[Spot]]
    by_vector: Callable[[str], Sequence[Spot]]
    is_rare: Callable[[str, str], bool]


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Where the chunks came in the two searches, counted from 1, and the words' scores."""

    spots: dict[Key, Spot]
    words: dict[Key, tuple[int, float]]
    vectors: dict[Key, int]
    fused: dict[Key, float]


class _Changed(Exception):
    """A document that was found has just been replaced or taken out: what replaces it may be better."""


class Search:
    """Finds passages for questions, by keywords (BM25) and vectors together.

    The two are what the paper's chatbot searches with (section II). The 20 best of their fused
    ranking and the 5 most diverse of these follow the thesis on factuality, section 4.2.3.

    A question is searched for in the documents of its own language first, where there are any: a
    passage in another language cannot be compared word by word with the answer, and of a document that
    exists in both the own one serves better. Where these have nothing that is relevant enough, all
    languages are searched, and the better outcome counts.

    Args:
        index: what is searched.
        embedder: the one that the index was built with.
        settings: how many, and how they are chosen.
        lexicons: of the languages whose words tell relevance too.
    """

    def __init__(
        self,
        index: ChunkIndex,
        embedder: Embedder,
        settings: RetrievalSettings,
        lexicons: Mapping[str, Lexicon],
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._settings = settings
        self._floor = embedder.floor if settings.floor is None else settings.floor
        self._relevance = Relevance(lexicons, embedder.word_weight)
        self._vector_weight = embedder.weight if settings.vector_weight is None else settings.vector_weight

    def __call__(self, question: str, language: str | None, seconds: float) -> Retrieved:
        """Find the passages for a question.

        Raises:
            EmbeddingFailed: the question's vector cannot be had.
            TimeoutError: it took longer than ``seconds``.
            Exception: what the index raises.
        """
        deadline = time.monotonic() + seconds
        question = question[:_LONGEST]
        if not question.strip():
            return Retrieved((), sufficient=False)
        vector = self._embedder.embed_query(question)
        for _ in range(_ATTEMPTS):
            if time.monotonic() > deadline:
                raise TimeoutError
            with suppress(_Changed):
                return self._found(question, language, vector)
        raise DamagedIndex("index_damaged")

    def _found(self, question: str, language: str | None, vector: Vectors) -> Retrieved:
        blocks = self._index.refresh()
        asked = self._asked(question, language, vector, blocks)
        if language is None or language not in blocks or len(blocks) == 1:
            return self._in(blocks, asked)
        own = self._in((language,), asked)
        if own.sufficient:
            return own
        every = self._in(blocks, asked)
        return every if every.sufficient else own

    def _asked(self, question: str, language: str | None, vector: Vectors, blocks: Blocks) -> _Asked:
        depth = self._settings.candidates

        # The own language may be searched a second time, among all.
        @cache
        def words(code: str) -> Sequence[Spot]:
            return by_words(blocks[code], terms_of(question, code), depth)

        @cache
        def near(code: str) -> Sequence[Spot]:
            return by_vector(blocks[code], vector, depth)

        def rare(name: str, code: str) -> bool:
            return is_rare(blocks[code], terms_of(name, code))

        return _Asked(question, language, vector, words, near, rare)

    def _in(self, languages: Collection[str], asked: _Asked) -> Retrieved:
        ranked = self._ranked(languages, asked)
        documents = self._index.documents(number for number, _ in ranked.fused)
        if any(number not in documents for number, _ in ranked.fused):
            raise _Changed
        # A page that has nothing but a title says nothing, however much the title is like the question.
        says_something = (key for key in ranked.fused if _text(ranked.spots[key], documents).strip())
        keys = list(islice(says_something, self._settings.candidates))
        hits = tuple(
            self._relevance(
                asked.question,
                asked.language,
                _hit(ranked, key, documents[key[0]], asked.vector),
                asked.is_rare,
            )
            for key in self._diverse(ranked, keys)
        )
        relevance = max((hit.relevance for hit in hits), default=None)
        sufficient = relevance is not None and relevance >= self._floor
        return Retrieved(hits, sufficient, relevance, self._floor)

    def _ranked(self, languages: Collection[str], asked: _Asked) -> _Ranked:
        depth = self._settings.candidates
        by_words = list(self._by_words(languages, asked))
        by_vector = best(chain(*map(asked.by_vector, languages)), depth) if self._vector_weight else []
        weighted = [*by_words, (self._vector_weight, by_vector)]
        return _Ranked(
            spots={spot.key: spot for _, one in weighted for spot in one},
            words={spot.key: (rank, spot.score) for _, one in by_words for rank, spot in enumerate(one, 1)},
            vectors={spot.key: rank for rank, spot in enumerate(by_vector, 1)},
            fused=fuse(
                ((weight, [spot.key for spot in one]) for weight, one in weighted), self._settings.rrf_k
            ),
        )

    def _by_words(self, languages: Iterable[str], asked: _Asked) -> Iterator[tuple[float, list[Spot]]]:
        own = None if asked.language is None else _stemmed_as(asked.language)
        groups: dict[str, list[str]] = {}
        for language in languages:
            groups.setdefault(_stemmed_as(language), []).append(language)
        settings = self._settings
        for group, some in groups.items():
            weight = settings.keyword_weight if own in {None, group} else settings.foreign_keyword_weight
            if weight:
                yield weight, best(chain(*map(asked.by_words, some)), settings.candidates)

    def _diverse(self, ranked: _Ranked, keys: Sequence[Key]) -> list[Key]:
        if not keys:
            return []
        scores = np.array([ranked.fused[key] for key in keys])
        vectors = np.stack([ranked.spots[key].vector for key in keys])
        settings = self._settings
        chosen = choose_diverse(scores / scores.max(), vectors, settings.passages, settings.relevance_weight)
        return [keys[index] for index in sorted(chosen)]


def _stemmed_as(language: str) -> str:
    # Words of languages without a stemmer are compared as they are, so one may find another's.
    return language if language in STEMMERS else ""


def _text(spot: Spot, documents: Mapping[int, IndexedDocument]) -> str:
    number, start = spot.key
    return documents[number].text[start : spot.end]


def _hit(ranked: _Ranked, key: Key, document: IndexedDocument, vector: Vectors) -> Hit:
    spot = ranked.spots[key]
    rank, score = ranked.words.get(key, (None, None))
    return Hit(
        document_id=document.document_id,
        version=document.version,
        language=document.language,
        title=document.title,
        text=document.text[key[1] : spot.end],
        start=key[1],
        end=spot.end,
        score=ranked.fused[key],
        similarity=float(np.clip(spot.vector @ vector, -1, 1)),
        keyword_rank=rank,
        keyword_score=score,
        vector_rank=ranked.vectors.get(key),
    )
