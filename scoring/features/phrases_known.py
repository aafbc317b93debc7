"""Phrases of three words that the documents have (paper, V-B, "HAL", for words in their order)."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from scoring.claims.grounding import grounded_claims
from scoring.text.parsing import Parse
from scoring.text.prepared_text import PreparedExchange, PreparedText
from scoring.text.spans import is_word
from scoring.values.exchange import FeatureValue
from scoring.values.rules import EvidenceRules

# Odd constants that spread hashes over all 64 bits, one for each place in a phrase.
_SPREAD = (0x1E3779B97F4A7C15, 0x42B2AE3D27D4EB4F, 0x165667B19E3779F9)

_Hashes = NDArray[np.int64]


class PhrasesKnown:
    """Share of the phrases of the answer's claims that a document or the question has word for word.

    A phrase is three words that follow each other, by their lemmas, function words and all: whoever
    repeats the documents repeats such phrases, whoever invents does not. The value is in [0, 1]; not
    applicable where no claim has three words.

    Evidence: none of its own.

    >>> from scoring.text.prepared_text import PreparedPassage
    >>> from scoring.lexicon import load_shipped
    >>> def text(words): return PreparedText.of(words, load_shipped()["en"])
    >>> document = PreparedPassage("d", text("The link in the mail works for a day."))
    >>> answer = text("The link works for a day.")
    >>> PhrasesKnown().measure(PreparedExchange(text(""), answer, (document,))).value
    0.5
    """

    name = "phrases_known"
    uses_translation = False
    evidence_rules: EvidenceRules = ()

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return known phrases / phrases."""
        parse = exchange.answer.parse
        found = [
            _phrases(_hashes(parse, claim.claim.tokens))
            for claim in exchange.cached(grounded_claims)
            if claim.grounding
        ]
        phrases = np.concatenate(found) if found else np.empty(0, dtype=np.int64)
        if not len(phrases):
            return FeatureValue(self.name, None)
        texts = (exchange.question, *(document.text for document in exchange.context))
        known = np.concatenate([text.cached(known_phrases) for text in texts])
        return FeatureValue(self.name, float(np.isin(phrases, known).mean()))


def known_phrases(text: PreparedText) -> _Hashes:
    """Return every phrase of a text once, as the hash of its lemmas."""
    parse = text.parse
    return np.unique(_phrases(_hashes(parse, _words(parse))))


def _words(parse: Parse) -> Iterator[int]:
    return (index for index in range(len(parse)) if is_word(parse, index))


def _hashes(parse: Parse, tokens: Iterable[int]) -> _Hashes:
    # Python's hash of a string is the same for all texts of a process, which is all that is needed.
    return np.fromiter((hash(parse.lemma[index]) for index in tokens), dtype=np.int64)


def _phrases(words: _Hashes) -> _Hashes:
    """Return one number for every three words that follow each other."""
    count = max(len(words) - len(_SPREAD) + 1, 0)
    found = np.zeros(count, dtype=np.int64)
    for place, odd in enumerate(_SPREAD):
        found ^= words[place : place + count] * np.int64(odd)
    return found
