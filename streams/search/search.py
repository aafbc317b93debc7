"""The search: by words and by vectors, fused, and the most diverse of the best."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice

import numpy as np

from schemas import KnowledgeDocument
from scoring.lexicon import Lexicon
from streams.search.chunks import replace_surrogates
from streams.search.embedder import Embedder, Vectors, single_row
from streams.search.index import IndexSnapshot, PassageLocation, PassageMatch, best_matches
from streams.search.relevance import Relevance, choose_diverse, fuse_rankings
from streams.search.types import Hit, RetrievalResult
from streams.search.words import STEMMERS

#: Gives a version of a document by its key and name, None where it is not kept.
LoadDocument = Callable[[str, str], KnowledgeDocument | None]

Key = tuple[str, int]
#: Characters of a question that are searched for.
_MAX_CHARACTERS = 4_096
#: Of reciprocal rank fusion: how little the first ranks count above the others. 60 is its authors' value
#: (Cormack and others, 2009).
_RRF_K = 60
#: Of maximal marginal relevance: 1 chooses by relevance alone, 0 by diversity alone.
_RELEVANCE_WEIGHT = 0.7


@dataclass(frozen=True, slots=True)
class Ranking:
    """How many passages are found, and how they are chosen.

    The 20 best of the fused ranking and the 5 most diverse of these follow the thesis on factuality, section
    4.2.3. With a weight of 0 a search is left out; ``vector_weight`` None is the embedder's own.
    """

    passages: int = 5
    candidates: int = 20
    keyword_weight: float = 1.0
    vector_weight: float | None = None


@dataclass(frozen=True, slots=True)
class _SearchRequest:
    """A question, its language and vector, what is searched, and what each search finds in a language."""

    question: str
    language: str | None
    vector: Vectors
    snapshot: IndexSnapshot
    by_words: Callable[[str], Sequence[PassageMatch]]
    by_vector: Callable[[str], Sequence[PassageMatch]]


@dataclass(frozen=True, slots=True)
class _FusedRanking:
    """Where the passages came in the two searches, counted from 1, and the words' scores."""

    words: dict[Key, tuple[int, float]]
    vectors: dict[Key, int]
    fused: dict[Key, float]


