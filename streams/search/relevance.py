"""Relevance of a passage to a question, and the choice among ranked passages."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from scoring.lexicon import Lexicon
from streams.search.passages import stemmed_terms, terms_with_spans
from streams.search.types import Hit

Key = TypeVar("Key", bound=Hashable)

#: Of reciprocal rank fusion: how little the first ranks count above the others; its authors' value.
_RRF_K: Final = 60
#: The share of a question's words, by rarity, in a passage that is not about the question; measured.
_USUAL_SHARE: Final = 0.2
#: Relevance of a passage with a name from the question that few passages have.
_NAME_RELEVANCE: Final = 1.0
#: The rarity of a word that is not in the language's list; one in a hundred words has Zipf frequency 7.
_UNLISTED: Final = 7.0
_TOKEN: Final = re.compile(r"[^\W_]{1,60}(?:[-_./:][^\W_]{1,60}){0,8}")
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:]\s)\W{0,20}\Z")


def fuse_rankings(rankings: Iterable[tuple[float, Sequence[Key]]], k: int = _RRF_K) -> dict[Key, float]:
    """Fuse rankings by reciprocal rank.

    Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
    Learning Methods" (2009): a key scores the sum of ``weight / (k + rank)`` over the rankings that
    it is in, where ranks count from 1. So scores of different searches, such as BM25 and cosines, are never
    compared.

    Args:
        rankings: each with its weight, the best key first, no key twice.
        k: the larger, the less the first ranks count above the others.

    Returns:
        The scores, the highest first; equal ones in the order in which the keys come.

    >>> list(fuse_rankings([(1, ["a", "b"]), (1, ["b", "c"])]))
    ['b', 'a', 'c']
    """
    scores: dict[Key, float] = {}
    for weight, ranking in rankings:
        for rank, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + weight / (k + rank)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def choose_diverse(
    relevance: NDArray[np.floating[Any]], vectors: NDArray[np.float32], count: int, weight: float
) -> list[int]:
    """Choose by maximal marginal relevance.

    Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking for Reordering Documents and
    Producing Summaries" (1998): again and again the one with the highest
    ``weight * relevance - (1 - weight) * (its greatest similarity to those chosen before)``.

    Args:
        relevance: of each, on the scale of the similarities, in about [0, 1].
        vectors: of each, a row of length 1; the similarity of two is their cosine.
        count: how many to choose at most.
        weight: in [0, 1]; 1 chooses by relevance alone.

    Returns:
        The indices of the chosen, in this order.
    """
    chosen: list[int] = []
    nearest = np.zeros(len(relevance))
    left = np.ones(len(relevance), dtype=bool)
    while left.any() and len(chosen) < count:
        marginal = weight * relevance - (1 - weight) * nearest
        best = int(np.argmax(np.where(left, marginal, -np.inf)))
        chosen.append(best)
        left[best] = False
        nearest = np.maximum(nearest, vectors @ vectors[best])
    return chosen


class Relevance:
    """Compares a passage with a question.

    The similarity of their vectors, and ``weight`` times what the share of the question's words that the
    passage has is above or below the usual. Each word counts by its rarity in the language. Words count only
    within one language. A name or an identifier of the question that few passages have is enough in any
    language.

    Args:
        lexicons: the words without content, by language; in others the similarity counts alone.
        weight: the weight of the words relative to the vectors.
    """

    def __init__(self, lexicons: Mapping[str, Lexicon], weight: float) -> None:
        self._lexicons = lexicons
        self._weight = weight

    def __call__(
        self, question: str, language: str | None, hit: Hit, is_rare: Callable[[str, str], bool]
    ) -> Hit:
        """Return the hit with its relevance, and with the rare names of the question that it has.

        ``is_rare`` returns whether, in a language, few passages have a name.
        """
        text = f"{hit.title}\n{hit.text}"
        names = tuple(
            name
            for name in distinctive_names(question, language or hit.language)
            if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
            and is_rare(hit.language, name)
        )
        relevance = _NAME_RELEVANCE if names else self._by_words(question, language, hit, text)
        return replace(hit, relevance=relevance, names=names)

    def _by_words(self, question: str, language: str | None, hit: Hit, text: str) -> float:
        lexicon = self._lexicons.get(hit.language)
        if lexicon is None or hit.language != language or not self._weight:
            return hit.similarity
        words = (
            (term, question[start:end].lower()) for term, (start, end) in terms_with_spans(question, language)
        )
        asked = {term: _rarity(word, language) for term, word in words if word not in lexicon.function_words}
        if not (total := sum(asked.values())):
            return hit.similarity
        found = set(stemmed_terms(text, language))
        share = sum(rarity for term, rarity in asked.items() if term in found) / total
        return max(-1.0, min(1.0, hit.similarity + self._weight * (share - _USUAL_SHARE)))


def distinctive_names(question: str, language: str | None) -> Iterator[str]:
    """Yield the names of single things: letters with a digit, or an uncommon word with a capital.

    >>> list(distinctive_names("Waarom geeft Twinfield fout TK-207?", "nl"))
    ['Twinfield', 'TK-207']
    """
    is_upper = question.isupper()
    for found in _TOKEN.finditer(question):
        word = found[0]
        later = word[1:] if _SENTENCE_START.search(question[: found.start()]) else word
        has_capital = later != later.lower() and not is_upper
        if (word[0].isalpha() and any(map(str.isdigit, word))) or (
            has_capital and _rarity(word, language) == _UNLISTED
        ):
            yield word


@lru_cache(200_000)
def _rarity(word: str, language: str | None) -> float:
    """Return how rare a word is in a language at large: powers of ten below one word in a hundred.

    It is in [0, _UNLISTED], by wordfreq's list of words with a frequency of one in a million or more; the
    same for all words of a language without a list.
    """
    from wordfreq import available_languages, zipf_frequency  # noqa: PLC0415 - it takes most of a second

    if language not in available_languages("small"):
        return 1.0
    return max(0.0, _UNLISTED - zipf_frequency(word, language, "small"))
