"""The sentences of a parsed text as runs of its tokens."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.text.parsing import NO_WORDS
from scoring.text.prepared import PreparedText
from scoring.text.sentences import ends_between


def sentence_runs(text: PreparedText) -> Iterator[list[int]]:
    """Yield the indices of the words of each sentence; a colon, a semicolon and a line end one too."""
    parse, run = text.parse, list[int]()
    for index in range(len(parse)):
        if parse.pos[index] in NO_WORDS:
            continue
        if run and ends_between(text.original, int(parse.end[run[-1]]), int(parse.start[index])):
            yield run
            run = []
        run.append(index)
    if run:
        yield run
