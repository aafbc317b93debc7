"""Numbers and amounts of a text, read with a decimal point and with a decimal comma."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum

from scoring.lexicon import FigureWords

# So many digits in front and after are enough for any amount, and bound what is computed.
_MOST_DIGITS, _MOST_FRACTION, _MOST_GROUPS = 15, 6, 5
_SPACES = "\u00a0\u202f"

#: What a number may look like; whether it is one tells :func:`parse_number`.
NUMBER = rf"\d{{1,{_MOST_DIGITS}}}(?:[.,{_SPACES}]\d{{1,{_MOST_FRACTION}}}){{0,{_MOST_GROUPS}}}"


class NumberConvention(Enum):
    """Which sign stands before the fraction; the other one may part thousands."""

    POINT = "."
    COMMA = ","

    @property
    def other(self) -> NumberConvention:
        """The convention that has the signs the other way round."""
        return NumberConvention.COMMA if self is NumberConvention.POINT else NumberConvention.POINT


@dataclass(frozen=True, slots=True)
class Number:
    """A number by either convention; None where it cannot be written so.

    Its exponent tells how precisely it is written: 1.50 has two decimals.
    """

    point: Decimal | None
    comma: Decimal | None

    def by_convention(self, convention: NumberConvention) -> Decimal | None:
        """Return the value by a convention."""
        return self.point if convention is NumberConvention.POINT else self.comma

    @property
    def values(self) -> tuple[Decimal, ...]:
        """The different values that it can have."""
        found = [value for value in (self.point, self.comma) if value is not None]
        return tuple(found[:1] if len(set(found)) == 1 else found)

    def scaled(self, power: int, *, negative: bool = False) -> Number:
        """Return it times a power of ten, and with its sign."""
        return Number(*(_scaled(value, power, negative) for value in (self.point, self.comma)))


def parse_number(text: str) -> Number | None:
    """Return the number that a text is, without sign or unit, or None where it is none.

    >>> parse_number("1.234,56")
    Number(point=None, comma=Decimal('1234.56'))
    >>> parse_number("1.234")
    Number(point=Decimal('1.234'), comma=Decimal('1234'))
    """
    if not re.fullmatch(NUMBER, text):
        return None
    number = Number(_read(text, NumberConvention.POINT), _read(text, NumberConvention.COMMA))
    return number if number.values else None


def _read(text: str, convention: NumberConvention) -> Decimal | None:
    whole, sign, fraction = text.partition(convention.value)
    if sign and not fraction.isascii():
        return None
    first, *groups = re.split(f"[{re.escape(convention.other.value)}{_SPACES}]", whole)
    is_grouped = all(len(group) == 3 for group in groups) and len(first) <= 3  # noqa: PLR2004 - thousands
    has_code = len(first) > 1 and first.startswith("0")
    if has_code or (groups and (not is_grouped or first == "0")) or (sign and not fraction.isdigit()):
        return None
    digits = "".join((first, *groups))
    return Decimal(f"{digits}.{fraction}" if sign else digits) if len(digits) <= _MOST_DIGITS else None


def _scaled(value: Decimal | None, power: int, negative: bool) -> Decimal | None:
    if value is None:
        return None
    scaled = value.scaleb(power) if power else value
    return -scaled if negative else scaled


PERCENT = "percent"
#: Units that are money.
CURRENCIES = frozenset({"EUR", "USD", "GBP"})
#: Units of time that days between two dates can be told in.
CALENDAR_UNITS = frozenset({"day", "week", "month", "year"})

#: Signs that are units.
UNIT_SIGNS = {"€": "EUR", "$": "USD", "£": "GBP", "%": PERCENT}
_GAP = "[ \u00a0]?"
# A sign or code before it, and no part of a longer number, date, time or version.
_AMOUNT = re.compile(
    rf"(?<![\w.,:/+-])(?P<before>(?:[€$£]|(?:EUR|USD|GBP)\b){_GAP})?(?P<minus>[-−])?(?P<number>{NUMBER})"
    r"(?!\d|[.,:/–-]\d)(?P<dash>[.,][-–—])?"
)
_SIGN_AFTER = re.compile(rf"{_GAP}(?P<sign>[%€$£])")
# A unit is a word; "3rd" and "24-hour" have none.
_WORD_AFTER = re.compile(r"(?P<gap>[ \u00a0]?)(?P<word>[^\W\d_]{1,20}(?:'s)?)(?![\w'])")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit and its place in the text.

    ``unit`` is a currency's code, "percent" or one of the lexicon's ``units``; None where it has none.
    """

    number: Number
    unit: str | None
    start: int
    end: int


def find_quantities(
    text: str, words: FigureWords, start: int = 0, end: int | None = None
) -> Iterator[Quantity]:
    """Yield the amounts of ``text[start:end]``, in order."""
    stop = len(text) if end is None else end
    for found in _AMOUNT.finditer(text, start, stop):
        if amount := _quantity(text, found, words, stop):
            yield amount


def _quantity(text: str, found: re.Match[str], words: FigureWords, stop: int) -> Quantity | None:
    number = parse_number(found["number"])
    end, power = found.end(), 0
    if number is None:
        return None
    word = _WORD_AFTER.match(text, end, stop)
    if word and (known := words.power_of.get(word["word"].casefold())):
        power, end = known, word.end()
        word = _WORD_AFTER.match(text, end, stop)
    unit = _sign_before(found["before"])
    if unit is None and (sign := _SIGN_AFTER.match(text, end, stop)):
        unit, end = UNIT_SIGNS[sign["sign"]], sign.end()
    elif word:
        means = words.unit_of.get(word["word"].replace("’", "'").casefold())
        if means is None and not word["gap"]:
            return None
        if means and unit in {None, means}:
            unit, end = means, word.end()
    return Quantity(number.scaled(power, negative=bool(found["minus"])), unit, found.start(), end)


def _sign_before(text: str | None) -> str | None:
    if not text:
        return None
    code = text.strip(" \u00a0")
    return UNIT_SIGNS.get(code, code)
