"""What of a text a figure may follow from, also where it cannot be computed from that."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from scoring.figures.reading.amounts import amounts
from scoring.figures.reading.blocks import Line, lines_of
from scoring.figures.reading.grids import grids
from scoring.figures.reading.labels import stems_of
from scoring.figures.reading.listings import listings
from scoring.figures.reading.times import times
from scoring.lexicon import Lexicon
from scoring.text.prepared import PreparedText

# A longer line is no data for people to read.
_LONGEST_LINE = 2_000
_SEVERAL = 2
_HEADING = "#"
#: Dates and times of day are amounts of these: lengths of time follow from them.
DATE, CLOCK = "date", "clock"
_DIGIT = re.compile(r"\d")
_CLOCKS = re.compile(r"(?<![\d.,:])\d{1,2}[.:]\d\d ?(?:uur ?)?[-–—] ?\d{1,2}[.:]\d\d(?![\d.,:])")


@dataclass(frozen=True, slots=True)
class Bearing:
    """What of a text a figure may follow from.

    - ``listed``: stems of what the things in its lists and tables are called; ``leads``: of the lines that
      lead these in.
    - ``beside``: by unit, where it has several amounts of it, stems of their lines and of what leads these
      in; dates and times of day are units too, and None stands for bare numbers of its tables.
    """

    listed: frozenset[str] = frozenset()
    leads: frozenset[str] = frozenset()
    beside: Mapping[str | None, frozenset[str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether anything may follow from it."""
        return bool(self.listed or self.leads or self.beside)


def bearing(text: PreparedText) -> Bearing:
    """Return what of a text a figure may follow from; nothing in a language whose lexicon has no figures."""
    if text.lexicon.figures is None:
        return Bearing()
    unit: str | None
    values: defaultdict[str | None, set[str]] = defaultdict(set)
    beside: defaultdict[str | None, set[str]] = defaultdict(set)
    for line, above in _lines(text.original):
        for unit, written in _amounts(line, text.lexicon) if _DIGIT.search(line.text) else ():
            values[unit].add(written)
            beside[unit].update(stems_of(f"{line.text}\n{above}", text.lexicon))
    for grid in text.derived(grids):
        for cell in (cell for row in grid.cells for cell in row):
            if cell.day or (cell.amount and cell.amount.unit is None):
                unit = DATE if cell.day else None
                values[unit].add(cell.text)
                labels = (stem for label in (*grid.rows, *grid.columns) for stem in label.stems)
                beside[unit].update(grid.corner, grid.around, labels)
    things = text.derived(listings)
    return Bearing(
        frozenset[str]().union(*(each.called for each in things)),
        frozenset[str]().union(*(each.lead for each in things)),
        {unit: frozenset(beside[unit]) for unit, found in values.items() if len(found) >= _SEVERAL},
    )


def _lines(text: str) -> Iterator[tuple[Line, str]]:
    """Yield the lines that say something, each with the heading above it and the line that leads it in."""
    heading = lead = ""
    for line in lines_of(text):
        if not line.text.strip() or len(line.text) > _LONGEST_LINE:
            continue
        if line.text.lstrip().startswith(_HEADING):
            heading, lead = line.text, ""
        yield line, f"{heading}\n{lead}"
        if line.text.rstrip().endswith(":"):
            lead = line.text


def _amounts(line: Line, lexicon: Lexicon) -> Iterator[tuple[str, str]]:
    """Yield the units of a line's amounts, dates and times of day, each with how it is written."""
    for amount in amounts(line.text, lexicon.figure_words):
        if amount.unit is not None:
            yield amount.unit, line.text[amount.start : amount.end]
    for time, start, end in times(line.text, lexicon):
        if time.date:
            yield DATE, line.text[start:end]
    for found in _CLOCKS.finditer(line.text):
        yield CLOCK, found.group()
