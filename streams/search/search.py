"""The search: keywords and vectors, their rankings fused, and the most diverse of the best passages."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, islice

import numpy as np

from schemas import KnowledgeDocument
from scoring.lexicon import load_lexicons
from scoring.text.language_detection import LanguageDetector, language_code
from streams.search.embedders import Embedder, Vectors
from streams.search.index_snapshot import IndexSnapshot, PassageKey, PassageMatch, best_matches
from streams.search.passages import STEMMERS, replace_surrogates
from streams.search.relevance import Relevance, choose_diverse, fuse_rankings
from streams.search.types import Hit, RetrievalResult
from streams.settings import Settings

#: Returns a version of a document by its key and the version's name, None where it is not stored.
LoadDocument = Callable[[str, str], KnowledgeDocument | None]

#: Characters of a question that are searched for.
_MAX_CHARACTERS = 4_096
#: Of maximal marginal relevance: 1 chooses by relevance alone, 0 by diversity alone.
_RELEVANCE_WEIGHT = 0.7


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How many passages are found, and how they are chosen.

    The 20 best of the fused ranking and the 5 most diverse of these follow the thesis on factuality, section
    4.2.3. A search with weight 0 is not done; ``vector_weight`` None is the embedder's own.
    """

    passages: int = 5
    candidates: int = 20
    keyword_weight: float = 1.0
    vector_weight: float | None = None


@dataclass(frozen=True, slots=True)
class _Question:
    """A question in work: what is searched, and the matches of each search by language, computed once."""

    text: str
    language: str | None
    vector: Vectors
    snapshot: IndexSnapshot
    by_keywords: Callable[[str], Sequence[PassageMatch]]
    by_vector: Callable[[str], Sequence[PassageMatch]]


