"""The words of a sentence that carry content, in the forms that are compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scoring.text.prepared import PreparedText


@dataclass(frozen=True, slots=True)
class ContentWord:
    """A word by its ``forms``, which are its folded text and its lemma: one, where these are the same."""

    forms: tuple[str, ...]


def content_words(text: PreparedText, tokens: Iterable[int]) -> tuple[ContentWord, ...]:
    """Return the words among tokens of a text that carry content, numbers among them."""
    parse, empty = text.parse, text.lexicon.function_words
    return tuple(
        ContentWord(tuple(dict.fromkeys((parse.text[n], parse.lemma[n]))))
        for n in tokens
        if not parse.is_stop[n] and parse.text[n] not in empty and any(map(str.isalnum, parse.text[n]))
    )
