"""Splits a text into sentences to translate, and puts their translations back into its structure.

The structure stays as it is: line ends, list marks and numbers, headings, table bars, code. Only the text
between is translated, sentence by sentence, so that each translated sentence is aligned with one of the
original.
"""

import re
from collections.abc import Iterator, Sequence

from scoring.text.characters import SENTENCE_END
from scoring.values.exchange import Segment, TranslatedText

# Adjacent quantifiers match disjoint characters, and long runs come last: no search backtracks over more than
# a few characters. Each repetition of a group takes 170 bytes, so it is bounded.
_OPENING = re.compile(
    r"[ \t]{0,40}(?:(?:>|[-+*•–](?=[ \t])|#{1,6}(?=[ \t])|\d{1,3}[.)](?=[ \t]))[ \t]{0,8}){0,40}"
)
_FENCE = re.compile(r"[ \t]{0,3}(?:```|~~~)")
_CELL = re.compile(r"[^|]+")
_OPENS_SENTENCE = re.compile(r"[\"'“‘«(\[*_¿¡]{0,6}(?:\d|[^\W\d_])")
_BLANKS = re.compile(r"\s*")
_CLAUSE_END = re.compile(r"[,;:–—]?[ \t]")


#: Start and end of a sentence, or of a part of a very long one, without outer blanks.
Span = tuple[int, int]


def split_sentences(text: str, max_characters: int) -> Iterator[Span]:
    """Yield the sentences of a text, in order; none is longer than ``max_characters``."""
    for line_start, line_end in _running_lines(text):
        for sentence_start, end in _sentences(text, line_start, line_end):
            start = sentence_start
            while end - start > max_characters:
                limits = start + max_characters // 2, start + max_characters
                cuts = [match.end() for match in _CLAUSE_END.finditer(text, *limits)]
                cut = cuts[-1] if cuts else limits[1]
                yield from _trimmed(text, start, cut)
                start = cut
            yield from _trimmed(text, start, end)


def assemble(text: str, spans: Sequence[Span], translations: Sequence[str]) -> TranslatedText:
    """Return a text with translations in place of its sentences.

    Text between sentences is copied; with a letter or digit (a step's number, a code block) it is a segment
    of its own.
    """
    output: list[str] = []
    segments: list[Segment] = []
    position = length = 0

    def append(end: int, part: str, is_translated: bool) -> None:
        nonlocal position, length
        if is_translated or any(map(str.isalnum, part)):
            segments.append(Segment(position, end, length, length + len(part)))
        output.append(part)
        position, length = end, length + len(part)

    for (start, end), translation in zip(spans, translations, strict=True):
        append(start, text[position:start], is_translated=False)
        append(end, translation, is_translated=True)
    append(len(text), text[position:], is_translated=False)
    return TranslatedText("".join(output), tuple(segments))


def _running_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of running text on each line, without list marks, table bars and code."""
    start, in_code = 0, False
    for line in text.split("\n"):
        end = start + len(line)
        if _FENCE.match(line):
            in_code = not in_code
        elif not in_code:
            opening = _OPENING.match(text, start, end)
            assert opening is not None
            if text.startswith("|", opening.end()):
                yield from (match.span() for match in _CELL.finditer(text, opening.end(), end))
            else:
                yield opening.end(), end
        start = end + 1


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in SENTENCE_END.finditer(text, start, end):
        blanks = _BLANKS.match(text, match.end(), end)
        assert blanks is not None
        if _may_split(text, start, blanks.end(), end):
            yield start, blanks.end()
            start = blanks.end()
    yield start, end


def _may_split(text: str, start: int, at: int, end: int) -> bool:
    """Return whether a sentence may start ``at``: it looks like a start, and is not within bold text."""
    opening = _OPENS_SENTENCE.match(text, at, end)
    if opening is None or text[opening.end() - 1].islower():
        return False
    return text.count("**", start, at) % 2 == 0


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    part = text[start:end]
    sentence = part.strip()
    if any(map(str.isalpha, sentence)):
        start += len(part) - len(part.lstrip())
        yield start, start + len(sentence)
