"""Spans of a text: sentences, stems, marked spans, and evidence for spans."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from scoring.text.characters import sentence_ends_between
from scoring.text.parsing import NON_WORD_POS, Parse
from scoring.text.prepared_text import PreparedText, TranslationSource
from scoring.values.exchange import Evidence

# Marks of emphasis, code and quotation that touch a word.
_OPENING = re.compile(r"[*_`\"“‘„«]{1,4}\Z")
_CLOSING = re.compile(r"[*_`\"”’»]{1,4}")
_MAX_MARK = 4


def is_word(parse: Parse, index: int) -> bool:
    """Return whether a token is a word or has a digit: pipelines take "50%" or "2:00" for symbols."""
    return parse.pos[index] not in NON_WORD_POS or any(map(str.isdigit, parse.text[index]))


def sentence_tokens(text: PreparedText) -> tuple[tuple[int, ...], ...]:
    """Return the indices of the words of each sentence; colons, semicolons and line ends end one too."""
    parse, sentences = text.parse, list[list[int]]()
    for index in range(len(parse)):
        if not is_word(parse, index):
            continue
        last_end = int(parse.end[sentences[-1][-1]]) if sentences else 0
        if not sentences or sentence_ends_between(text.original, last_end, int(parse.start[index])):
            sentences.append([])
        sentences[-1].append(index)
    return tuple(map(tuple, sentences))


def token_span(text: PreparedText, tokens: Sequence[int]) -> tuple[int, int]:
    """Return the span of a run of tokens, including the marks around its first and last word."""
    start, end = int(text.parse.start[tokens[0]]), int(text.parse.end[tokens[-1]])
    opening = _OPENING.search(text.original[max(start - _MAX_MARK, text.start) : start])
    closing = _CLOSING.match(text.original, end, text.end)
    return start - len(opening.group() if opening else ""), closing.end() if closing else end


def content_stems(text: PreparedText) -> frozenset[str]:
    """Return the stems of the content words."""
    lexicon = text.lexicon
    return frozenset(lexicon.stem(word) for word in text.word_texts if word not in lexicon.function_words)


def first_stem_spans(text: PreparedText) -> dict[str, tuple[int, int]]:
    """Return the first span of every stem of a text."""
    spans: dict[str, tuple[int, int]] = {}
    for word in text.words:
        spans.setdefault(text.lexicon.stem(word.text), (word.start, word.end))
    return spans


#: The start of a heading.
HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]")
#: The start of a list item, and the characters of the line below a table's header.
LIST_ITEM = re.compile(r"[ \t]{0,12}(?:[-*+•]|\d{1,3}[.)])[ \t]{1,4}")
TABLE_RULE_SIGNS = frozenset("|-: \t")

# No component's name is longer; the limit also bounds the search.
_MAX_MARKED = 120

# Every pattern reads at most _MAX_MARKED characters from its start.
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<![*\w])(?P<m>\*{{1,3}})(?![\s*])(?P<x>[^*\n]{{1,{_MAX_MARKED}}})(?<!\s)(?P=m)(?![*\w])",
        rf"(?<![_\w])(?P<m>_{{1,2}})(?![\s_])(?P<x>[^_\n]{{1,{_MAX_MARKED}}})(?<!\s)(?P=m)(?![_\w])",
        rf"<(?P<m>b|strong|i|em)>(?P<x>[^<\n]{{1,{_MAX_MARKED}}})</(?P=m)>",
        rf"`(?P<x>[^`\n]{{1,{_MAX_MARKED}}})`",
        rf"[“„](?P<x>[^“”„\n]{{1,{_MAX_MARKED}}})[”“]",
        rf"«(?P<x>[^«»\n]{{1,{_MAX_MARKED}}})»",
        rf"(?<![\"\w])\"(?![\s\"])(?P<x>[^\"\n]{{1,{_MAX_MARKED}}})(?<!\s)\"(?![\"\w])",
        rf"(?<![‘’\w])‘(?!\s)(?P<x>[^‘\n]{{1,{_MAX_MARKED}}}?)(?<!\s)’(?!\w)",
        rf"(?<!['\w])'(?![\s'])(?P<x>[^'\n]{{1,{_MAX_MARKED}}})(?<!\s)'(?!['\w])",
    )
)


@dataclass(frozen=True, slots=True)
class MarkedSpan:
    """A marked span of a text, without its marks; the outer offsets include them."""

    start: int
    end: int
    outer_start: int
    outer_end: int


def marked_spans(text: PreparedText) -> tuple[MarkedSpan, ...]:
    """Return the marked spans of a text in order, without overlaps.

    A stronger mark wins: bold inside a quoted sentence is found, the quotes are not.
    """
    taken = bytearray(text.end)
    marks = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text.original, text.start, text.end):
            start, end = match.span()
            if taken.find(1, start, end) < 0:
                taken[start:end] = b"\x01" * (end - start)
                marks.append(MarkedSpan(*match.span("x"), start, end))
    return tuple(sorted(marks, key=lambda mark: mark.start))


# Bounds a verdict's size, since it must fit a Kafka record.
MAX_EVIDENCE = 50


def span_evidence(
    kind: str, answer: PreparedText, spans: Iterable[tuple[int, int]], document_id: str | None = None
) -> tuple[Evidence, ...]:
    """Return evidence for spans of the answer, at most MAX_EVIDENCE.

    For a translated answer it quotes the sentences of the original that the spans translate.
    """
    original = answer.original
    if answer.source is not None:
        original, spans = answer.source.text, original_spans(answer.source, spans)
    return tuple(
        Evidence(kind, original[start:end], start, end, document_id)
        for start, end in islice(spans, MAX_EVIDENCE)
    )


def original_spans(source: TranslationSource, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans of the original that correspond to spans of its translation, each once.

    A translation is aligned by segment only, so whole segments are yielded, without outer white space. A span
    that translates nothing of the original is skipped.
    """
    starts = [segment.translated_start for segment in source.segments]
    ends = [segment.translated_end for segment in source.segments]
    seen = set()
    for start, end in spans:
        if not (segments := source.segments[bisect_right(ends, start) : bisect_left(starts, end)]):
            continue
        first = max(segments[0].start, 0)
        original = source.text[first : max(segments[-1].end, first)]
        first += len(original) - len(original.lstrip())
        span = first, first + len(original.strip())
        if original.strip() and span not in seen:
            seen.add(span)
            yield span
