"""The search: by words and by vectors, fused, and the most diverse of the best."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice

import numpy as np

from schemas import KnowledgeDocument
from scoring.lexicon import Lexicon
from streams.search.chunks import whole
from streams.search.embedder import Embedder, Vectors, only
from streams.search.index import Place, Snapshot, Spot, best
from streams.search.relevance import Relevance, choose_diverse, fuse
from streams.search.types import Hit, Retrieved
from streams.search.words import STEMMERS
from streams.settings import RetrievalSettings

#: Gives a version of a document by its key and name, None where it is not kept.
Documents = Callable[[str, str], KnowledgeDocument | None]

Key = tuple[str, int]
#: Characters of a question that are searched for.
_LONGEST = 4_096


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, its language and vector, what is searched, and what each search finds in a language."""

    question: str
    language: str | None
    vector: Vectors
    passages: Snapshot
    by_words: Callable[[str], Sequence[Spot]]
    by_vector: Callable[[str], Sequence[Spot]]


@dataclass(frozen=True, slots=True)
class _Ranked:
    """Where the passages came in the two searches, counted from 1, and the words' scores."""

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
        passages: gives what is searched, as it is now.
        documents: gives the texts of it.
        embedder: the one that the index was built with.
        settings: how many, and how they are chosen.
        lexicons: of the languages whose words tell relevance too.
    """

    def __init__(
        self,
        passages: Callable[[], Snapshot],
        documents: Documents,
        embedder: Embedder,
        settings: RetrievalSettings,
        lexicons: Mapping[str, Lexicon],
    ) -> None:
        self._passages = passages
        self._documents = documents
        self._embedder = embedder
        self._settings = settings
        self._floor = embedder.floor if settings.floor is None else settings.floor
        self._relevance = Relevance(lexicons, embedder.word_weight)
        self._vector_weight = embedder.weight if settings.vector_weight is None else settings.vector_weight

    def __call__(self, question: str, language: str | None) -> Retrieved:
        """Find the passages for a question.

        Raises:
            EmbeddingFailed: the question's vector cannot be had.
            IndexFailed: the index cannot be read.
            StoreFailed: the texts cannot be read.
        """
        question = whole(question[:_LONGEST])
        if not question.strip():
            return Retrieved((), sufficient=False)
        asked = self._asked(question, language, self._embedder.embed_query(question))
        languages = asked.passages.languages
        if language is None or language not in languages or len(languages) == 1:
            return self._in(languages, asked)
        own = self._in((language,), asked)
        if own.sufficient:
            return own
        every = self._in(languages, asked)
        return every if every.sufficient else own

    def _asked(self, question: str, language: str | None, vector: Vectors) -> _Asked:
        depth, passages = self._settings.candidates, self._passages()

        # The own language may be searched a second time, among all.
        @cache
        def words(code: str) -> Sequence[Spot]:
            return passages.by_words(code, question, depth)

        @cache
        def near(code: str) -> Sequence[Spot]:
            return passages.by_vector(code, vector, depth)

        return _Asked(question, language, vector, passages, words, near)

    def _in(self, languages: Collection[str], asked: _Asked) -> Retrieved:
        ranked = self._ranked(languages, asked)
        says_something = (key for key in ranked.fused if _is_text(_place(asked, key)))
        keys = list(islice(says_something, self._settings.candidates))
        hits = tuple(
            self._relevance(asked.question, asked.language, hit, asked.passages.is_rare)
            for key in self._diverse(asked.passages, ranked, keys)
            if (hit := self._hit(asked, ranked, key))
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

    def _diverse(self, passages: Snapshot, ranked: _Ranked, keys: Sequence[Key]) -> list[Key]:
        if not keys:
            return []
        scores = np.array([ranked.fused[key] for key in keys])
        vectors = np.stack([_vector(passages, key) for key in keys])
        settings = self._settings
        chosen = choose_diverse(scores / scores.max(), vectors, settings.passages, settings.relevance_weight)
        return [keys[index] for index in sorted(chosen)]

    def _hit(self, asked: _Asked, ranked: _Ranked, key: Key) -> Hit | None:
        place = _place(asked, key)
        # Of a version that was replaced long before the index was told of it there may be no text any more.
        if (document := self._documents(place.key, place.version)) is None:
            return None
        rank, score = ranked.words.get(key, (None, None))
        return Hit(
            document_id=document.document_id,
            version=place.version,
            language=key[0],
            title=whole(document.title),
            text=whole(document.text)[place.start : place.end],
            start=place.start,
            end=place.end,
            score=ranked.fused[key],
            similarity=float(np.clip(_vector(asked.passages, key) @ asked.vector, -1, 1)),
            keyword_rank=rank,
            keyword_score=score,
            vector_rank=ranked.vectors.get(key),
        )


def _stemmed_as(language: str) -> str:
    # Words of languages without a stemmer are compared as they are, so one may find another's.
    return language if language in STEMMERS else ""


def _place(asked: _Asked, key: Key) -> Place:
    language, row = key
    return asked.passages.languages[language].places[row]


def _is_text(place: Place) -> bool:
    return place.start < place.end


def _vector(passages: Snapshot, key: Key) -> Vectors:
    language, row = key
    return only(passages.languages[language].vectors(np.array([row])))
