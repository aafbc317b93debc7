"""Grids: data with named rows and columns, the text above them, and what a text lists."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from scoring.figures.data_blocks import DataBlock, Line, TextSpan, find_blocks, item_lists, split_lines
from scoring.figures.quantities import NumberConvention
from scoring.figures.table_cells import (
    AxisLabel,
    DataCell,
    as_periods,
    figure_stems,
    parse_cell,
    parse_label,
    unit_in,
)
from scoring.lexicon import FigureWords, Lexicon
from scoring.text.prepared_text import PreparedText, folded_words

# A heading that stands further above its table is that of something else.
_HEADING_REACH = 200
_LEAD_REACH = 3
_LONGEST = 300
_HEADING = "#"
# A heading of more words is about more than what is listed below it.
_MOST_WORDS = 2


@dataclass(frozen=True, slots=True)
class BlockHeading:
    """What stands above a block: its headings, and the line before it.

    ``words``: their words and stems; ``lead``: the line before; ``called``: stems of what its rows are
    called ("Plans", "These roles are available:"); ``named``: stems of what they may be called.
    ``is_complete``: nothing says that these are only examples.
    """

    words: frozenset[str]
    lead_line: str
    row_nouns: frozenset[str]
    possible_row_nouns: frozenset[str]
    is_complete: bool

    @classmethod
    def of(cls, lines: Sequence[Line], line_index: int, lexicon: Lexicon) -> BlockHeading:
        """Return what stands above the line at a place."""
        above = [
            line.text.strip() for line in reversed(lines[max(line_index - _HEADING_REACH, 0) : line_index])
        ]
        heading = next((line for line in above if line.startswith(_HEADING)), "")
        near = [line for line in above[:_LEAD_REACH] if line]
        lead = near[0][-_LONGEST:] if near and not near[0].startswith((_HEADING, "|")) else ""
        title = next((line.text.strip() for line in lines if line.text.strip()), "") if line_index else ""
        text = "\n".join(part[-_LONGEST:] for part in (title, heading, lead))
        words = tuple(folded_words(text))
        nearest = (heading or title)[-_LONGEST:]
        return cls(
            words=frozenset((*words, *figure_stems(text, lexicon))),
            lead_line=lead,
            row_nouns=_row_nouns(nearest, "" if lead == title else lead, lexicon),
            possible_row_nouns=frozenset(figure_stems(f"{nearest}\n{lead}", lexicon)),
            is_complete=not lexicon.figure_words.examples.occurs(words),
        )


def _row_nouns(heading: str, lead: str, lexicon: Lexicon) -> frozenset[str]:
    """Return the stem of the plural that a short heading has, of the first one of the line that leads in.

    Where there is such a line a heading counts only if that has its word too: "Prices" is not what the items
    below "You can pay with:" are called. A verb may be taken for a plural; nobody counts by that.
    """
    plurals = _plurals(heading, lexicon) if len(figure_stems(heading, lexicon)) <= _MOST_WORDS else ()
    above = frozenset(plurals) if len(plurals) == 1 else frozenset[str]()
    if not lead:
        return above
    first = _plurals(lead, lexicon)[:1] if lead.endswith(":") else ()
    return above.intersection(figure_stems(lead, lexicon)).union(first)


def _plurals(text: str, lexicon: Lexicon) -> tuple[str, ...]:
    words = (word for word in folded_words(text) if word not in lexicon.function_words)
    return tuple(stem for word in words if _is_plural(word, lexicon) for stem in figure_stems(word, lexicon))


def _is_plural(word: str, lexicon: Lexicon) -> bool:
    """Say whether a word may be a plural: its stem lacks more than the "e" that singular and plural share."""
    return lexicon.stem(word) not in (word, word.removesuffix("e"))


_LEAST_ROWS = 2
# What stands around cells and says nothing.
_BLANK_SIGNS = '|*_`~"- \t\r\n'


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Cells by row and column.

    - ``corner``: stems of what the rows are called ("Month"), by their column or by what stands above;
      ``across``: of what the columns are.
    - ``around``: words and stems of the headings and the line above.
    - ``conventions``: those that all of its numbers can be read by, the likelier first.
    - ``totals``: the cell of each column in a row of totals, by the column's place.
    - ``is_turned``: its rows were the columns; ``is_complete``: nothing says that these are only examples;
      ``may_go_on``: it stands at an edge of its text, so where that was cut there may be more of it.
    """

    rows: tuple[AxisLabel, ...]
    columns: tuple[AxisLabel, ...]
    cells: tuple[tuple[DataCell, ...], ...]
    row_nouns: frozenset[str]
    heading_words: frozenset[str]
    conventions: tuple[NumberConvention, ...]
    start: int
    totals: Mapping[int, DataCell] = field(default_factory=dict)
    is_transposed: bool = False
    is_complete: bool = True
    column_nouns: frozenset[str] = frozenset()
    may_be_truncated: bool = False

    def transposed(self) -> Grid:
        """Return it with its columns as rows."""
        cells = tuple(zip(*self.cells, strict=True))
        return replace(
            self,
            rows=self.columns,
            columns=self.rows,
            cells=cells,
            row_nouns=self.column_nouns,
            column_nouns=self.row_nouns,
            totals={},
            is_transposed=True,
        )


