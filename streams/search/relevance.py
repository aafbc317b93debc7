"""Relevance of a passage to a question, and the choice among ranked passages."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from scoring.lexicon import Lexicon
from streams.search.types import Hit
from streams.search.words import UNLISTED, rarity, stemmed_terms, terms_with_spans

Key = TypeVar("Key", bound=Hashable)


def fuse_rankings(rankings: Iterable[tuple[float, Sequence[Key]]], k: int) -> dict[Key, float]:
    """Fuse rankings by reciprocal rank.

    Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
    Learning Methods" (2009): a key scores the sum of ``weight / (k + rank)`` over the rankings that
    it is in, where ranks count from 1. Scores of searches that have nothing in common, such as BM25 and
    cosines, are thus never compared.

    Args:
        rankings: each with its weight, the best key first, no key twice.
        k: 60 in the paper; the larger, the less the first ranks count above the others.

    Returns:
        The scores, the highest first; equal ones in the order in which the keys come.

    >>> list(fuse([(1, ["a", "b"]), (1, ["b", "c"])], k=60))
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
        The indices of the chosen, in the order in which they were chosen.
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


#: The share of a question's words, by their rarity, that a passage has which is not about it; measured.
_USUAL_SHARE: Final = 0.2
#: Relevance of a passage that has a name of the question which few passages have.
_NAME_RELEVANCE: Final = 1.0
_TOKEN: Final = re.compile(r"[^\W_]{1,60}(?:[-_./:][^\W_]{1,60}){0,8}")
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:]\s)\W{0,20}\Z")

#: Whether a name is in few passages of a language.
IsRare = Callable[[str, str], bool]


class Relevance:
    """Compares a passage with a question.

    The similarity of their vectors, and ``weight`` times what the share of the question's words that the
    passage has is above or below the usual. Each word counts by its rarity in the language. Only within one
    language: words of two say nothing. A name or an identifier of the question that few passages have is
    enough in any language.

    Args:
        lexicons: say which words carry no content, by language; in others the similarity counts alone.
        weight: what the words count beside the vectors.
    """

    def __init__(self, lexicons: Mapping[str, Lexicon], weight: float) -> None:
        self._lexicons = lexicons
        self._weight = weight

    def __call__(self, question: str, language: str | None, hit: Hit, is_rare: IsRare) -> Hit:
        """Return the hit with its relevance, and with the rare names of the question that it has."""
        named = (
            name
            for name in distinctive_names(question, language)
            if _mentions(hit, name) and is_rare(hit.language, name)
        )
        if found := tuple(named):
            return replace(hit, relevance=_NAME_RELEVANCE, names=found)
        return replace(hit, relevance=self._by_words(question, language, hit))

    def _by_words(self, question: str, language: str | None, hit: Hit) -> float:
        lexicon = self._lexicons.get(hit.language)
        if lexicon is None or hit.language != language or not self._weight:
            return hit.similarity
        words = (
            (term, question[start:end].lower()) for term, (start, end) in terms_with_spans(question, language)
        )
        asked = {term: rarity(word, language) for term, word in words if word not in lexicon.function_words}
        if not (total := sum(asked.values())):
            return hit.similarity
        there = set(stemmed_terms(f"{hit.title}\n{hit.text}", language))
        share = sum(asked[term] for term in asked.keys() & there) / total
        return max(-1.0, min(1.0, hit.similarity + self._weight * (share - _USUAL_SHARE)))


def distinctive_names(question: str, language: str | None) -> Iterator[str]:
    """Yield what names one thing: letters with a digit, or a capital within a sentence in no common word.

    >>> list(names("Waarom geeft Twinfield fout TK-207?", "nl"))
    ['Twinfield', 'TK-207']
    """
    shouted = question.isupper()
    for found in _TOKEN.finditer(question):
        word = found[0]
        later = word[1:] if _SENTENCE_START.search(question[: found.start()]) else word
        capital = later != later.lower() and not shouted
        if (word[0].isalpha() and any(map(str.isdigit, word))) or (
            capital and rarity(word, language) == UNLISTED
        ):
            yield word


def _mentions(hit: Hit, name: str) -> bool:
    pattern = rf"(?<!\w){re.escape(name)}(?!\w)"
    return re.search(pattern, f"{hit.title}\n{hit.text}", re.IGNORECASE) is not None