class Search:
    """Finds passages for questions, by keywords (BM25) and vectors together.

    The two are what the paper's chatbot searches with (section II).

    A question is searched for in the documents of its own language first, where there are any: a
    passage in another language cannot be compared word by word with the answer, and of a document that
    exists in both the own one serves better. Where these have nothing that is relevant enough, all
    languages are searched, and the better outcome counts.

    Args:
        snapshot: returns what is searched, as it is now.
        load_document: returns its texts.
        embedder: the one that the index was built with.
        settings: ``retrieval.floor``, and the lexicons.
        options: how many passages are found, and how they are chosen.
    """

    def __init__(
        self,
        snapshot: Callable[[], IndexSnapshot],
        load_document: LoadDocument,
        embedder: Embedder,
        settings: Settings,
        options: SearchOptions = SearchOptions(),
    ) -> None:
        self._snapshot = snapshot
        self._load_document = load_document
        self._embedder = embedder
        self._floor = embedder.floor if settings.retrieval.floor is None else settings.retrieval.floor
        self._lexicons = load_lexicons(settings.scoring.lexicons)
        self._relevance = Relevance(self._lexicons, embedder.word_weight)
        self._passages, self._candidates = options.passages, max(options.passages, options.candidates)
        self._keyword_weight = options.keyword_weight
        self._vector_weight = (
            embedder.vector_weight if options.vector_weight is None else options.vector_weight
        )

    @cached_property
    def _language_detector(self) -> LanguageDetector:
        return LanguageDetector(self._lexicons.values())

    def __call__(self, text: str, language: str | None) -> RetrievalResult:
        """Find the passages for a question; a ``language`` that is no valid code is identified.

        Raises:
            EmbeddingFailed: the question's vector cannot be had.
            IndexFailed: the index cannot be read.
            StoreFailed: the texts cannot be read.
        """
        language = language_code(language) or self._language_detector.detect(text)
        text = replace_surrogates(text[:_MAX_CHARACTERS])
        if not text.strip():
            return RetrievalResult((), is_sufficient=False)
        question = self._make_question(text, language)
        languages = question.snapshot.languages
        if language is None or language not in languages or len(languages) == 1:
            return self._search(languages, question)
        own = self._search((language,), question)
        if own.is_sufficient:
            return own
        every = self._search(languages, question)
        return every if every.is_sufficient else own

    def _make_question(self, text: str, language: str | None) -> _Question:
        vector, snapshot, depth = self._embedder.embed_query(text), self._snapshot(), self._candidates
        return _Question(
            text,
            language,
            vector,
            snapshot,
            cache(lambda code: snapshot.search_keywords(code, text, depth)),
            cache(lambda code: snapshot.search_vectors(code, vector, depth)),
        )

    def _search(self, languages: Collection[str], question: _Question) -> RetrievalResult:
        hits = tuple(
            self._relevance(question.text, question.language, hit, question.snapshot.is_rare)
            for hit in self._hits(languages, question)
        )
        relevance = max((hit.relevance for hit in hits), default=None)
        is_sufficient = relevance is not None and relevance >= self._floor
        return RetrievalResult(hits, is_sufficient, relevance, self._floor)

    def _hits(self, languages: Collection[str], question: _Question) -> Iterator[Hit]:
        snapshot = question.snapshot
        rankings = list(self._keyword_rankings(languages, question))
        keywords = {match.key: (rank, match.score) for each in rankings for rank, match in enumerate(each, 1)}
        nearest = self._best(question.by_vector, languages) if self._vector_weight else []
        vector_ranks = {match.key: rank for rank, match in enumerate(nearest, 1)}
        weighted = [(self._keyword_weight, each) for each in rankings]
        weighted.append((self._vector_weight, nearest))
        fused = fuse_rankings((weight, [match.key for match in each]) for weight, each in weighted)
        for key in self._choose(snapshot, fused):
            location = snapshot.location(key)
            # A version that was replaced long before the index was updated may not be stored any more.
            if (document := self._load_document(location.key, location.version)) is None:
                continue
            rank, score = keywords.get(key, (None, None))
            yield Hit(
                document_id=document.document_id,
                version=location.version,
                language=key[0],
                title=replace_surrogates(document.title),
                text=replace_surrogates(document.text)[location.start : location.end],
                start=location.start,
                end=location.end,
                score=fused[key],
                # The last bits depend on what else was embedded together with the question.
                similarity=round(float(np.clip(snapshot.vector(key) @ question.vector, -1, 1)), 4),
                keyword_rank=rank,
                keyword_score=score,
                vector_rank=vector_ranks.get(key),
            )

    def _best(
        self, search: Callable[[str], Sequence[PassageMatch]], languages: Collection[str]
    ) -> list[PassageMatch]:
        return best_matches(chain.from_iterable(map(search, languages)), self._candidates)

    def _keyword_rankings(
        self, languages: Collection[str], question: _Question
    ) -> Iterator[list[PassageMatch]]:
        """Yield a ranking for the question's language, or where that is unknown, for each language.

        A question's words mean something else, or nothing, in a document of another language. Languages
        without a stemmer are compared word by word, so they count as one.
        """
        groups: dict[str, list[str]] = {}
        for language in languages:
            groups.setdefault(language if language in STEMMERS else "", []).append(language)
        own = question.language if question.language is None or question.language in STEMMERS else ""
        for group, some in groups.items():
            if self._keyword_weight and own in {None, group}:
                yield self._best(question.by_keywords, some)

    def _choose(self, snapshot: IndexSnapshot, fused: dict[PassageKey, float]) -> list[PassageKey]:
        with_text = (key for key in fused if snapshot.location(key).start < snapshot.location(key).end)
        keys = list(islice(with_text, self._candidates))
        if not keys:
            return []
        scores = np.array([fused[key] for key in keys])
        vectors = np.stack([snapshot.vector(key) for key in keys])
        chosen = choose_diverse(scores / scores.max(), vectors, self._passages, _RELEVANCE_WEIGHT)
        return [keys[index] for index in sorted(chosen)]
