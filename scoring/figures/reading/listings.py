"""Things that a text lists: the rows of its tables and the items of its lists, and what these are called."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from scoring.figures.reading.blocks import Block, Piece, item_lists, lines_of
from scoring.figures.reading.grids import data_blocks, is_at_edge, is_total
from scoring.figures.reading.labels import Label, label_of, stems_of
from scoring.figures.reading.surroundings import Surroundings
from scoring.lexicon import Lexicon
from scoring.text.prepared import PreparedText

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
