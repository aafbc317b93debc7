"""The search: by words and by vectors, fused, and the most diverse of the best."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from scoring.lexicon import Lexicon
from streams.retrieval.diversity import choose_diverse
from streams.retrieval.embedding import Embedder, Vectors
from streams.retrieval.fusion import fuse
from streams.retrieval.index import ChunkIndex, Found
from streams.retrieval.layout import keyword_column
from streams.retrieval.relevance import Relevance
from streams.retrieval.types import Hit, Retrieved
from streams.settings import RetrievalSettings

Key = tuple[str, str, int]
_LEAST_SECONDS = 0.01
#: Characters of a question that are searched for: 100,000 take ten seconds, whatever the time limit.
_LONGEST = 4_096


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, its language and vector, the languages of the documents, and until when it may take."""

    question: str
    language: str | None
    vector: Vectors
    languages: frozenset[str]
    deadline: float

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return max(self.deadline - time.monotonic(), _LEAST_SECONDS)


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Where the chunks came in the two searches, counted from 1, and the words' scores."""

    chunks: dict[Key, Found]
    words: dict[Key, tuple[int, float]]
    vectors: dict[Key, int]
    fused: dict[Key, float]


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
            Exception: what LanceDB raises, such as TimeoutError after ``seconds``.
        """
        deadline = time.monotonic() + seconds
        question = question[:_LONGEST]
        if not question.strip():
            return Retrieved((), sufficient=False)
        vector = self._embedder.embed_query(question)
        self._index.refresh()
        languages = self._index.languages()
        asked = _Asked(question, language, vector, languages, deadline)
        if language not in languages or len(languages) == 1:
            return self._in(None, asked)
        own = self._in(language, asked)
        if own.sufficient:
            return own
        every = self._in(None, asked)
        return every if every.sufficient else own

    def _in(self, only: str | None, asked: _Asked) -> Retrieved:
        ranked = self._ranked(only, asked)
        # A page that has nothing but a title says nothing, however much the title is like the question.
        says_something = (key for key in ranked.fused if ranked.chunks[key].text.strip())
        best = list(islice(says_something, self._settings.candidates))
        hits = tuple(_hit(ranked, key, asked.vector) for key in self._diverse(ranked, best))
        relevance = max((self._relevance(asked.question, asked.language, hit) for hit in hits), default=None)
        return Retrieved(hits, relevance is not None and relevance >= self._floor, relevance)

    def _ranked(self, only: str | None, asked: _Asked) -> _Ranked:
        by_words = self._by_words(only, asked)
        by_vector: list[Found] = []
        if self._vector_weight:
            depth = self._settings.candidates
            by_vector = self._index.search_vectors(asked.vector, only, depth, asked.left)
        weighted = [*by_words, (self._vector_weight, by_vector)]
        return _Ranked(
            chunks={found.key: found for _, one in weighted for found in one},
            words={
                found.key: (rank, found.score) for _, one in by_words for rank, found in enumerate(one, 1)
            },
            vectors={found.key: rank for rank, found in enumerate(by_vector, 1)},
            fused=fuse(
                ((weight, [found.key for found in one]) for weight, one in weighted), self._settings.rrf_k
            ),
        )

    def _by_words(self, only: str | None, asked: _Asked) -> list[tuple[float, list[Found]]]:
        settings = self._settings
        if not settings.keyword_weight:
            return []
        lists = self._index.search_words(
            asked.question, asked.languages, only, settings.candidates, asked.left
        )
        own = None if asked.language is None else keyword_column(asked.language)
        weights = {True: settings.keyword_weight, False: settings.foreign_keyword_weight}
        weighted = [(weights[own in {None, column}], found) for column, found in lists.items()]
        return [(weight, found) for weight, found in weighted if weight]

    def _diverse(self, ranked: _Ranked, best: Sequence[Key]) -> list[Key]:
        if not best:
            return []
        scores = np.array([ranked.fused[key] for key in best])
        vectors = np.stack([ranked.chunks[key].vector for key in best])
        settings = self._settings
        chosen = choose_diverse(scores / scores.max(), vectors, settings.passages, settings.relevance_weight)
        return [best[index] for index in sorted(chosen)]


def _hit(ranked: _Ranked, key: Key, vector: Vectors) -> Hit:
    found = ranked.chunks[key]
    rank, score = ranked.words.get(key, (None, None))
    return Hit(
        document_id=found.document_id,
        version=found.version,
        language=found.language,
        title=found.title,
        text=found.text,
        start=found.start,
        end=found.end,
        score=ranked.fused[key],
        similarity=float(np.clip(found.vector @ vector, -1, 1)),
        keyword_rank=rank,
        keyword_score=score,
        vector_rank=ranked.vectors.get(key),
    )
