"""The content of a message between its greeting and its closing."""

import re

from scoring.lexicon import Lexicon, PhraseList
from scoring.text.characters import SENTENCE_OR_LINE_END, ends_with_stop
from scoring.text.prepared_text import split_words

# A greeting is a greeting phrase and perhaps a name: "Goedemorgen Jan,".
_MAX_GREETING_WORDS = 4
# Longer sentences have content even where they start like a closing.
_MAX_CLOSING_WORDS = 25
_MAX_SIGNATURE_WORDS = 4
# Content (possibly empty), closing and signature.
_MIN_SIGNED_BOUNDS = 3
_GREETING_END = re.compile(rf"{SENTENCE_OR_LINE_END.pattern}|,(?=\s|$)")


def content_span(text: str, lexicon: Lexicon) -> tuple[int, int]:
    """Return the span (start, end) of a text without its opening greeting and its closings.

    A text of only a greeting and a closing has an empty span.
    """
    start, indent = 0, len(text) - len(text.lstrip())
    match = _GREETING_END.search(text, indent)
    greeting_end = match.end() if match else len(text)
    if _starts_with(lexicon.greetings, text[:greeting_end], _MAX_GREETING_WORDS):
        start = len(text) - len(text[greeting_end:].lstrip())
    bounds = [start, *(match.end() for match in SENTENCE_OR_LINE_END.finditer(text, start))]
    if len(bounds) == 1 or text[bounds[-1] :].strip():
        bounds.append(len(text))
    if _is_signed(text, bounds, lexicon.closings):
        bounds.pop()
    while len(bounds) > 1 and _starts_with(
        lexicon.closings, text[bounds[-2] : bounds[-1]], _MAX_CLOSING_WORDS
    ):
        bounds.pop()
    return start, bounds[-1]


def _is_signed(text: str, bounds: list[int], closings: PhraseList) -> bool:
    """Return whether a text ends with a signature: a few words on a line below "Kind regards,"."""
    if len(bounds) < _MIN_SIGNED_BOUNDS:
        return False
    closing, signature = text[bounds[-3] : bounds[-2]], text[bounds[-2] : bounds[-1]]
    return (
        closing.endswith("\n")
        and not ends_with_stop(closing)
        and bool(split_words(closing))
        and _starts_with(closings, closing, _MAX_GREETING_WORDS)
        and len(split_words(signature)) <= _MAX_SIGNATURE_WORDS
    )


def _starts_with(phrases: PhraseList, sentence: str, max_words: int) -> bool:
    """Return whether a sentence of at most so many words starts with a phrase, or has no words."""
    words = [word.text for word in split_words(sentence)]
    return len(words) <= max_words and (not words or any(first == 0 for first, _ in phrases.find(words)))
