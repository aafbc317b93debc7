"""The sentences, list items and table rows of a document, each with its headings."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from scoring.text.characters import SENTENCE_END, ends_with_stop
from scoring.text.prepared_text import PreparedText
from scoring.text.spans import HEADING, LIST_ITEM, TABLE_RULE_SIGNS

# The name of an item: "**Mode**: the way in which ...".
_ITEM_NAME = re.compile(r"[^\n.!?]{1,80}?:(?=[\s*_])")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DocumentStatement:
    """The spans of a heading, a sentence (also of a list item), or a table row with its header.

    ``parent_spans``: the title, the headings above, the sentence that introduces its list, and its item's
    name.
    """

    own_spans: tuple[Span, ...]
    parent_spans: tuple[Span, ...]

    def overlaps(self, span: Span) -> bool:
        """Return whether any of its own spans overlaps a span."""
        return any(start < span[1] and span[0] < end for start, end in self.own_spans)


def document_statements(text: PreparedText) -> tuple[DocumentStatement, ...]:
    """Return the statements of a text, in order."""
    original, blocks = text.original, text.cached(text_blocks)
    statements: list[DocumentStatement] = []
    headings: dict[int, Span] = {}
    introduction: tuple[Span, ...] = ()
    header: tuple[Span, ...] = ()
    for start, end in blocks:
        block, above = original[start:end], tuple(headings.values())
        is_row = is_table_row(block)
        # An unmarked title is the first block, and not a sentence.
        is_title = start == blocks[0][0] and not (is_row or ends_with_stop(block))
        if HEADING.match(block) or is_title:
            level = len(block) - len(block.lstrip("# \t")) if HEADING.match(block) else 0
            headings = {other: span for other, span in headings.items() if other < level}
            statements.append(DocumentStatement(((start, end),), tuple(headings.values())))
            headings[level], introduction = (start, end), ()
        elif is_row and not header:
            header = ((start, end),)
        elif is_row and not TABLE_RULE_SIGNS.issuperset(block):
            statements.append(DocumentStatement(((start, end), *header), above + introduction))
        elif item := LIST_ITEM.match(block):
            match = _ITEM_NAME.match(original, start + item.end(), end)
            name = (match.span(),) if match else ()
            for n, sentence in enumerate(_sentences(original, start + item.end(), end)):
                statements.append(DocumentStatement((sentence,), above + introduction + name * (n > 0)))
        elif not is_row:
            for sentence in _sentences(original, start, end):
                statements.append(DocumentStatement((sentence,), above))
                introduction = (sentence,)
        header = header if is_row else ()
    return tuple(statements)


def text_blocks(text: PreparedText) -> tuple[Span, ...]:
    """Return the spans of headings, rows, items and paragraphs; a wrapped line starts no block."""
    blocks: list[Span] = []
    goes_on = False
    for start, end in text.lines():
        line = text.original[start:end]
        is_heading = bool(HEADING.match(line))
        if goes_on and line.strip() and not (is_heading or is_table_row(line) or LIST_ITEM.match(line)):
            blocks[-1] = blocks[-1][0], end
        elif line.strip():
            blocks.append((start, end))
        goes_on = bool(line.strip()) and not is_heading
    return tuple(blocks)


def is_table_row(line: str) -> bool:
    """Return whether a line is a row of a table."""
    return line.lstrip().startswith("|")


def _sentences(original: str, start: int, end: int) -> Iterator[Span]:
    for match in SENTENCE_END.finditer(original, start, end):
        yield start, match.end()
        start = match.end()
    if original[start:end].strip():
        yield start, end
