"""Cells of data: what the text of one means as an amount or a date."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from scoring.figures.reading.amounts import Amount, amounts
from scoring.figures.reading.blocks import Piece
from scoring.figures.reading.times import whole_time
from scoring.lexicon import Lexicon

_BEFORE = re.compile(r"[ \t*_+]{0,4}")
# "€ 12,50 per maand", "7 dagen na de vervaldatum": what a cell may say besides its amount.
_AFTER = re.compile(r"(?:[ \u00a0*_/]{1,3}[^\W\d_]{1,20}){0,3}[ \t*_]{0,4}")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell with its place in the text, and the amount or the day that it is, if any.

    ``rest`` is what stands after the amount: amounts of another rest are not of one kind. ``unit`` is that of
    the amount, or of its heading.
    """

    text: str
    start: int
    end: int
    amount: Amount | None = None
    day: date | None = None
    rest: str = ""
    unit: str | None = None

    @property
    def has_figure(self) -> bool:
        """Whether it is an amount or a day."""
        return self.amount is not None or self.day is not None


def cell_of(piece: Piece, lexicon: Lexicon) -> Cell:
    """Return the cell that a piece of a text is, in a language whose lexicon has figures."""
    text, words = piece.text, lexicon.figure_words
    time = whole_time(text, lexicon)
    if time and time.date:
        return Cell(text, piece.start, piece.end, day=time.date)
    amount = next(amounts(text, words), None)
    if amount is None or not _BEFORE.fullmatch(text, 0, amount.start):
        return Cell(text, piece.start, piece.end)
    if not _AFTER.fullmatch(text, amount.end):
        return Cell(text, piece.start, piece.end)
    rest = text[amount.end :].strip(" \t*_").casefold()
    return Cell(text, piece.start, piece.end, amount=amount, rest=rest)
