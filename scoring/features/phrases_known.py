"""Phrases of three words that the documents have (paper, V-B, "HAL", for words in their order)."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from scoring.claims.grounding import grounded_claims
from scoring.features import Feature
from scoring.text.parsing import Parse
from scoring.text.prepared_text import PreparedExchange, PreparedText
from scoring.text.spans import is_word
from scoring.values.exchange import FeatureValue

# Odd constants that spread hashes over all 64 bits, one for each position in a phrase.
_SPREAD = (0x1E3779B97F4A7C15, 0x42B2AE3D27D4EB4F, 0x165667B19E3779F9)

_Hashes = NDArray[np.int64]


class PhrasesKnown(Feature):
    """Share of the phrases of the answer's claims that a document or the question has word for word.

    A phrase is the lemmas of three consecutive words, including function words: an answer that repeats the
    documents repeats such phrases, an invented one does not. The value is in [0, 1]; not applicable where no
    claim has three words.

    Evidence: none.

    >>> document = "The link in the mail works for a day."
    >>> PhrasesKnown().measure(PreparedExchange.of_texts("", "The link works for a day.", document)).value
    0.5
    """

    name = "phrases_known"

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return known phrases / phrases."""
        parse = exchange.answer.parse
        by_claim = [
            _phrases(parse, grounded.claim.tokens)
            for grounded in exchange.cached(grounded_claims)
            if grounded.grounding
        ]
        phrases = np.concatenate(by_claim) if by_claim else np.empty(0, dtype=np.int64)
        if not len(phrases):
            return FeatureValue(self.name, None)
        texts = (exchange.question, *(document.text for document in exchange.context))
        known = np.concatenate([text.cached(known_phrases) for text in texts])
        return FeatureValue(self.name, float(np.isin(phrases, known).mean()))


def known_phrases(text: PreparedText) -> _Hashes:
    """Return the distinct phrases of a text as hashes of their lemmas."""
    parse = text.parse
    return np.unique(_phrases(parse, (index for index in range(len(parse)) if is_word(parse, index))))


def _phrases(parse: Parse, tokens: Iterable[int]) -> _Hashes:
    """Return one hash for every three consecutive tokens."""
    # Python's string hash is constant within a process, which suffices.
    words = np.fromiter((hash(parse.lemma[index]) for index in tokens), dtype=np.int64)
    count = max(len(words) - len(_SPREAD) + 1, 0)
    phrases = np.zeros(count, dtype=np.int64)
    for position, odd in enumerate(_SPREAD):
        phrases ^= words[position : position + count] * np.int64(odd)
    return phrases
