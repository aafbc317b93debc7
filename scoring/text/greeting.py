"""The greeting and closing of a message, and the part between that says something."""

import re

from scoring.lexicon import Lexicon, PhraseList
from scoring.text.characters import SENTENCE_OR_LINE_END, ends_with_stop
from scoring.text.prepared_text import split_words

# A greeting is a greeting word and perhaps a name: "Goedemorgen Jan,".
_GREETING_WORDS = 4
# Longer sentences say something even where they open like a closing.
_CLOSING_WORDS = 25
_SIGNATURE_WORDS = 4
# Start, end of what is said, end of the closing, end of the signature; the first two may be one.
_SIGNED_BOUNDS = 2
_GREETING_END = re.compile(rf"{SENTENCE_OR_LINE_END.pattern}|,(?=\s|$)")


def content_span(text: str, lexicon: Lexicon) -> tuple[int, int]:
    """Return (start, end) of ``text`` without the greeting it opens with and the closings it ends with.

    A text that is only greeting and closing has an empty span.
    """
    start = _after_greeting(text, lexicon.greetings)
    return start, _before_closings(text, start, lexicon.closings)


def _after_greeting(text: str, greetings: PhraseList) -> int:
    found = _GREETING_END.search(text, len(text) - len(text.lstrip()))
    end = found.end() if found else len(text)
    if not _opens_with(greetings, text[:end], _GREETING_WORDS):
        return 0
    return end + len(text[end:]) - len(text[end:].lstrip())


def _before_closings(text: str, start: int, closings: PhraseList) -> int:
    ends = [match.end() for match in SENTENCE_OR_LINE_END.finditer(text, start)]
    bounds = [start, *ends] if ends and not text[ends[-1] :].strip() else [start, *ends, len(text)]
    if _is_signed(text, bounds, closings):
        bounds.pop()
    while len(bounds) > 1 and _opens_with(closings, text[bounds[-2] : bounds[-1]], _CLOSING_WORDS):
        bounds.pop()
    return bounds[-1]


def _is_signed(text: str, bounds: list[int], closings: PhraseList) -> bool:
    """Say whether a text ends in a signature: few words on a line below "Kind regards,"."""
    if len(bounds) <= _SIGNED_BOUNDS:
        return False
    before, signature = text[bounds[-3] : bounds[-2]], text[bounds[-2] : bounds[-1]]
    if not before.endswith("\n") or ends_with_stop(before):
        return False
    if not split_words(before):
        return False
    return _opens_with(closings, before, _GREETING_WORDS) and len(split_words(signature)) <= _SIGNATURE_WORDS


def _opens_with(phrases: PhraseList, sentence: str, most_words: int) -> bool:
    words = [word.text for word in split_words(sentence)]
    if len(words) > most_words:
        return False
    return not words or any(first == 0 for first, _ in phrases.find(words))
