"""Figures that follow from a document's data: how many things it lists, and what else may follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from scoring.figures.clause import Clause, Figure, indices
from scoring.figures.data_blocks import TextSpan
from scoring.figures.derivation_hints import DerivationHints
from scoring.figures.quantities import Bound, Closeness, closeness
from scoring.figures.tables import Table
from scoring.lexicon import Lexicon

_LIMITS = frozenset({Bound.AT_MOST, Bound.AT_LEAST})


class FigureOutcome(StrEnum):
    """Whether the data bear out what is claimed."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    NOT_CHECKABLE = "not_checkable"


@dataclass(frozen=True, slots=True)
class Derivation:
    """How the true figure follows: from which rows of which document, by which formula."""

    document_id: str
    rows: tuple[TextSpan, ...]
    formula: str

    @property
    def span(self) -> tuple[int, int]:
        """The stretch of the document that holds all of the rows."""
        return self.rows[0].start, self.rows[-1].end


@dataclass(frozen=True, slots=True)
class FigureClaim:
    """A claim of a figure that follows from data, and what the data say of it.

    ``start``, ``end``: the place in the answer of the figure that is counted, or of the whole clause.
    ``derivation``: how the true figure follows, where things were counted. ``open_spans``: the places of the
    figures that may follow from data, whether or not they were counted.
    """

    outcome: FigureOutcome
    start: int
    end: int
    derivation: Derivation | None = None
    open_spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class DataSource:
    """The data of a document: what it lists, and what of it a figure may follow from."""

    document_id: str
    listings: tuple[Table, ...]
    hints: DerivationHints


def check_clause(
    text: str, offset: int, lexicon: Lexicon, sources: Sequence[DataSource]
) -> FigureClaim | None:
    r"""Check a clause of an answer that claims what follows from data of its documents.

    A number of listed things ("there are 4 plans") is compared with their list. Any other figure that may
    follow from the data is left open (:mod:`scoring.figures.derivation_hints`).

    Args:
        text: The clause.
        offset: Where it begins in the answer.
        lexicon: That of the answer's language.
        sources: The data of the documents.

    Returns:
        The claim, with what the data say of it; None where none of its figures may follow from them.

    >>> from scoring.figures.derivation_hints import derivation_hints
    >>> from scoring.figures.tables import listings
    >>> from scoring.lexicon import load_shipped
    >>> from scoring.text.prepared_text import PreparedText
    >>> plans = PreparedText.of("# Plans\n\n- Basic: $10\n- Team: $25\n\nAsk us.", load_shipped()["en"])
    >>> source = DataSource("plans", plans.cached(listings), plans.cached(derivation_hints))
    >>> claim = check_clause("There are 4 plans.", 0, plans.lexicon, [source])
    >>> claim.outcome.value, claim.derivation.formula
    ('refuted', '2 rows')
    """
    if lexicon.figures is None or (clause := Clause.of(text, lexicon)) is None:
        return None
    counted = _check_count(clause, sources)
    refuted = counted.figure if counted and counted.outcome is FigureOutcome.REFUTED else None
    figures = {figure: None for source in sources for figure in source.hints.derivable_figures(clause)}
    # What is refuted is known to be another one.
    spans = tuple(
        (offset + each.quantity.start, offset + each.quantity.end) for each in figures if each != refuted
    )
    if counted:
        place = counted.figure.quantity
        return FigureClaim(
            counted.outcome, offset + place.start, offset + place.end, counted.derivation, spans
        )
    if not spans:
        return None
    return FigureClaim(FigureOutcome.NOT_CHECKABLE, offset, offset + len(text), open_spans=spans)


@dataclass(frozen=True, slots=True)
class _CheckedCount:
    """A number of things that a clause claims, and what their list says of it."""

    figure: Figure
    outcome: FigureOutcome = FigureOutcome.NOT_CHECKABLE
    derivation: Derivation | None = None


def _check_count(clause: Clause, sources: Sequence[DataSource]) -> _CheckedCount | None:
    """Return what the lists say of the number of their things; not checkable where they do not agree."""
    found = [
        counted
        for source in sources
        for listing in source.listings
        if (counted := _compare_count(clause, listing, source.document_id))
    ]
    sure = [each for each in found if each.derivation]
    if len({(each.outcome, each.derivation.formula) for each in sure if each.derivation}) == 1:
        return sure[0]
    return _CheckedCount(found[0].figure) if found else None


def _compare_count(clause: Clause, listing: Table, document_id: str) -> _CheckedCount | None:
    """Return what one list says of how many of its things a clause claims; None where it claims none.

    It is checkable where the clause says that there are so many, and no more: any other word may change what
    is claimed. A list that may go on or has only examples refutes nothing.
    """
    figure = _counted_figure(clause, listing)
    if figure is None or clause.bounds is None:
        return None
    lists, small = clause.figure_words, clause.lexicon.function_words | clause.figure_words.fillers
    counts = indices(clause.find_phrases(lists.counts))
    known = counts | indices(clause.find_phrases(lists.all_of)) | clause.bounds.word_indices
    is_plain = all(
        n in known
        or figure.word_start <= n < figure.word_end
        or (word.text in small and word.text not in clause.lexicon.negations)
        or clause.stems[n] in listing.possible_row_nouns
        for n, word in enumerate(clause.words)
    )
    rows = [row for row in listing.rows if not lists.totals.issuperset({*row.text.casefold().split()[:1]})]
    bound = clause.bounds.of(figure)
    close = max(closeness(Decimal(len(rows)), each, bound) for each in figure.quantity.number.values)
    is_each_once = len({row.text for row in rows}) == len(rows)
    is_sure = close is Closeness.SAME or (
        close is Closeness.OFF and listing.is_complete and is_each_once
    )
    if not (counts and is_plain and rows and is_sure):
        return _CheckedCount(figure)
    outcome = FigureOutcome.CONFIRMED if close is Closeness.SAME else FigureOutcome.REFUTED
    return _CheckedCount(figure, outcome, Derivation(document_id, tuple(rows), f"{len(rows)} rows"))


def _counted_figure(clause: Clause, listing: Table) -> Figure | None:
    """Return the number that stands right before what the rows are called; "up to 25 plans" is a limit."""
    for figure in sorted(clause.numbers, key=lambda each: each.word_start):
        is_limit = clause.bounds is None or clause.bounds.of(figure) in _LIMITS
        after = clause.stems[figure.word_end : figure.word_end + 1]
        if figure.quantity.unit is None and not is_limit and not listing.row_nouns.isdisjoint(after):
            return figure
    return None
