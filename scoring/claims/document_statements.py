"""The sentences, list items and table rows of a document, each with what it stands under."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from scoring.text.characters import SENTENCE_END, ends_with_stop
from scoring.text.prepared_text import PreparedText
from scoring.text.spans import HEADING, LIST_ITEM, TABLE_RULE_SIGNS

# What an item is about: "**Mode**: the way in which ...".
_NAME = re.compile(r"[^\n.!?]{1,80}?:(?=[\s*_])")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DocumentStatement:
    """A heading, a sentence, also of a list item, or a table row with its headers, as ``own`` places.

    ``above`` are the places of what it stands under: the title, the headings, the line that leads in its
    list, and the name of its item.
    """

    own_spans: tuple[Span, ...]
    parent_spans: tuple[Span, ...]

    def overlaps(self, span: Span) -> bool:
        """Say whether any of it stands within a span."""
        return any(start < span[1] and span[0] < end for start, end in self.own_spans)


def document_statements(text: PreparedText) -> tuple[DocumentStatement, ...]:
    """Return the statements of a text, in order."""
    return tuple(_iter_statements(text.original, list(_blocks(text))))


def _iter_statements(original: str, blocks: list[Span]) -> Iterator[DocumentStatement]:
    headings: dict[int, Span] = {}
    lead: tuple[Span, ...] = ()
    header: tuple[Span, ...] = ()
    for start, end in blocks:
        block, above = original[start:end], tuple(headings.values())
        row = _is_row(block)
        # A title that is not marked as one comes first, and is no sentence.
        is_title = start == blocks[0][0] and not (row or ends_with_stop(block))
        if _is_heading(block) or is_title:
            level = len(block) - len(block.lstrip("# \t")) if _is_heading(block) else 0
            headings = {other: span for other, span in headings.items() if other < level}
            yield DocumentStatement(((start, end),), tuple(headings.values()))
            headings[level], lead = (start, end), ()
        elif row and not header:
            header = ((start, end),)
        elif row and not TABLE_RULE_SIGNS.issuperset(block):
            yield DocumentStatement(((start, end), *header), above + lead)
        elif item := LIST_ITEM.match(block):
            named = _NAME.match(original, start + item.end(), end)
            name = () if named is None else (named.span(),)
            for n, sentence in enumerate(_sentences(original, start + item.end(), end)):
                yield DocumentStatement((sentence,), above + lead + name * (n > 0))
        elif not row:
            for sentence in _sentences(original, start, end):
                yield DocumentStatement((sentence,), above)
                lead = (sentence,)
        header = header if row else ()


def _blocks(text: PreparedText) -> Iterator[Span]:
    """Yield the places of headings, rows, items and paragraphs; a line that is only wrapped begins none."""
    block: Span | None = None
    for start, end in text.lines():
        line = text.original[start:end]
        begins = _is_heading(line) or _is_row(line) or LIST_ITEM.match(line)
        if block and (begins or not line.strip() or _is_heading(text.original[slice(*block)])):
            yield block
            block = None
        if line.strip():
            block = (block[0] if block else start), end
    if block:
        yield block


def _is_heading(line: str) -> bool:
    return HEADING.match(line) is not None


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|")


def _sentences(original: str, start: int, end: int) -> Iterator[Span]:
    for found in SENTENCE_END.finditer(original, start, end):
        yield start, found.end()
        start = found.end()
    if original[start:end].strip():
        yield start, end
