"""Blocks of data in a text: tables, separated values, and lists of keys with values."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from scoring.text.spans import LIST_ITEM, TABLE_RULE_SIGNS

# A longer line or a larger block is no data for people to read. It is left out as a whole: what is computed
# of a part of a table would be wrong.
LONGEST_LINE = 2_000
_MOST_ROWS, _MOST_COLUMNS, _MOST_BLOCKS = 200, 20, 50
_LEAST_ROWS = 2
_LONGEST_LABEL = 80

_MARKS = "*_`~ \t\u00a0"
# What parts a name from its figure: a colon, also within marks, an equals sign or a dash.
_KEY_SEPARATOR = re.compile(r":(?=[\s*_]|\Z)| = | [–—-] ")
_SEPARATORS = ";\t,"
_QUOTED = re.compile(r'[ \t]{0,8}"((?:[^"]|"")*)"[ \t]{0,8}')


@dataclass(frozen=True, slots=True)
class TextSpan:
    """The text of a cell without its marks, and its place: ``original[start:end] == text``."""

    text: str
    start: int
    end: int


Row = tuple[TextSpan, ...]


@dataclass(frozen=True, slots=True)
class DataBlock:
    """Rows of cells, all of one length; ``header`` names their columns, where they have names."""

    header: Row | None
    rows: tuple[Row, ...]

    @property
    def start(self) -> int:
        """Where it begins in the text."""
        return (self.header or self.rows[0])[0].start


def split_lines(text: str) -> tuple[TextSpan, ...]:
    """Return the lines of a text, without line ends."""
    found, start = [], 0
    for line in text.split("\n"):
        bare = line.removesuffix("\r")
        found.append(TextSpan(bare, start, start + len(bare)))
        start += len(line) + 1
    return tuple(found)


def find_blocks(text: str) -> tuple[DataBlock, ...]:
    """Return the tables, separated values and keys with values of a text in order; none if too many."""
    lines = split_lines(text)
    found = [block for read in (_table_blocks, _delimited_blocks, _key_value_blocks) for block in read(lines)]
    return tuple(sorted(found, key=lambda block: block.start)) if len(found) <= _MOST_BLOCKS else ()


def _table_blocks(lines: Sequence[TextSpan]) -> Iterator[DataBlock]:
    for is_table, group in groupby(lines, key=lambda line: "|" in line.text):
        run = list(group)
        if not is_table or len(run) <= _LEAST_ROWS or max(len(line.text) for line in run) > LONGEST_LINE:
            continue
        if "-" in run[1].text and TABLE_RULE_SIGNS.issuperset(run[1].text):
            yield from _block([tuple(_split_bars(line)) for line in run[2:]], tuple(_split_bars(run[0])))


def _split_bars(line: TextSpan) -> Iterator[TextSpan]:
    bare = line.text.strip()
    first, last = bare.startswith("|"), len(bare) > 1 and bare.endswith("|")
    start = line.start + line.text.index(bare) + first
    for part in bare[first : len(bare) - last].split("|"):
        yield _stripped_span(part, start)
        start += len(part) + 1


def _delimited_blocks(lines: Sequence[TextSpan]) -> Iterator[DataBlock]:
    for separator in _SEPARATORS:
        for count, group in groupby(lines, key=lambda line: _count_cells(line, separator)):
            run = list(group)
            if count > 1 and len(run) > _LEAST_ROWS:
                header, *rows = (tuple(_split_quoted(line, separator)) for line in run)
                yield from _block(rows, header)


def _count_cells(line: TextSpan, separator: str) -> int:
    """Return how many cells a line has; 0 where it is a table's or a sentence rather than a row of values."""
    text = line.text
    if not 0 < text.count(separator) < _MOST_COLUMNS or "|" in text or len(text) > LONGEST_LINE:
        return 0
    if text.rstrip().endswith((".", ":", "!", "?")) or _item_text_start(line) or _key_value(line):
        return 0
    # A comma with a space after it parts words of a sentence.
    if separator == "," and '"' not in text and ", " in text:
        return 0
    return sum(1 for _ in _split_quoted(line, separator))


def _split_quoted(line: TextSpan, separator: str) -> Iterator[TextSpan]:
    text, at = line.text, 0
    while at <= len(text):
        quoted = _QUOTED.match(text, at)
        if quoted and text[quoted.end() : quoted.end() + 1] in ("", separator):
            yield _stripped_span(quoted[1], line.start + quoted.start(1))
            at = quoted.end() + 1
            continue
        end = text.find(separator, at)
        stop = len(text) if end < 0 else end
        yield _stripped_span(text[at:stop], line.start + at)
        at = stop + 1


def _key_value_blocks(lines: Sequence[TextSpan]) -> Iterator[DataBlock]:
    """Yield the runs of lines such as "- North: 120", all items of a list or none.

    An empty line may part them, another one ends a run.
    """
    run: list[Row] = []
    was_item = False
    for line in lines:
        pair, item = _key_value(line), _item_text_start(line) > 0
        if line.text.strip() and (pair is None or item != was_item):
            yield from _block(run)
            run = []
        if pair:
            run.append(pair)
            was_item = item
    yield from _block(run)


def item_lists(text: str) -> tuple[DataBlock, ...]:
    """Return the lists of a text, each item a row of one piece; what is indented deeper is part of it."""
    found, run, indent = list[DataBlock](), list[Row](), 0
    for line in split_lines(text):
        depth = len(line.text) - len(line.text.lstrip())
        end = _item_text_start(line)
        if run and (not line.text.strip() or depth > indent):
            continue
        if not end or depth < indent:
            found.extend(_block(run))
            run = []
        if end and len(line.text) <= LONGEST_LINE:
            run.append((_stripped_span(line.text[end:], line.start + end),))
            indent = depth
    found.extend(_block(run))
    return tuple(found) if len(found) <= _MOST_BLOCKS else ()


def _key_value(line: TextSpan) -> Row | None:
    text = line.text
    if len(text) > LONGEST_LINE or "|" in text:
        return None
    start = _item_text_start(line)
    parting = _KEY_SEPARATOR.search(text, start, start + _LONGEST_LABEL)
    if parting is None:
        return None
    name = _stripped_span(text[start : parting.start()], line.start + start)
    value = _stripped_span(text[parting.end() :], line.start + parting.end())
    return (name, value) if name.text and value.text else None


def _item_text_start(line: TextSpan) -> int:
    """Return where what an item of a list says begins, 0 where a line is none."""
    return item.end() if (item := LIST_ITEM.match(line.text)) else 0


def _stripped_span(text: str, start: int) -> TextSpan:
    bare = text.strip(_MARKS)
    start += len(text) - len(text.lstrip(_MARKS)) if bare else 0
    return TextSpan(bare, start, start + len(bare))


def _block(rows: Sequence[Row], header: Row | None = None) -> Iterator[DataBlock]:
    """Yield the block of some rows, where all are of one length and within the bounds."""
    widths = {len(row) for row in (*rows, *([header] if header else []))}
    if _LEAST_ROWS <= len(rows) <= _MOST_ROWS and len(widths) == 1 and max(widths) <= _MOST_COLUMNS:
        yield DataBlock(header, tuple(rows))
