"""What says "not", or that something holds in some cases alone."""

from __future__ import annotations

from collections.abc import Collection

from scoring.lexicon import Lexicon
from scoring.text.prepared import PreparedText, words_of


def restricts(heading: str, question: PreparedText) -> bool:
    """Say whether a title or heading names a case that the question does not: "On the free plan".

    What restricts are the lexicon's ``qualifiers``, ``contrasts`` and ``restrictions``; negations are
    compared by :func:`denies`.
    """
    return not _restrictions(heading, question.lexicon) <= set(question.word_texts)


def denies(text: str, lexicon: Lexicon) -> bool:
    """Say whether a text says "not" or its like."""
    return bool(_negations(_words(text), lexicon))


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.text for word in words_of(text))


def _negations(words: Collection[str], lexicon: Lexicon) -> set[str]:
    return {word for word in words if word in lexicon.negations or word.endswith("n't")}


def _restrictions(line: str, lexicon: Lexicon) -> frozenset[str]:
    words = _words(line)
    single = (lexicon.claims.qualifiers | lexicon.refusal.contrasts).intersection(words)
    phrases = (words[start:end] for start, end in lexicon.claims.restrictions.find(words, (0,)))
    return (single - _negations(words, lexicon)).union(*phrases)
