"""Written numbers, read with a decimal point and with a decimal comma."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum

# So many digits in front and after are enough for any amount, and bound what is computed.
_MOST_DIGITS, _MOST_FRACTION, _MOST_GROUPS = 15, 6, 5
_SPACES = "\u00a0\u202f"

#: What a number may look like; whether it is one tells :func:`read_number`.
NUMBER = rf"\d{{1,{_MOST_DIGITS}}}(?:[.,{_SPACES}]\d{{1,{_MOST_FRACTION}}}){{0,{_MOST_GROUPS}}}"


class Convention(Enum):
    """Which sign stands before the fraction; the other one may part thousands."""

    POINT = "."
    COMMA = ","

    @property
    def other(self) -> Convention:
        """The convention that has the signs the other way round."""
        return Convention.COMMA if self is Convention.POINT else Convention.POINT


@dataclass(frozen=True, slots=True)
class Number:
    """A number by either convention; None where it cannot be written so.

    Its exponent tells how precisely it is written: 1.50 has two decimals.
    """

    point: Decimal | None
    comma: Decimal | None

    def read(self, convention: Convention) -> Decimal | None:
        """Return the value by a convention."""
        return self.point if convention is Convention.POINT else self.comma

    @property
    def values(self) -> tuple[Decimal, ...]:
        """The different values that it can have."""
        found = [value for value in (self.point, self.comma) if value is not None]
        return tuple(found[:1] if len(set(found)) == 1 else found)

    def scaled(self, power: int, *, negative: bool = False) -> Number:
        """Return it times a power of ten, and with its sign."""
        return Number(*(_scaled(value, power, negative) for value in (self.point, self.comma)))


def read_number(text: str) -> Number | None:
    """Return the number that a text is, without sign or unit, or None where it is none.

    >>> read_number("1.234,56")
    Number(point=None, comma=Decimal('1234.56'))
    >>> read_number("1.234")
    Number(point=Decimal('1.234'), comma=Decimal('1234'))
    """
    if not re.fullmatch(NUMBER, text):
        return None
    number = Number(_read(text, Convention.POINT), _read(text, Convention.COMMA))
    return number if number.values else None


def _read(text: str, convention: Convention) -> Decimal | None:
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
