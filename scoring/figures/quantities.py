"""Quantities: numbers with a decimal point or comma, their units, and how two of them compare."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, IntEnum, auto
from fractions import Fraction

from scoring.lexicon import FigureWords
from scoring.values.checked_claims import ClaimStatus

# So many digits in front and after are enough for any amount, and bound what is computed.
_MOST_DIGITS, _MOST_FRACTION, _MOST_GROUPS = 15, 6, 5
_SPACES = "\u00a0\u202f"

#: What a number may look like; :func:`parse_number` decides whether it is one.
NUMBER = rf"\d{{1,{_MOST_DIGITS}}}(?:[.,{_SPACES}]\d{{1,{_MOST_FRACTION}}}){{0,{_MOST_GROUPS}}}"


@dataclass(frozen=True, slots=True)
class Number:
    """A number as read with a decimal point and with a decimal comma; None where it cannot be written so.

    The other sign may separate thousands. The exponent is its precision: 1.50 has two decimals.
    """

    point: Decimal | None
    comma: Decimal | None

    @property
    def values(self) -> tuple[Decimal, ...]:
        """The different values that it can have."""
        return tuple(dict.fromkeys(value for value in (self.point, self.comma) if value is not None))


def parse_number(text: str) -> Number | None:
    """Return the number that a text is, without sign or unit, or None where it is none.

    >>> parse_number("1.234,56")
    Number(point=None, comma=Decimal('1234.56'))
    >>> parse_number("1.234")
    Number(point=Decimal('1.234'), comma=Decimal('1234'))
    """
    if not re.fullmatch(NUMBER, text):
        return None
    number = Number(_read(text, ".", ","), _read(text, ",", "."))
    return number if number.values else None


def _read(text: str, decimal_sign: str, other: str) -> Decimal | None:
    whole, sign, fraction = text.partition(decimal_sign)
    if sign and not fraction.isascii():
        return None
    first, *groups = re.split(f"[{other}{_SPACES}]", whole)
    is_grouped = all(len(group) == 3 for group in groups) and len(first) <= 3  # noqa: PLR2004 - thousands
    has_code = len(first) > 1 and first.startswith("0")
    if has_code or (groups and (not is_grouped or first == "0")) or (sign and not fraction.isdigit()):
        return None
    digits = "".join((first, *groups))
    return Decimal(f"{digits}.{fraction}" if sign else digits) if len(digits) <= _MOST_DIGITS else None


PERCENT = "percent"
#: What an amount is of, where that is no thing that is counted.
SHARE, DURATION, MONTHS, MONEY, BYTES = "share", "span", "months", "money", "bytes"

#: How much of its kind a unit is: the same amount in another unit is the same.
UNIT_SIZES = {
    unit: (kind, Fraction(size))
    for kind, sizes in {
        DURATION: "second 1 minute 60 quarter_hour 900 half_hour 1800 hour 3600 day 86400 week 604800 "
        "fortnight 1209600",
        MONTHS: "month 1 quarter 3 half_year 6 year 12 decade 120",
        MONEY: "cent 1/100 EUR 1 USD 1 GBP 1",
        SHARE: "permille 1/1000 percent 1/100",
        "length": "mm 1 cm 10 m 1000 km 1000000",
        "weight": "mg 1 g 1000 kg 1000000 tonne 1000000000",
        "volume": "ml 1 cl 10 dl 100 litre 1000",
        BYTES: "KB 1 MB 1000 GB 1000000 TB 1000000000",
    }.items()
    for unit, size in zip(sizes.split()[::2], sizes.split()[1::2], strict=True)
}

#: The units of time.
TIME_UNITS = frozenset(unit for unit, (kind, _) in UNIT_SIZES.items() if kind in {DURATION, MONTHS})
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


def find_quantities(text: str, words: FigureWords) -> Iterator[Quantity]:
    """Yield the amounts of a text, in order."""
    for found in _AMOUNT.finditer(text):
        number, end, power = parse_number(found["number"]), found.end(), 0
        word = _WORD_AFTER.match(text, end)
        if word and (known := words.power_of.get(word["word"].casefold())):
            power, end = known, word.end()
            word = _WORD_AFTER.match(text, end)
        code = (found["before"] or "").strip(" \u00a0")
        unit = UNIT_SIGNS.get(code, code) or None
        if unit is None and (sign := _SIGN_AFTER.match(text, end)):
            unit, end = UNIT_SIGNS[sign["sign"]], sign.end()
        elif word:
            means = words.unit_of.get(word["word"].replace("’", "'").casefold())
            if means is None and not word["gap"]:
                continue
            if means and unit in {None, means}:
                unit, end = means, word.end()
        if number:
            factor = Decimal(f"-1e{power}" if found["minus"] else f"1e{power}")
            point, comma = (value and value * factor for value in (number.point, number.comma))
            yield Quantity(Number(point, comma), unit, found.start(), end)


class Bound(Enum):
    """How a figure is meant."""

    EXACT = auto()
    ABOUT = auto()
    ABOVE = auto()
    AT_LEAST = auto()
    BELOW = auto()
    AT_MOST = auto()


class Closeness(IntEnum):
    """How far a claimed figure is from the true one."""

    OFF = 0
    #: It may have been cut off, or rounded to more zeros than it needs.
    NEAR = 1
    SAME = 2


# What "about" takes in, and how far off it may still be meant.
_ABOUT, _HARDLY = Decimal("0.05"), Decimal("0.15")
# 1,200 may be a rounded 1,234; 50 is no rounded 48.
_LEAST_DIGITS = 3


def closeness(value: Decimal, claimed: Decimal, bound: Bound) -> Closeness:
    """Return how well a claimed figure fits a true one, as it is meant.

    >>> closeness(Decimal("33.333"), Decimal("33.3"), Bound.EXACT).name
    'SAME'
    >>> closeness(Decimal("46"), Decimal("45"), Bound.EXACT).name
    'OFF'
    """
    exponent = claimed.as_tuple().exponent
    assert isinstance(exponent, int), "no written number is infinite"
    step, off = Decimal(1).scaleb(exponent), abs(value - claimed)
    if bound is Bound.EXACT:
        # A whole number may be rounded to its last zeros.
        digits = format(claimed.copy_abs(), "f")
        zeros = len(digits) - len(digits.rstrip("0"))
        is_rounded = zeros and "." not in digits and len(digits) >= _LEAST_DIGITS
        is_same, is_near = off <= step / 2, off < step or (is_rounded and off <= Decimal(1).scaleb(zeros) / 2)
    elif bound is Bound.ABOUT:
        size = max(abs(value), abs(claimed))
        is_same, is_near = off <= max(step / 2, size * _ABOUT), off <= max(step, size * _HARDLY)
    else:
        over = claimed - value if bound in {Bound.BELOW, Bound.AT_MOST} else value - claimed
        is_same = over > 0 or (over == 0 and bound in {Bound.AT_LEAST, Bound.AT_MOST})
        is_near = -over <= step / 2
    return Closeness.SAME if is_same else Closeness.NEAR if is_near else Closeness.OFF


# 1 GB may be 1,024 MB, and a year 365 days: so near may be the same.
_NEAR = Decimal("0.1")
# What a unit is of another one, where that is surely so many.
_CONVERTED = {
    unit: (kind, int(size)) for unit, (kind, size) in UNIT_SIZES.items() if kind in {DURATION, MONTHS, BYTES}
}


def compare_quantities(
    value: Number, unit: str | None, claimed: Number, claimed_unit: str | None, bound: Bound = Bound.EXACT
) -> ClaimStatus | None:
    """Return whether an amount of a document supports or contradicts a claimed one.

    None where they are of two kinds, or close.

    >>> compare_quantities(parse_number("7"), "day", parse_number("1"), "week").name
    'SUPPORTED'
    """
    kind, factor = _CONVERTED.get(claimed_unit or "", (claimed_unit, 1))
    its_kind, its_factor = _CONVERTED.get(unit or "", (unit, 1))
    if kind != its_kind:
        return None
    pairs = [(its * its_factor / factor, each) for its in value.values for each in claimed.values]
    close = max(closeness(its, each, bound) for its, each in pairs)
    if close is Closeness.SAME:
        return ClaimStatus.SUPPORTED
    if close is Closeness.NEAR and bound is not Bound.EXACT:
        return None
    is_rough = close is Closeness.NEAR or factor != its_factor
    is_near = is_rough and any(abs(its - each) <= _NEAR * max(its, each) for its, each in pairs)
    return None if is_near else ClaimStatus.CONTRADICTED