class Search:
    """Finds passages for questions, by keywords (BM25) and vectors together.

    The two are what the paper's chatbot searches with (section II).

    A question is searched for in the documents of its own language first, where there are any: a
    passage in another language cannot be compared word by word with the answer, and of a document that
    exists in both the own one serves better. Where these have nothing that is relevant enough, all
    languages are searched, and the better outcome counts.

    Args:
        passages: gives what is searched, as it is now.
        documents: gives the texts of it.
        embedder: the one that the index was built with.
        floor: the least relevance that is sufficient; None: the embedder's own.
        lexicons: of the languages whose words tell relevance too.
        ranking: how many passages are found, and how they are chosen.
    """

    def __init__(
        self,
        snapshot: Callable[[], IndexSnapshot],
        load_document: LoadDocument,
        embedder: Embedder,
        floor: float | None,
        lexicons: Mapping[str, Lexicon],
        ranking: Ranking = Ranking(),
    ) -> None:
        self._snapshot = snapshot
        self._load_document = load_document
        self._embedder = embedder
        self._ranking = ranking
        self._floor = embedder.floor if floor is None else floor
        self._relevance = Relevance(lexicons, embedder.word_weight)
        self._vector_weight = (
            embedder.vector_weight if ranking.vector_weight is None else ranking.vector_weight
        )

    def __call__(self, question: str, language: str | None) -> RetrievalResult:
        """Find the passages for a question.

        Raises:
            EmbeddingFailed: the question's vector cannot be had.
            IndexFailed: the index cannot be read.
            StoreFailed: the texts cannot be read.
        """
        question = replace_surrogates(question[:_MAX_CHARACTERS])
        if not question.strip():
            return RetrievalResult((), is_sufficient=False)
        asked = self._make_request(question, language, self._embedder.embed_query(question))
        languages = asked.snapshot.languages
        if language is None or language not in languages or len(languages) == 1:
            return self._search_languages(languages, asked)
        own = self._search_languages((language,), asked)
        if own.is_sufficient:
            return own
        every = self._search_languages(languages, asked)
        return every if every.is_sufficient else own

    def _make_request(self, question: str, language: str | None, vector: Vectors) -> _SearchRequest:
        depth, passages = self._ranking.candidates, self._snapshot()

        # The own language may be searched a second time, among all.
        @cache
        def words(code: str) -> Sequence[PassageMatch]:
            return passages.search_keywords(code, question, depth)

        @cache
        def near(code: str) -> Sequence[PassageMatch]:
            return passages.search_vectors(code, vector, depth)

        return _SearchRequest(question, language, vector, passages, words, near)

    def _search_languages(self, languages: Collection[str], request: _SearchRequest) -> RetrievalResult:
        ranked = self._rank(languages, request)
        says_something = (key for key in ranked.fused if _has_text(_location(request, key)))
        keys = list(islice(says_something, self._ranking.candidates))
        hits = tuple(
            self._relevance(request.question, request.language, hit, request.snapshot.is_rare)
            for key in self._diverse(request.snapshot, ranked, keys)
            if (hit := self._hit(request, ranked, key))
        )
        relevance = max((hit.relevance for hit in hits), default=None)
        sufficient = relevance is not None and relevance >= self._floor
        return RetrievalResult(hits, sufficient, relevance, self._floor)

    def _rank(self, languages: Collection[str], request: _SearchRequest) -> _FusedRanking:
        depth = self._ranking.candidates
        by_words = list(self._keyword_rankings(languages, request))
        by_vector = (
            best_matches(chain(*map(request.by_vector, languages)), depth) if self._vector_weight else []
        )
        weighted = [*by_words, (self._vector_weight, by_vector)]
        return _FusedRanking(
            words={spot.key: (rank, spot.score) for _, one in by_words for rank, spot in enumerate(one, 1)},
            vectors={spot.key: rank for rank, spot in enumerate(by_vector, 1)},
            fused=fuse_rankings(((weight, [spot.key for spot in one]) for weight, one in weighted), _RRF_K),
        )

    def _keyword_rankings(
        self, languages: Iterable[str], request: _SearchRequest
    ) -> Iterator[tuple[float, list[PassageMatch]]]:
        own = None if request.language is None else _stemmer_group(request.language)
        groups: dict[str, list[str]] = {}
        for language in languages:
            groups.setdefault(_stemmer_group(language), []).append(language)
        weight, depth = self._ranking.keyword_weight, self._ranking.candidates
        for group, some in groups.items():
            # A question's words mean something else, or nothing, in a document of another language.
            if weight and own in {None, group}:
                yield weight, best_matches(chain(*map(request.by_words, some)), depth)

    def _diverse(self, passages: IndexSnapshot, ranked: _FusedRanking, keys: Sequence[Key]) -> list[Key]:
        if not keys:
            return []
        scores = np.array([ranked.fused[key] for key in keys])
        vectors = np.stack([_vector(passages, key) for key in keys])
        chosen = choose_diverse(scores / scores.max(), vectors, self._ranking.passages, _RELEVANCE_WEIGHT)
        return [keys[index] for index in sorted(chosen)]

    def _hit(self, request: _SearchRequest, ranked: _FusedRanking, key: Key) -> Hit | None:
        place = _location(request, key)
        # Of a version that was replaced long before the index was told of it there may be no text any more.
        if (document := self._load_document(place.key, place.version)) is None:
            return None
        rank, score = ranked.words.get(key, (None, None))
        return Hit(
            document_id=document.document_id,
            version=place.version,
            language=key[0],
            title=replace_surrogates(document.title),
            text=replace_surrogates(document.text)[place.start : place.end],
            start=place.start,
            end=place.end,
            score=ranked.fused[key],
            similarity=float(np.clip(_vector(request.snapshot, key) @ request.vector, -1, 1)),
            keyword_rank=rank,
            keyword_score=score,
            vector_rank=ranked.vectors.get(key),
        )


def _stemmer_group(language: str) -> str:
    # Words of languages without a stemmer are compared as they are, so one may find another's.
    return language if language in STEMMERS else ""


def _location(request: _SearchRequest, key: Key) -> PassageLocation:
    language, row = key
    return request.snapshot.languages[language].locations[row]


def _has_text(place: PassageLocation) -> bool:
    return place.start < place.end


def _vector(passages: IndexSnapshot, key: Key) -> Vectors:
    language, row = key
    return single_row(passages.languages[language].vectors(np.array([row])))
