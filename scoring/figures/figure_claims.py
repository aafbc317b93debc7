"""What comes of checking a figure that follows from data."""

from dataclasses import dataclass
from enum import StrEnum

from scoring.figures.data_blocks import TextSpan
from scoring.figures.table_cells import DataCell


class Operation(StrEnum):
    """How a figure follows from others."""

    SUM = "sum"
    AVERAGE = "average"
    DIFFERENCE = "difference"
    SHARE = "share"
    GROWTH = "growth"
    HIGHEST = "highest"
    LOWEST = "lowest"
    COUNT = "count"
    TIME_BETWEEN = "time_between"


class FigureOutcome(StrEnum):
    """Whether the data bear out what is claimed."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    NOT_CHECKABLE = "not_checkable"


class Obstacle(StrEnum):
    """Why a claim cannot be checked."""

    #: It says something besides that may change what is meant ("without", a name that the data do not have).
    UNKNOWN_WORDS = "unknown_words"
    #: It asks for something that is not computed, or for several things at once.
    OPERATION = "operation"
    #: Which of its figures is claimed is not clear, or there is none.
    FIGURE = "figure"
    #: Which rows, or which column, are meant is not clear.
    ROWS = "rows"
    COLUMN = "column"
    #: Figures of different units, or of a unit that the data do not tell.
    UNITS = "units"
    #: A cell that is needed holds no figure, or one that can be read in two ways; or the data do not agree
    #: with their own total.
    CELLS = "cells"
    #: Several data bear it, and they do not agree.
    SEVERAL_DATA = "several_data"
    #: The data that it may follow from are none that could be computed with.
    DATA = "data"
    #: It is off by so little that it may have been rounded.
    ROUNDING = "rounding"


@dataclass(frozen=True, slots=True)
class Derivation:
    """How the true figure follows: from which cells of which document, by which formula."""

    document_id: str
    cells: tuple[DataCell | TextSpan, ...]
    formula: str

    @property
    def span(self) -> tuple[int, int]:
        """The stretch of the document that holds all of its cells."""
        return min(cell.start for cell in self.cells), max(cell.end for cell in self.cells)


@dataclass(frozen=True, slots=True)
class FigureClaim:
    """A claim of a figure that follows from data, and what the data say of it.

    ``start``, ``end``: the place in the answer of the figure, or of the whole clause where it claims none.
    ``derivation``: given where it was computed; ``obstacle``: why it is not checkable. ``open``: the places
    of the figures that may follow from data, whether or not they could be computed. ``is_of_data``: it
    speaks of the data and not of something else that has a word with them in common.
    """

    outcome: FigureOutcome
    start: int
    end: int
    derivation: Derivation | None = None
    obstacle: Obstacle | None = None
    open_spans: tuple[tuple[int, int], ...] = ()
    is_about_data: bool = True
