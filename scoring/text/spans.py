"""Spans of a text: sentences, stems, marked stretches, and the evidence quoted from them."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from scoring.text.characters import sentence_ends_between
from scoring.text.parsing import NON_WORD_POS, Parse
from scoring.text.prepared_text import PreparedText, TranslationSource
from scoring.values.exchange import Evidence, Segment

# Marks of emphasis, code and quotation that belong to the word that they touch.
_OPENING = re.compile(r"[*_`\"“‘„«]{1,4}\Z")
_CLOSING = re.compile(r"[*_`\"”’»]{1,4}")
_WIDEST_MARK = 4


def is_word(parse: Parse, index: int) -> bool:
    """Say whether a token is a word; so is a number that a pipeline takes for a symbol ("50%", "2:00")."""
    return parse.pos[index] not in NON_WORD_POS or any(map(str.isdigit, parse.text[index]))


def sentence_tokens(text: PreparedText) -> tuple[tuple[int, ...], ...]:
    """Return the indices of the words of each sentence; a colon, a semicolon and a line end one too."""
    return tuple(map(tuple, _iter_sentence_tokens(text)))


def _iter_sentence_tokens(text: PreparedText) -> Iterator[list[int]]:
    parse, run = text.parse, list[int]()
    for index in range(len(parse)):
        if not is_word(parse, index):
            continue
        if run and sentence_ends_between(text.original, int(parse.end[run[-1]]), int(parse.start[index])):
            yield run
            run = []
        run.append(index)
    if run:
        yield run


def token_span(text: PreparedText, tokens: Sequence[int]) -> tuple[int, int]:
    """Return where a run of tokens stands in the original, with the marks around its first and last word."""
    start, end = int(text.parse.start[tokens[0]]), int(text.parse.end[tokens[-1]])
    opening = _OPENING.search(text.original[max(start - _WIDEST_MARK, text.start) : start])
    closing = _CLOSING.match(text.original, end, text.end)
    return start - len(opening.group() if opening else ""), closing.end() if closing else end


def content_stems(text: PreparedText) -> frozenset[str]:
    """Return the stems of the words that carry content."""
    lexicon = text.lexicon
    return frozenset(lexicon.stem(word) for word in text.word_texts if word not in lexicon.function_words)


def first_stem_spans(text: PreparedText) -> dict[str, tuple[int, int]]:
    """Return the first place of every stem of a text, as character offsets."""
    places: dict[str, tuple[int, int]] = {}
    for word in text.words:
        places.setdefault(text.lexicon.stem(word.text), (word.start, word.end))
    return places


#: How a line begins that is a heading.
HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]")
#: How one begins that is an item of a list, and what a line has that parts the head of a table from its rows.
LIST_ITEM = re.compile(r"[ \t]{0,12}(?:[-*+•]|\d{1,3}[.)])[ \t]{1,4}")
TABLE_RULE_SIGNS = frozenset("|-: \t")

# Nobody names a component with more characters; the limit also bounds the search.
_LONGEST = 120

# Every pattern reads at most _LONGEST characters from where it starts.
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<![*\w])(?P<m>\*{{1,3}})(?![\s*])(?P<x>[^*\n]{{1,{_LONGEST}}})(?<!\s)(?P=m)(?![*\w])",
        rf"(?<![_\w])(?P<m>_{{1,2}})(?![\s_])(?P<x>[^_\n]{{1,{_LONGEST}}})(?<!\s)(?P=m)(?![_\w])",
        rf"<(?P<m>b|strong|i|em)>(?P<x>[^<\n]{{1,{_LONGEST}}})</(?P=m)>",
        rf"`(?P<x>[^`\n]{{1,{_LONGEST}}})`",
        rf"[“„](?P<x>[^“”„\n]{{1,{_LONGEST}}})[”“]",
        rf"«(?P<x>[^«»\n]{{1,{_LONGEST}}})»",
        rf"(?<![\"\w])\"(?![\s\"])(?P<x>[^\"\n]{{1,{_LONGEST}}})(?<!\s)\"(?![\"\w])",
        rf"(?<![‘’\w])‘(?!\s)(?P<x>[^‘\n]{{1,{_LONGEST}}}?)(?<!\s)’(?!\w)",
        rf"(?<!['\w])'(?![\s'])(?P<x>[^'\n]{{1,{_LONGEST}}})(?<!\s)'(?!['\w])",
    )
)


@dataclass(frozen=True, slots=True)
class MarkedSpan:
    """A marked stretch of a text: ``inner`` is what is marked, ``outer`` includes the marks."""

    start: int
    end: int
    outer_start: int
    outer_end: int


def marked_spans(text: PreparedText) -> tuple[MarkedSpan, ...]:
    """Return the marked stretches of a text in order, without overlaps.

    A stronger mark wins: bold inside a quoted sentence is found, the quotes are not.
    """
    taken = bytearray(text.end)
    found = [mark for pattern in _PATTERNS for mark in _find_marked(pattern, text, taken)]
    return tuple(sorted(found, key=lambda mark: mark.start))


def _find_marked(pattern: re.Pattern[str], text: PreparedText, taken: bytearray) -> list[MarkedSpan]:
    found = []
    for match in pattern.finditer(text.original, text.start, text.end):
        start, end = match.span()
        if taken.find(1, start, end) < 0:
            taken[start:end] = b"\x01" * (end - start)
            found.append(MarkedSpan(*match.span("x"), start, end))
    return found


# A verdict must fit a Kafka record whatever the answer holds; nobody reads more than this.
MAX_EVIDENCE = 50


def span_evidence(
    kind: str, answer: PreparedText, spans: Iterable[tuple[int, int]], document_id: str | None = None
) -> tuple[Evidence, ...]:
    """Return evidence for spans of the answer (character offsets), at most MAX_EVIDENCE.

    For a translated answer it quotes the sentences of the original that the spans translate.
    """
    original, places = answer.original, spans
    if answer.source is not None:
        original, places = answer.source.text, original_spans(answer.source, spans)
    return tuple(
        Evidence(kind, original[start:end], start, end, document_id)
        for start, end in islice(places, MAX_EVIDENCE)
    )


def original_spans(source: TranslationSource, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans of the original that spans of its translation render, each once.

    A translation is known segment by segment only, so what is yielded are whole segments, without
    the white space around them. A span that renders nothing of the original is left out.
    """
    starts = [part.translated_start for part in source.segments]
    ends = [part.translated_end for part in source.segments]
    seen = set()
    for start, end in spans:
        met = source.segments[bisect_right(ends, start) : bisect_left(starts, end)]
        found = _trimmed_span(source.text, met) if met else None
        if found and found not in seen:
            seen.add(found)
            yield found


def _trimmed_span(text: str, met: Sequence[Segment]) -> tuple[int, int] | None:
    start = max(met[0].start, 0)
    stretch = text[start : max(met[-1].end, start)]
    kept = stretch.strip()
    start += len(stretch) - len(stretch.lstrip())
    return (start, start + len(kept)) if kept else None
