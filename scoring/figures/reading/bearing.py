"""What of a text a figure may follow from, also where it cannot be computed from that."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from scoring.figures.reading.amounts import amounts
from scoring.figures.reading.blocks import Line, lines_of
from scoring.figures.reading.grids import Grid, grids
from scoring.figures.reading.labels import stem, stems_of
from scoring.figures.reading.listings import listings
from scoring.figures.reading.numbers import read_number
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
# So many words after a number tell what it is a number of.
_NEAR = 2


@dataclass(frozen=True, slots=True)
class Beside:
    """What stands beside amounts of one unit.

    ``near``: stems of their lines; ``above``: of what leads these in.
    """

    near: frozenset[str]
    above: frozenset[str]


@dataclass(frozen=True, slots=True)
class Bearing:
    """What of a text a figure may follow from.

    - ``listed``: stems of what the things in its lists and tables are called; ``leads``: of the lines that
      lead these in.
    - ``beside``: by unit, where it has several amounts of it; dates and times of day are units too, and None
      stands for bare numbers of its tables.
    - ``told``: its numbers, each with the stem of a word close after it or its unit: what it says itself
      need not follow from anything.
    """

    listed: frozenset[str] = frozenset()
    leads: frozenset[str] = frozenset()
    beside: Mapping[str | None, Beside] = field(default_factory=dict)
    told: frozenset[tuple[str, str]] = frozenset()

    def __bool__(self) -> bool:
        """Whether anything may follow from it."""
        return bool(self.listed or self.leads or self.beside)


def bearing(text: PreparedText) -> Bearing:
    """Return what of a text a figure may follow from; nothing in a language whose lexicon has no figures."""
    if text.lexicon.figures is None:
        return Bearing()
    found = _Found()
    for line, above in _lines(text.original):
        if _DIGIT.search(line.text):
            found.read(line, above, text.lexicon)
    for grid in text.derived(grids):
        found.add(grid)
    things, beside = text.derived(listings), found.beside()
    listed = frozenset[str]().union(*(each.called for each in things))
    leads = frozenset[str]().union(*(each.lead for each in things))
    told = frozenset(_told(text)) if listed or leads or beside else frozenset[tuple[str, str]]()
    return Bearing(listed, leads, beside, told)


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


class _Found:
    """The amounts of a text by their unit, and what stands beside them."""

    def __init__(self) -> None:
        self._values: defaultdict[str | None, set[str]] = defaultdict(set)
        self._near: defaultdict[str | None, set[str]] = defaultdict(set)
        self._above: defaultdict[str | None, set[str]] = defaultdict(set)

    def beside(self) -> Mapping[str | None, Beside]:
        """Return what stands beside the units of which there are several amounts."""
        return {
            unit: Beside(*(frozenset(kept[unit]) for kept in (self._near, self._above)))
            for unit, values in self._values.items()
            if len(values) >= _SEVERAL
        }

    def read(self, line: Line, above: str, lexicon: Lexicon) -> None:
        """Take in a line."""
        assert lexicon.figures is not None, "only a lexicon with figures is asked"
        found = dict.fromkeys(_amounts(line, lexicon))
        if not found:
            return
        for unit, written in found:
            self._values[unit].add(written)
            self._near[unit].update(stems_of(line.text, lexicon))
            self._above[unit].update(stems_of(above, lexicon))

    def add(self, grid: Grid) -> None:
        """Take in the bare numbers and the dates of a grid, which its labels stand beside."""
        if grid.is_turned:
            return
        near = {stem for label in (*grid.rows, *grid.columns) for stem in label.stems} | grid.corner
        for cell in (cell for row in grid.cells for cell in row):
            if cell.day or (cell.amount and cell.amount.unit is None):
                unit = DATE if cell.day else None
                self._values[unit].add(cell.text)
                self._near[unit].update(near)
                self._above[unit].update(grid.around)


def _amounts(line: Line, lexicon: Lexicon) -> Iterator[tuple[str, str]]:
    """Yield the units of a line's amounts, dates and times of day, each with how it is written."""
    assert lexicon.figures is not None, "only a lexicon with figures is asked"
    for amount in amounts(line.text, lexicon.figures):
        if amount.unit is not None:
            yield amount.unit, line.text[amount.start : amount.end]
    for time, start, end in times(line.text, lexicon):
        if time.date:
            yield DATE, line.text[start:end]
    for found in _CLOCKS.finditer(line.text):
        yield CLOCK, found.group()


def _told(text: PreparedText) -> Iterator[tuple[str, str]]:
    words, lexicon = text.words, text.lexicon
    assert lexicon.figures is not None, "only a lexicon with figures is asked"
    for place, word in enumerate(words):
        for form in _forms(word.text, lexicon):
            for after in words[place + 1 : place + 1 + _NEAR]:
                yield form, stem(after.text, lexicon)
    for amount in amounts(text.original, lexicon.figures, text.start, text.end):
        if amount.unit:
            yield from ((f"{value:f}", amount.unit) for value in amount.number.values)


def _forms(word: str, lexicon: Lexicon) -> frozenset[str]:
    """Return the forms of a number in digits or words; none of another word."""
    if number := read_number(word):
        return frozenset(f"{value:f}" for value in number.values)
    numbers = lexicon.claims.numbers
    return frozenset({str(numbers.index(word) + 2)}) if word in numbers else frozenset()
