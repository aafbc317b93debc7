"""Numbers that one plain computation gives from others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from scoring.figures.number_readings import (
    CLOCK,
    DATE,
    SECONDS_OF_MONTH,
    NumberReading,
    number_readings,
    time_units,
)
from scoring.figures.quantities import DURATION, MONEY, MONTHS, SHARE
from scoring.text.prepared_text import PreparedExchange

_DAY = 1440
_SECONDS_OF_DAY = 86_400
# Months are not converted to minutes: the largest factor is the days of a year.
_MOST_OF_A_UNIT = 366
_MOST_ROUNDED = Fraction(3, 100)
_FINEST = Fraction(1, 10_000)
# So many of a kind are computed with, by so many factors: a text of numbers alone must not take long.
_MOST_OPERANDS, _MOST_FACTORS = 300, 20
# Numbers farther apart are not added: in a long text, any number is the sum of two.
_NEAR = 200
# Nor are numbers of different things, unless they are as near as "12 girls and 15 boys".
_BESIDE = 30
_YEARS = range(1900, 2101)
_MONTHS_OF_YEAR = 12


@dataclass(frozen=True, slots=True)
class _Operand:
    value: Fraction
    source: int
    start: int
    size: Fraction

    def is_near(self, other: _Operand) -> bool:
        """Return whether two are close together, or one of them is in the question."""
        if self.source and other.source:
            return self.source == other.source and 0 < abs(self.start - other.start) <= _NEAR
        return self is not other

    def is_beside(self, other: _Operand) -> bool:
        """Return whether two stand next to each other in a text."""
        return self.source == other.source and 0 < abs(self.start - other.start) <= _BESIDE

    def may_be_share_of(self, other: _Operand) -> bool:
        """Return whether a share may be of an amount: a percentage of any in the same text."""
        return self.is_near(other) or (self.source == other.source and self.size < 1)


class DerivableNumbers:
    """What one plain computation gives from the numbers of a question and of documents.

    Only amounts of one kind are computed with:

    - a multiple of one or a part, by a number of the question or the answer, by what one unit of time that is
      named has of another ("a month" and "per year"), or by how often the question has what a document says;
    - a sum or difference of two that are close together, or of which one was asked about; of different things
      only a sum of two side by side, and of a date or year and a length of time;
    - a price by a number beside it ("a pack of 20 costs € 10");
    - a percentage of one of the same text, or that less or more, or the price that it is one of; what is left
      of a share; how much less one price is than another, of which one was asked about; and what rounds one
      of these;
    - the time between two times of day, or so long before or after one.

    What was found to follow counts as if it had been asked about.
    """

    def __init__(self, exchange: PreparedExchange) -> None:
        """Collect the numbers of the texts."""
        question, answer = exchange.question, exchange.answer
        texts = (question, *(document.text for document in exchange.context))
        self._operands: defaultdict[str | None, list[_Operand]] = defaultdict(list)
        for source, text in enumerate(texts):
            for each in text.cached(number_readings):
                self._add(each, source)
        read = [each for text in texts for each in text.cached(number_readings)]
        known_keys = {each.key for each in read if not each.is_tentative}
        for each in answer.cached(number_readings):
            if each.key in known_keys:
                self._add(each, 0)
        # Beside each what is its own place in the answer, since no number follows from itself.
        given = [(each, -1) for each in question.cached(number_readings)]
        given += [(each, each.start) for each in answer.cached(number_readings)]
        self._told = [
            (each.value, start)
            for each, start in given
            if each.kind in {None, SHARE} and isinstance(each.value, Fraction) and each.value
        ][:_MOST_FACTORS]
        asked = {**question.cached(time_units), **answer.cached(time_units)}.values()
        known = [size for text in texts for size in text.cached(time_units).values()]
        ratios = (Fraction(round(max(a, b) / min(a, b))) for a in asked for b in known)
        # "45 minutes for each 100 GB", of which 300 were asked about.
        times = (
            asked.value / known.value
            for kind, operands in self._operands.items()
            for asked in operands
            for known in operands
            if kind not in {None, CLOCK} and asked.source == 0 < known.source and known.value
        )
        factors = (*(ratio for ratio in ratios if 1 < ratio <= _MOST_OF_A_UNIT), *times)
        self._factors = [*dict.fromkeys(factors)][:_MOST_FACTORS]

    def _add(self, reading: NumberReading, source: int) -> None:
        own, value = self._operands[reading.kind], reading.value
        if isinstance(value, Fraction) and not reading.is_tentative and len(own) < _MOST_OPERANDS:
            own.append(_Operand(value, source, reading.start, reading.size))

    def is_derivable(self, candidates: Sequence[NumberReading]) -> bool:
        """Return whether a number follows by its readings; those of its kind count if there are any."""
        own = [each for each in candidates if each.kind is not None and self._operands[each.kind]]
        for each in own or candidates:
            value, size = each.value, each.size
            if isinstance(value, Fraction) and (
                value in self._exact(each.kind)
                or any(_is_rounded(value / size, result / size) for result in self._multiples(each))
            ):
                self._add(each, 0)
                return True
        return False

    def _multiples(self, reading: NumberReading) -> Iterator[Fraction]:
        """Yield what may be rounded: multiples, parts and shares of the amounts of its kind, and these."""
        kind, operands = reading.kind, self._operands
        if kind == CLOCK:
            return
        factors = [*self._factors, *(value for value, start in self._told if start != reading.start)]
        for each in operands[kind]:
            yield each.value
            yield from (found for by in factors if by for found in (each.value * by, each.value / by))
            if kind is not None:
                for share in (share for share in operands[SHARE] if share.may_be_share_of(each)):
                    yield from (each.value * by for by in (share.value, 1 - share.value, 1 + share.value))
                    if kind == MONEY and share.value:
                        yield each.value / share.value
        if kind == MONEY:
            bare = ((each, by) for each in operands[MONEY] for by in operands[None] if each.is_beside(by))
            yield from (each.value / by.value for each, by in bare if by.value)
        if kind == MONTHS:
            yield from (each.value / SECONDS_OF_MONTH for each in operands[DURATION])
        elif kind == DURATION:
            yield from (each.value * SECONDS_OF_MONTH for each in operands[MONTHS])

    def _exact(self, kind: str | None) -> Iterator[Fraction]:
        """Yield sums and differences, of times of day too."""
        own, spans, clock = (self._operands[each] for each in (kind, DURATION, CLOCK))
        if kind in {None, DATE}:
            yield from self._days_and_years(kind)
        if kind == SHARE:
            yield from (1 - each.value for each in own)
            prices = {each.value for each in self._operands[MONEY] if each.value > 0}
            asked = {each.value for each in self._operands[MONEY] if each.value > 0 and not each.source}
            yield from (1 - min(a, b) / max(a, b) for a in asked for b in prices)
        if kind == DURATION:
            yield from (abs(a.value - b.value) * 60 for a in clock for b in clock if a.is_near(b))
        if kind == CLOCK:
            pairs = [(a.value, b.value / 60) for a in clock for b in spans if a.is_near(b)]
            yield from (result % _DAY for a, b in pairs for result in (a + b, a - b))
        elif kind is None:
            yield from (a.value + b.value for a in own for b in own if a.is_beside(b))
        elif kind != DATE:
            pairs = [(a.value, b.value) for a in own for b in own if a.is_near(b)]
            yield from (result for a, b in pairs for result in (a + b, abs(a - b)))

    def _days_and_years(self, kind: str | None) -> Iterator[Fraction]:
        """Yield the dates, or the years if ``kind`` is None, a length of time away from one nearby."""
        own, spans, months = (self._operands[each] for each in (kind, DURATION, MONTHS))
        if kind == DATE:
            days = [(a.value, b.value / _SECONDS_OF_DAY) for a in own for b in spans if a.is_near(b)]
            yield from (result for a, b in days for result in (a + b, a - b))
            counts = ((a.value, b.value) for a in own for b in months if a.is_near(b))
            yield from (found for day, count in counts for found in _months_apart(day, count))
        else:
            years = [each for each in own if each.value in _YEARS]
            lengths = [(a.value, b.value / _MONTHS_OF_YEAR) for a in years for b in months if a.is_near(b)]
            yield from (result for year, length in lengths for result in (year + length, year - length))


def _months_apart(ordinal: Fraction, months: Fraction) -> Iterator[Fraction]:
    """Yield the same day of the month so many months before and after a date, where there is one."""
    day = date.fromordinal(int(ordinal))
    for sign in (1, -1):
        year, month = divmod(day.year * _MONTHS_OF_YEAR + day.month - 1 + sign * int(months), _MONTHS_OF_YEAR)
        with suppress(ValueError):  # 31 June, or beyond the calendar
            yield Fraction(day.replace(year=year, month=month + 1).toordinal())


def _is_rounded(value: Fraction, exact: Fraction) -> bool:
    """Return whether a value is another one, or that rounded."""
    if value == exact or not value or abs(value - exact) > _MOST_ROUNDED * abs(exact):
        return value == exact
    place = Fraction(1)
    while (value / place).denominator > 1 and place > _FINEST:
        place /= 10
    while (value / place / 10).denominator == 1:
        place *= 10
    return abs(value - exact) <= place / 2
