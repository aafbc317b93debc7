"""How relevant a passage is to a question: by what both mean, and by the words that they share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scoring.lexicon import Lexicon
from scoring.text.prepared import folded_words
from streams.retrieval.types import Hit

_LETTERS = 5  # words that begin alike are taken for one: "facturen" and "factuur", with no stemmer
#: The share of a question's words that a passage has which is not about it; measured.
_USUAL = 0.3


class Relevance:
    """Compares the relevance of a passage with the floor.

    The similarity of their vectors, and ``weight`` times what the share of the question's words that the
    passage has is above or below the usual. Only within one language: words of two say nothing.

    Args:
        lexicons: say which words carry no content, by language; in others the similarity counts alone.
        weight: what the words count beside the vectors.
    """

    def __init__(self, lexicons: Mapping[str, Lexicon], weight: float) -> None:
        self._lexicons = lexicons
        self._weight = weight

    def __call__(self, question: str, language: str | None, hit: Hit) -> float:
        """Return it, in [-1, 1]."""
        lexicon = self._lexicons.get(hit.language)
        if lexicon is None or hit.language != language or not self._weight:
            return hit.similarity
        asked = [beginning for word, beginning in _words(question) if word not in lexicon.function_words]
        if not asked:
            return hit.similarity
        there = {beginning for _, beginning in _words(f"{hit.title}\n{hit.text}")}
        share = sum(beginning in there for beginning in asked) / len(asked)
        return max(-1.0, min(1.0, hit.similarity + self._weight * (share - _USUAL)))


def _words(text: str) -> Iterator[tuple[str, str]]:
    for word in folded_words(text):
        lower = word.lower()
        if len(lower) > 1:
            yield lower, lower[:_LETTERS]
