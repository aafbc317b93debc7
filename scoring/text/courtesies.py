"""Texts that return thanks or a greeting and say nothing besides."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from scoring.lexicon import Lexicon
from scoring.text.prepared import PreparedText, Word, words_of

# No sentence of the list has more.
_MOST_WORDS = 20
# What may stand between the words, before the first and behind the last.
_BETWEEN = re.compile(r"[\s,.!:;'’-]{0,20}")
_BEHIND = re.compile(r"[\s,.!?:;…]{0,20}(?::-?\)|[😊🙂👍])?\s{0,20}")


def returns_courtesy(text: PreparedText) -> bool:
    """Say whether the whole original is made of the lexicon's ``returned`` sentences, one after the other.

    What may be sent unread rests on that, so there are no rules to it: "sure, we do that for you" is made of
    words of courtesy as well.
    """
    original, words = text.original, list(words_of(text.original))
    if not words or not _BETWEEN.fullmatch(original, 0, words[0].start):
        return False
    if not _BEHIND.fullmatch(original, words[-1].end):
        return False
    parted = all(_is_parted(original, left, right) for left, right in pairwise(words))
    return parted and _is_made_of(tuple(word.text for word in words), text.lexicon)


def _is_parted(original: str, left: Word, right: Word) -> bool:
    return _BEHIND.fullmatch(original, left.end, right.start) is not None or bool(
        _BETWEEN.fullmatch(original, left.end, right.start)
    )


def _is_made_of(words: Sequence[str], lexicon: Lexicon) -> bool:
    """Say whether words are sentences of the lexicon from the first to the last."""
    known, reached = lexicon.claims.returned, {0}
    for start in range(len(words)):
        if start in reached:
            ends = range(start + 1, min(start + _MOST_WORDS, len(words)) + 1)
            reached |= {end for end in ends if " ".join(words[start:end]) in known}
    return len(words) in reached
