"""Grids: data with named rows and columns, the text above them, and what a text lists."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from scoring.figures.blocks import Block, Line, Piece, blocks, item_lists, lines_of
from scoring.figures.labels import Cell, Label, cell_of, label_of, stems_of, timed, unit_in
from scoring.figures.numbers import Convention
from scoring.lexicon import FigureWords, Lexicon
from scoring.text.prepared import PreparedText, folded_words

# A heading that stands further above its table is that of something else.
_HEADING_REACH = 200
_LEAD_REACH = 3
_LONGEST = 300
_HEADING = "#"
# A heading of more words is about more than what is listed below it.
_MOST_WORDS = 2


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands above a block: its headings, and the line before it.

    ``words``: their words and stems; ``lead``: the line before; ``called``: stems of what its rows are
    called ("Plans", "These roles are available:"); ``named``: stems of what they may be called.
    ``is_complete``: nothing says that these are only examples.
    """

    words: frozenset[str]
    lead: str
    called: frozenset[str]
    named: frozenset[str]
    is_complete: bool

    @classmethod
    def of(cls, lines: Sequence[Line], at: int, lexicon: Lexicon) -> Surroundings:
        """Return what stands above the line at a place."""
        above = [line.text.strip() for line in reversed(lines[max(at - _HEADING_REACH, 0) : at])]
        heading = next((line for line in above if line.startswith(_HEADING)), "")
        near = [line for line in above[:_LEAD_REACH] if line]
        lead = near[0][-_LONGEST:] if near and not near[0].startswith((_HEADING, "|")) else ""
        title = next((line.text.strip() for line in lines if line.text.strip()), "") if at else ""
        text = "\n".join(part[-_LONGEST:] for part in (title, heading, lead))
        words = tuple(folded_words(text))
        nearest = (heading or title)[-_LONGEST:]
        return cls(
            words=frozenset((*words, *stems_of(text, lexicon))),
            lead=lead,
            called=_called(nearest, "" if lead == title else lead, lexicon),
            named=frozenset(stems_of(f"{nearest}\n{lead}", lexicon)),
            is_complete=not lexicon.figure_words.examples.occurs(words),
        )


def _called(heading: str, lead: str, lexicon: Lexicon) -> frozenset[str]:
    """Return the stem of the plural that a short heading has, of the first one of the line that leads in.

    Where there is such a line a heading counts only if that has its word too: "Prices" is not what the items
    below "You can pay with:" are called. A verb may be taken for a plural; nobody counts by that.
    """
    plurals = _plurals(heading, lexicon) if len(stems_of(heading, lexicon)) <= _MOST_WORDS else ()
    above = frozenset(plurals) if len(plurals) == 1 else frozenset[str]()
    if not lead:
        return above
    first = _plurals(lead, lexicon)[:1] if lead.endswith(":") else ()
    return above.intersection(stems_of(lead, lexicon)).union(first)


def _plurals(text: str, lexicon: Lexicon) -> tuple[str, ...]:
    words = (word for word in folded_words(text) if word not in lexicon.function_words)
    return tuple(stem for word in words if _is_plural(word, lexicon) for stem in stems_of(word, lexicon))


def _is_plural(word: str, lexicon: Lexicon) -> bool:
    """Say whether a word may be a plural: its stem lacks more than the "e" that singular and plural share."""
    return lexicon.stem(word) not in (word, word.removesuffix("e"))


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


#: Signs that say yes and no in a cell.
YES, NO = frozenset("✓✔✅☑●x"), frozenset("✗✘❌☐○-–—")


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """Things in rows, what they are called, and for columns of yes and no what each says.

    - ``called``: stems of what the rows surely are called; ``named``: of what they may be called;
      ``lead``: of the line that leads them in.
    - ``columns``: the columns that say yes or no in every row, and by row in ``says`` whether each says yes.
    - ``rows``: what each row is, and its place in the text.
    - ``is_complete``: these are surely all; ``may_go_on``: it stands at an edge of its text.
    """

    called: frozenset[str]
    named: frozenset[str]
    lead: frozenset[str]
    rows: tuple[Piece, ...]
    labels: tuple[Label, ...]
    columns: tuple[Label, ...]
    says: tuple[tuple[bool, ...], ...]
    is_complete: bool
    may_go_on: bool


def listings(text: PreparedText) -> tuple[Listing, ...]:
    """Return what a text lists, in order; nothing in a language whose lexicon has no figures."""
    lexicon = text.lexicon
    if lexicon.figures is None:
        return ()
    lists = item_lists(text.original)
    starts = {row[0].start for each in lists for row in each.rows}
    others = [block for block in text.derived(data_blocks) if block.rows[0][0].start not in starts]
    lines = lines_of(text.original)
    line_starts = [line.start for line in lines]
    found = []
    for block in sorted((*lists, *others), key=lambda block: block.start):
        above = Surroundings.of(lines, bisect_right(line_starts, block.start) - 1, lexicon)
        found.append(_listing(block, above, text.original, lexicon))
    return tuple(found)


def _listing(block: Block, above: Surroundings, text: str, lexicon: Lexicon) -> Listing:
    every = [label_of(row[0], lexicon) for row in block.rows]
    kept = [n for n, label in enumerate(every) if not is_total(label, lexicon.figure_words)]
    header = block.header or ()
    said = {n: _says([block.rows[row][n].text for row in kept], lexicon) for n in range(1, len(header))}
    columns = [n for n, found in said.items() if found]
    corner = frozenset(stems_of(header[0].text, lexicon)) if header else above.called
    rows = tuple(block.rows[n][0] for n in kept)
    is_each_once = len({row.text for row in rows}) == len(rows) and all(row.text for row in rows)
    return Listing(
        called=corner,
        named=above.named | corner,
        lead=frozenset(stems_of(above.lead, lexicon)) if above.lead.endswith(":") else frozenset(),
        rows=rows,
        labels=tuple(every[n] for n in kept),
        columns=tuple(label_of(header[n], lexicon, is_heading=True) for n in columns),
        says=tuple(zip(*(said[n] for n in columns), strict=True)) if columns else tuple(() for _ in rows),
        is_complete=above.is_complete and is_each_once,
        may_go_on=is_at_edge(block, text),
    )


def _says(cells: Sequence[str], lexicon: Lexicon) -> list[bool]:
    """Return which cells of a column say yes; none where one says neither yes nor no."""
    words = lexicon.figure_words
    yes, no = words.yes | YES, words.no | NO
    told = [cell.strip().casefold() for cell in cells]
    return [cell in yes for cell in told] if yes.union(no).issuperset(told) else []