def grids(text: PreparedText) -> tuple[Grid, ...]:
    """Return the grids of a text in order, each that has several columns turned as well.

    There are none in a language whose lexicon has no figures.
    """
    lexicon, found = text.lexicon, []
    if lexicon.figures is None:
        return ()
    lines = split_lines(text.original)
    starts = [line.start for line in lines]
    for block in text.cached(data_blocks):
        above = BlockHeading.of(lines, bisect_right(starts, block.start) - 1, lexicon)
        if grid := _grid(block, above, lexicon):
            grid = replace(grid, may_be_truncated=is_at_edge(block, text.original))
            found.append(grid)
            if len(grid.columns) > 1:
                found.append(grid.transposed())
    return tuple(found)


def data_blocks(text: PreparedText) -> tuple[DataBlock, ...]:
    """Return the blocks of data of a text, in order."""
    return find_blocks(text.original)


def is_at_edge(block: DataBlock, text: str) -> bool:
    """Say whether a block ends its text, or begins it below a title without naming its columns."""
    after = text[block.rows[-1][-1].end :].strip(_BLANK_SIGNS)
    before = text[: block.start].strip(_BLANK_SIGNS)
    return not after or (block.header is None and "\n" not in before)


def _grid(block: DataBlock, above: BlockHeading, lexicon: Lexicon) -> Grid | None:
    words = lexicon.figure_words
    rows = [[parse_cell(piece, lexicon) for piece in row] for row in block.rows]
    by_column = list(zip(*rows, strict=True))
    naming = next((n for n, cells in enumerate(by_column) if _are_row_names(cells, lexicon)), 0)
    names = [parse_label(row[naming], lexicon) for row in block.rows]
    headers = _headers(block, above, by_column, lexicon)
    values = [n for n, cells in enumerate(by_column) if n != naming and _has_values(cells)]
    if block.header and values[:1] == [0] and _only_numbers(by_column[0]):
        values = values[1:]
    kept = [n for n in values if not is_total(headers[n], words, whole=True)]
    if block.header and any(
        parse_cell(block.header[n], lexicon).quantity and not headers[n].period for n in values
    ):
        return None
    body = [n for n, name in enumerate(names) if not is_total(name, words)]
    cells = tuple(tuple(_with_unit(rows[n][column], headers[column]) for column in kept) for n in body)
    conventions = _conventions(cells, words)
    if not kept or len(body) < _LEAST_ROWS or not conventions:
        return None
    columns, told = as_periods([headers[n] for n in kept], lexicon)
    total = next((n for n, name in enumerate(names) if is_total(name, words)), None)
    return Grid(
        rows=tuple(names[n] for n in body),
        columns=tuple(columns),
        cells=cells,
        row_nouns=frozenset(figure_stems(block.header[naming].text, lexicon))
        if block.header
        else above.row_nouns,
        heading_words=above.words | told,
        conventions=conventions,
        start=block.start,
        totals={} if total is None else {n: rows[total][column] for n, column in enumerate(kept)},
        is_complete=above.is_complete and all(name.stems for name in names),
    )


def _with_unit(cell: DataCell, heading: AxisLabel) -> DataCell:
    return replace(cell, unit=(cell.quantity.unit if cell.quantity else None) or heading.unit)


def _headers(
    block: DataBlock, above: BlockHeading, cells: Sequence[Sequence[DataCell]], lexicon: Lexicon
) -> list[AxisLabel]:
    """Return the labels of the columns; what unit and power they have may stand in the line above."""
    lead = parse_label(Line(above.lead_line, 0, 0), lexicon)
    labels = [AxisLabel("", ())] * len(cells)
    if block.header:
        labels = [parse_label(piece, lexicon, is_heading=True) for piece in block.header]
    told = {label.unit for label in labels[1:]}
    told.update(cell.quantity.unit for column in cells for cell in column if cell.quantity)
    unit = unit_in(above.lead_line, lexicon.figure_words)
    unit = unit if told <= {None, unit} else None
    return [replace(label, unit=label.unit or unit, power=label.power or lead.power) for label in labels]


def _are_row_names(cells: Sequence[DataCell], lexicon: Lexicon) -> bool:
    """Say whether the cells of a column name rows: most have no figure, or all are years."""
    with_figures = sum(cell.has_figure for cell in cells)
    return 2 * with_figures < len(cells) or all(_is_year(cell, lexicon) for cell in cells)


def _is_year(cell: DataCell, lexicon: Lexicon) -> bool:
    time = parse_label(Line(cell.text, 0, 0), lexicon).period
    return time is not None and time.date is None


def _has_values(cells: Sequence[DataCell]) -> bool:
    """Say whether a column holds figures to compute with."""
    figures = [cell for cell in cells if cell.has_figure]
    return len(figures) >= _LEAST_ROWS and 2 * len(figures) >= len(cells)


