"""The sentences of a parsed text as runs of its tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from scoring.text.parsing import NO_WORDS, Parse
from scoring.text.prepared import PreparedText
from scoring.text.sentences import ends_between

# Marks of emphasis, code and quotation that belong to the word that they touch.
_OPENING = re.compile(r"[*_`\"“‘„«]{1,4}\Z")
_CLOSING = re.compile(r"[*_`\"”’»]{1,4}")
_WIDEST_MARK = 4


def is_word(parse: Parse, index: int) -> bool:
    """Say whether a token is a word; so is a number that a pipeline takes for a symbol ("50%", "2:00")."""
    return parse.pos[index] not in NO_WORDS or any(map(str.isdigit, parse.text[index]))


def sentence_runs(text: PreparedText) -> tuple[tuple[int, ...], ...]:
    """Return the indices of the words of each sentence; a colon, a semicolon and a line end one too."""
    return tuple(map(tuple, _runs(text)))


def _runs(text: PreparedText) -> Iterator[list[int]]:
    parse, run = text.parse, list[int]()
    for index in range(len(parse)):
        if not is_word(parse, index):
            continue
        if run and ends_between(text.original, int(parse.end[run[-1]]), int(parse.start[index])):
            yield run
            run = []
        run.append(index)
    if run:
        yield run


def run_span(text: PreparedText, run: Sequence[int]) -> tuple[int, int]:
    """Return where a run of tokens stands in the original, with the marks around its first and last word."""
    start, end = int(text.parse.start[run[0]]), int(text.parse.end[run[-1]])
    opening = _OPENING.search(text.original[max(start - _WIDEST_MARK, text.start) : start])
    closing = _CLOSING.match(text.original, end, text.end)
    return start - len(opening.group() if opening else ""), closing.end() if closing else end
