"""The part of a document that is shown beside a claim: whole sentences under their label or heading."""

import re
from bisect import bisect_right
from collections.abc import Sequence

from scoring.claims.document_statements import Span, is_table_row, text_blocks
from scoring.text.characters import SENTENCE_END
from scoring.text.prepared_text import PreparedText
from scoring.text.spans import HEADING, LIST_ITEM

# A label, a heading or the header of a table is shown if no more characters come before the sentence: the
# verdict cuts passages after 1,000.
_MAX_LEAD = 300
# So much of an unfinished sentence is added to its end.
_MAX_TAIL = 300
# A shorter start of an item is hardly more than its label: one more sentence is shown.
_MIN_SHOWN = 80
# The label of an item: "**Open...** (Ctrl+O): Shows ...".
_LABEL = re.compile(r"[^\n]{1,80}?:(?=[\s*_])")


def readable_span(text: PreparedText, sentences: Sequence[Span], gains: Sequence[float]) -> Span:
    """Return the span that is shown of sentences of a text, with a gain each.

    1. Of sentences on both sides of a heading, or before the label of a next item, the side that gains more.
    2. Back to the label of its list item, a heading right above its paragraph, or the header of its table.
    3. To the end of a sentence; after a heading or a label, of the next one.
    """
    blocks = text.cached(text_blocks)
    starts = [start for start, _ in blocks]
    indices = [max(bisect_right(starts, start) - 1, 0) for start, _ in sentences]
    first, last = _best_run(text, sentences, gains, [blocks[index] for index in indices])
    start = _start(text, blocks, indices[first], sentences[first][0])
    return start, _end(text, blocks, indices[last], sentences[last][1])


def _best_run(
    text: PreparedText, sentences: Sequence[Span], gains: Sequence[float], blocks: Sequence[Span]
) -> tuple[int, int]:
    """Return the first and last of the sentences between two headings, or a label, that gain most."""
    runs = [[0]]
    for n in range(1, len(sentences)):
        is_new = blocks[n] != blocks[n - 1]
        is_last_label = n == len(sentences) - 1 and _is_label(text, blocks[n], sentences[n][1])
        if is_new and (_is_heading(text, blocks[n]) or is_last_label):
            runs.append([])
        runs[-1].append(n)
    best = max(runs, key=lambda run: sum(gains[n] for n in run))
    return best[0], best[-1]


def _is_heading(text: PreparedText, block: Span) -> bool:
    return bool(HEADING.match(text.original[slice(*block)]))


def _is_label(text: PreparedText, block: Span, end: int) -> bool:
    """Return whether a block up to an offset is no more than the label of an item."""
    item = LIST_ITEM.match(text.original, *block)
    label = item and _LABEL.match(text.original, item.end(), block[1])
    return bool(label and end <= label.end())


def _start(text: PreparedText, blocks: Sequence[Span], index: int, start: int) -> int:
    first = blocks[index][0]
    if is_table_row(text.original[slice(*blocks[index])]):
        while index and is_table_row(text.original[slice(*blocks[index - 1])]):
            index -= 1
        return blocks[index][0] if start - blocks[index][0] <= _MAX_LEAD else first
    if _is_heading(text, blocks[index]):
        return first
    if index and _is_heading(text, blocks[index - 1]) and start - blocks[index - 1][0] <= _MAX_LEAD:
        return blocks[index - 1][0]
    item = LIST_ITEM.match(text.original, *blocks[index])
    first = item.end() if item else first
    if not item or start - first > _MAX_LEAD:
        ends = [each.end() for each in SENTENCE_END.finditer(text.original, first, start)]
        first = ends[-1] if ends else first
    if start - first > _MAX_LEAD:
        return start
    return start - len(text.original[first:start].lstrip())


def _end(text: PreparedText, blocks: Sequence[Span], index: int, end: int) -> int:
    is_heading = _is_heading(text, blocks[index])
    index += is_heading and index + 1 < len(blocks)
    start, stop = blocks[index]
    if is_table_row(text.original[start:stop]):
        return stop
    is_short = is_heading or LIST_ITEM.match(text.original, start, stop)
    at = max(end, min(start + _MIN_SHOWN, stop)) if is_short else end
    limit = min(stop, at + _MAX_TAIL)
    closing = SENTENCE_END.search(text.original, max(at - 1, start), limit)
    if closing:
        return closing.end()
    return stop if stop == limit else end