def _only_numbers(cells: Sequence[DataCell]) -> bool:
    """Say whether the cells of a first column only number their rows: 1, 2, 3 and so on."""
    return [cell.text for cell in cells] == [str(n) for n in range(1, len(cells) + 1)]


def is_total(label: AxisLabel, words: FigureWords, *, whole: bool = False) -> bool:
    """Say whether a label begins as that of a total does; ``whole``: whether it says nothing else."""
    found = tuple(folded_words(label.text))
    return bool(found) and (words.totals.issuperset(found) if whole else found[0] in words.totals)


def _conventions(cells: Sequence[Sequence[DataCell]], words: FigureWords) -> tuple[NumberConvention, ...]:
    """Return the ways to read all numbers; the unlikely one only where it gives a column equal decimals.

    Beside 900, 1.010 has no decimals; beside 1.200 it may have three.
    """
    likely, columns = NumberConvention(words.decimal_sign), list(zip(*cells, strict=True))
    found: list[NumberConvention] = []
    for way in (likely, likely.other):
        read = [
            [cell.quantity.number.by_convention(way) for cell in column if cell.quantity]
            for column in columns
        ]
        if all(None not in column for column in read) and (not found or all(map(_is_even, read))):
            found.append(way)
    return tuple(found)


def _is_even(values: Sequence[Decimal | None]) -> bool:
    return len({value.as_tuple().exponent for value in values if value is not None}) <= 1


#: Signs that say yes and no in a cell.
YES_SIGNS, NO_SIGNS = frozenset("✓✔✅☑●x"), frozenset("✗✘❌☐○-–—")


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """Things in rows, what they are called, and for columns of yes and no what each says.

    - ``called``: stems of what the rows surely are called; ``named``: of what they may be called;
      ``lead``: of the line that leads them in.
    - ``columns``: the columns that say yes or no in every row, and by row in ``says`` whether each says yes.
    - ``rows``: what each row is, and its place in the text.
    - ``is_complete``: these are surely all; ``may_go_on``: it stands at an edge of its text.
    """

    row_nouns: frozenset[str]
    possible_row_nouns: frozenset[str]
    lead_stems: frozenset[str]
    rows: tuple[TextSpan, ...]
    labels: tuple[AxisLabel, ...]
    yes_no_columns: tuple[AxisLabel, ...]
    yes_cells: tuple[tuple[bool, ...], ...]
    is_complete: bool
    may_be_truncated: bool


def listings(text: PreparedText) -> tuple[Listing, ...]:
    """Return what a text lists, in order; nothing in a language whose lexicon has no figures."""
    lexicon = text.lexicon
    if lexicon.figures is None:
        return ()
    lists = item_lists(text.original)
    starts = {row[0].start for each in lists for row in each.rows}
    others = [block for block in text.cached(data_blocks) if block.rows[0][0].start not in starts]
    lines = split_lines(text.original)
    line_starts = [line.start for line in lines]
    found = []
    for block in sorted((*lists, *others), key=lambda block: block.start):
        above = BlockHeading.of(lines, bisect_right(line_starts, block.start) - 1, lexicon)
        found.append(_listing(block, above, text.original, lexicon))
    return tuple(found)


def _listing(block: DataBlock, above: BlockHeading, text: str, lexicon: Lexicon) -> Listing:
    every = [parse_label(row[0], lexicon) for row in block.rows]
    kept = [n for n, label in enumerate(every) if not is_total(label, lexicon.figure_words)]
    header = block.header or ()
    said = {n: _yes_cells([block.rows[row][n].text for row in kept], lexicon) for n in range(1, len(header))}
    columns = [n for n, found in said.items() if found]
    corner = frozenset(figure_stems(header[0].text, lexicon)) if header else above.row_nouns
    rows = tuple(block.rows[n][0] for n in kept)
    is_each_once = len({row.text for row in rows}) == len(rows) and all(row.text for row in rows)
    return Listing(
        row_nouns=corner,
        possible_row_nouns=above.possible_row_nouns | corner,
        lead_stems=frozenset(figure_stems(above.lead_line, lexicon))
        if above.lead_line.endswith(":")
        else frozenset(),
        rows=rows,
        labels=tuple(every[n] for n in kept),
        yes_no_columns=tuple(parse_label(header[n], lexicon, is_heading=True) for n in columns),
        yes_cells=tuple(zip(*(said[n] for n in columns), strict=True))
        if columns
        else tuple(() for _ in rows),
        is_complete=above.is_complete and is_each_once,
        may_be_truncated=is_at_edge(block, text),
    )


def _yes_cells(cells: Sequence[str], lexicon: Lexicon) -> list[bool]:
    """Return which cells of a column say yes; none where one says neither yes nor no."""
    words = lexicon.figure_words
    yes, no = words.yes | YES_SIGNS, words.no | NO_SIGNS
    told = [cell.strip().casefold() for cell in cells]
    return [cell in yes for cell in told] if yes.union(no).issuperset(told) else []
