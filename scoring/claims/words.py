"""The words of a sentence that carry content, in the forms that are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scoring.text.clock import clock_times
from scoring.text.prepared import PreparedText


@dataclass(frozen=True, slots=True)
class ContentWord:
    """A word by its ``forms``: its folded text, its lemma, and the time of day that it tells; each once."""

    forms: tuple[str, ...]


def content_words(text: PreparedText, tokens: Iterable[int]) -> tuple[ContentWord, ...]:
    """Return the words among tokens of a text that carry content, numbers among them."""
    parse, empty = text.parse, text.lexicon.function_words
    clock = text.derived(_clock)
    return tuple(
        ContentWord(
            tuple(dict.fromkeys((parse.text[n], parse.lemma[n], *clock.get(int(parse.start[n]), ()))))
        )
        for n in tokens
        if not parse.is_stop[n] and parse.text[n] not in empty and any(map(str.isalnum, parse.text[n]))
    )


def _clock(text: PreparedText) -> Mapping[int, tuple[str]]:
    """Return the time of day for every place of the text that tells one: both words of "2 pm" do."""
    return {place: (time.value,) for time in clock_times(text) for place in range(time.start, time.end)}
