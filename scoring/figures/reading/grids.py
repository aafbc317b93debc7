"""Grids: data with named rows and columns, whatever it was written as."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from scoring.figures.reading.blocks import Block, Line, blocks, lines_of
from scoring.figures.reading.cells import Cell, cell_of
from scoring.figures.reading.labels import Label, label_of, stems_of, timed, unit_in
from scoring.figures.reading.numbers import Convention
from scoring.figures.reading.surroundings import Surroundings
from scoring.lexicon import FigureWords, Lexicon
from scoring.text.prepared import PreparedText, folded_words

_LEAST_ROWS = 2
# What stands around cells and says nothing.
_NOTHING = '|*_`~"- \t\r\n'


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

    rows: tuple[Label, ...]
    columns: tuple[Label, ...]
    cells: tuple[tuple[Cell, ...], ...]
    corner: frozenset[str]
    around: frozenset[str]
    conventions: tuple[Convention, ...]
    start: int
    totals: Mapping[int, Cell] = field(default_factory=dict)
    is_turned: bool = False
    is_complete: bool = True
    across: frozenset[str] = frozenset()
    may_go_on: bool = False

    def turned(self) -> Grid:
        """Return it with its columns as rows."""
        cells = tuple(zip(*self.cells, strict=True))
        return replace(
            self,
            rows=self.columns,
            columns=self.rows,
            cells=cells,
            corner=self.across,
            across=self.corner,
            totals={},
            is_turned=True,
        )


def grids(text: PreparedText) -> tuple[Grid, ...]:
    """Return the grids of a text in order, each that has several columns turned as well.

    There are none in a language whose lexicon has no figures.
    """
    lexicon, found = text.lexicon, []
    if lexicon.figures is None:
        return ()
    lines = lines_of(text.original)
    starts = [line.start for line in lines]
    for block in text.derived(data_blocks):
        above = Surroundings.of(lines, bisect_right(starts, block.start) - 1, lexicon)
        if grid := _grid(block, above, lexicon):
            grid = replace(grid, may_go_on=is_at_edge(block, text.original))
            found.append(grid)
            if len(grid.columns) > 1:
                found.append(grid.turned())
    return tuple(found)


def data_blocks(text: PreparedText) -> tuple[Block, ...]:
    """Return the blocks of data of a text, in order."""
    return blocks(text.original)


def is_at_edge(block: Block, text: str) -> bool:
    """Say whether a block ends its text, or begins it below a title without naming its columns."""
    after = text[block.rows[-1][-1].end :].strip(_NOTHING)
    before = text[: block.start].strip(_NOTHING)
    return not after or (block.header is None and "\n" not in before)


def _grid(block: Block, above: Surroundings, lexicon: Lexicon) -> Grid | None:
    words = lexicon.figure_words
    rows = [[cell_of(piece, lexicon) for piece in row] for row in block.rows]
    by_column = list(zip(*rows, strict=True))
    naming = next((n for n, cells in enumerate(by_column) if _names(cells, lexicon)), 0)
    names = [label_of(row[naming], lexicon) for row in block.rows]
    headers = _headers(block, above, by_column, lexicon)
    values = [n for n, cells in enumerate(by_column) if n != naming and _has_values(cells)]
    if block.header and values[:1] == [0] and _only_numbers(by_column[0]):
        values = values[1:]
    kept = [n for n in values if not is_total(headers[n], words, whole=True)]
    if block.header and any(cell_of(block.header[n], lexicon).amount and not headers[n].time for n in values):
        return None
    body = [n for n, name in enumerate(names) if not is_total(name, words)]
    cells = tuple(tuple(_told(rows[n][column], headers[column]) for column in kept) for n in body)
    conventions = _conventions(cells, words)
    if not kept or len(body) < _LEAST_ROWS or not conventions:
        return None
    columns, told = timed([headers[n] for n in kept], lexicon)
    total = next((n for n, name in enumerate(names) if is_total(name, words)), None)
    return Grid(
        rows=tuple(names[n] for n in body),
        columns=tuple(columns),
        cells=cells,
        corner=frozenset(stems_of(block.header[naming].text, lexicon)) if block.header else above.called,
        around=above.words | told,
        conventions=conventions,
        start=block.start,
        totals={} if total is None else {n: rows[total][column] for n, column in enumerate(kept)},
        is_complete=above.is_complete and all(name.stems for name in names),
    )


def _told(cell: Cell, heading: Label) -> Cell:
    return replace(cell, unit=(cell.amount.unit if cell.amount else None) or heading.unit)


def _headers(
    block: Block, above: Surroundings, cells: Sequence[Sequence[Cell]], lexicon: Lexicon
) -> list[Label]:
    """Return the labels of the columns; what unit and power they have may stand in the line above."""
    lead = label_of(Line(above.lead, 0, 0), lexicon)
    labels = [Label("", ())] * len(cells)
    if block.header:
        labels = [label_of(piece, lexicon, is_heading=True) for piece in block.header]
    told = {label.unit for label in labels[1:]}
    told.update(cell.amount.unit for column in cells for cell in column if cell.amount)
    unit = unit_in(above.lead, lexicon.figure_words)
    unit = unit if told <= {None, unit} else None
    return [replace(label, unit=label.unit or unit, power=label.power or lead.power) for label in labels]


def _names(cells: Sequence[Cell], lexicon: Lexicon) -> bool:
    """Say whether the cells of a column name rows: most have no figure, or all are years."""
    with_figures = sum(cell.has_figure for cell in cells)
    return 2 * with_figures < len(cells) or all(_is_year(cell, lexicon) for cell in cells)


def _is_year(cell: Cell, lexicon: Lexicon) -> bool:
    time = label_of(Line(cell.text, 0, 0), lexicon).time
    return time is not None and time.date is None


def _has_values(cells: Sequence[Cell]) -> bool:
    """Say whether a column holds figures to compute with."""
    figures = [cell for cell in cells if cell.has_figure]
    return len(figures) >= _LEAST_ROWS and 2 * len(figures) >= len(cells)


def _only_numbers(cells: Sequence[Cell]) -> bool:
    """Say whether the cells of a first column only number their rows: 1, 2, 3 and so on."""
    return [cell.text for cell in cells] == [str(n) for n in range(1, len(cells) + 1)]


def is_total(label: Label, words: FigureWords, *, whole: bool = False) -> bool:
    """Say whether a label begins as that of a total does; ``whole``: whether it says nothing else."""
    found = tuple(folded_words(label.text))
    return bool(found) and (words.totals.issuperset(found) if whole else found[0] in words.totals)


def _conventions(cells: Sequence[Sequence[Cell]], words: FigureWords) -> tuple[Convention, ...]:
    """Return the ways to read all numbers; the unlikely one only where it gives a column equal decimals.

    Beside 900, 1.010 has no decimals; beside 1.200 it may have three.
    """
    likely, columns = Convention(words.decimal_sign), list(zip(*cells, strict=True))
    found: list[Convention] = []
    for way in (likely, likely.other):
        read = [[cell.amount.number.read(way) for cell in column if cell.amount] for column in columns]
        if all(None not in column for column in read) and (not found or all(map(_is_even, read))):
            found.append(way)
    return tuple(found)


def _is_even(values: Sequence[Decimal | None]) -> bool:
    return len({value.as_tuple().exponent for value in values if value is not None}) <= 1
