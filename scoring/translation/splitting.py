"""The sentences of a text to translate, and their translations put back into its structure.

What makes a text a guide stays as it is: line ends, list marks and numbers, headings, table bars,
code. Only what stands between is translated, sentence by sentence, so that each sentence of the
translation is known to render one sentence of the original.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scoring.text.characters import SENTENCE_END
from scoring.values.exchange import Segment, TranslatedText

# What two neighbouring quantifiers repeat is disjoint, and long runs come last: no text makes a search go
# back over more than a few characters. A group that is repeated takes 170 bytes each time, so it is bounded.
_OPENING = re.compile(
    r"[ \t]{0,40}(?:(?:>|[-+*•–](?=[ \t])|#{1,6}(?=[ \t])|\d{1,3}[.)](?=[ \t]))[ \t]{0,8}){0,40}"
)
_FENCE = re.compile(r"[ \t]{0,3}(?:```|~~~)")
_CELL = re.compile(r"[^|]+")
_OPENS_SENTENCE = re.compile(r"[\"'“‘«(\[*_¿¡]{0,6}(?:\d|[^\W\d_])")
_BLANKS = re.compile(r"\s*")
_CLAUSE_END = re.compile(r"[,;:–—]?[ \t]")


@dataclass(frozen=True, slots=True)
class SentenceSpan:
    """A sentence, or a part of a very long one: ``[start, end)`` of the text, without outer blanks."""

    start: int
    end: int


def split_sentences(text: str, max_characters: int) -> Iterator[SentenceSpan]:
    """Yield what is to be translated of a text, in order; none has more than ``longest`` characters."""
    for start, end in _running_lines(text):
        for first, last in _sentences(text, start, end):
            yield from _split_long(text, first, last, max_characters)


def assemble(text: str, spans: Sequence[SentenceSpan], translations: Sequence[str]) -> TranslatedText:
    """Put the translation of each piece in the place of the piece.

    What stands between the pieces is copied; where it holds a letter or digit (a step's number, a
    block of code) it is a segment of its own.
    """
    output: list[str] = []
    segments: list[Segment] = []
    done = length = 0
    for end, stretch, is_translated in _output_parts(text, spans, translations):
        reached = length + len(stretch)
        if is_translated or any(map(str.isalnum, stretch)):
            segments.append(Segment(done, end, length, reached))
        output.append(stretch)
        done, length = end, reached
    return TranslatedText("".join(output), tuple(segments))


def _output_parts(
    text: str, spans: Sequence[SentenceSpan], translations: Sequence[str]
) -> Iterator[tuple[int, str, bool]]:
    """Yield what the translation is made of: the end in the text, the words, and if they are translated."""
    done = 0
    for part, translation in zip(spans, translations, strict=True):
        yield part.start, text[done : part.start], False
        yield part.end, translation, True
        done = part.end
    yield len(text), text[done:], False


def _running_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of what is running text on each line: no list mark, no bar of a table, no code."""
    start, in_code = 0, False
    for line in text.split("\n"):
        end = start + len(line)
        if _FENCE.match(line):
            in_code = not in_code
        elif not in_code:
            opening = _OPENING.match(text, start, end)
            assert opening is not None
            yield from _cells(text, opening.end(), end)
        start = end + 1


def _cells(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if text.startswith("|", start):
        yield from (match.span() for match in _CELL.finditer(text, start, end))
    else:
        yield start, end


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in SENTENCE_END.finditer(text, start, end):
        blanks = _BLANKS.match(text, match.end(), end)
        assert blanks is not None
        if _may_split(text, start, blanks.end(), end):
            yield start, blanks.end()
            start = blanks.end()
    yield start, end


def _may_split(text: str, start: int, at: int, end: int) -> bool:
    """Say whether a sentence may begin ``at``: as a sentence begins, and not within bold text."""
    opening = _OPENS_SENTENCE.match(text, at, end)
    if opening is None or text[opening.end() - 1].islower():
        return False
    return text.count("**", start, at) % 2 == 0


def _split_long(text: str, start: int, end: int, max_characters: int) -> Iterator[SentenceSpan]:
    while end - start > max_characters:
        cuts = [
            match.end()
            for match in _CLAUSE_END.finditer(text, start + max_characters // 2, start + max_characters)
        ]
        at = cuts[-1] if cuts else start + max_characters
        yield from _trimmed(text, start, at)
        start = at
    yield from _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[SentenceSpan]:
    stretch = text[start:end]
    kept = stretch.strip()
    if any(map(str.isalpha, kept)):
        start += len(stretch) - len(stretch.lstrip())
        yield SentenceSpan(start, start + len(kept))
