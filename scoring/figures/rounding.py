"""Comparing a computed figure with a claimed one, as precisely as that is written."""

from __future__ import annotations

from decimal import Decimal
from enum import IntEnum

from scoring.figures.recognising import Bound

_HALF = Decimal("0.5")
# What "about" takes in, and how far off it may still be meant.
_ABOUT, _HARDLY = Decimal("0.05"), Decimal("0.15")
# 1,200 may stand for 1,234; 50 does not stand for 48.
_LEAST_DIGITS = 3


class Closeness(IntEnum):
    """How far a claimed figure is from the computed one."""

    OFF = 0
    #: It may have been cut off, or rounded to more zeros than it needs.
    NEAR = 1
    SAME = 2


def closeness(value: Decimal, claimed: Decimal, bound: Bound) -> Closeness:
    """Say how well a claimed figure fits a computed one, as it is meant.

    >>> closeness(Decimal("33.333"), Decimal("33.3"), Bound.EXACT).name
    'SAME'
    >>> closeness(Decimal("33.39"), Decimal("33.3"), Bound.EXACT).name
    'NEAR'
    >>> closeness(Decimal("46"), Decimal("45"), Bound.EXACT).name
    'OFF'
    """
    step = Decimal(1).scaleb(_exponent(claimed))
    if bound is Bound.EXACT:
        return _exact(abs(value - claimed), step, claimed)
    if bound is Bound.ABOUT:
        return _about(abs(value - claimed), step, max(abs(value), abs(claimed)))
    over = claimed - value if bound in {Bound.BELOW, Bound.AT_MOST} else value - claimed
    is_open = bound not in {Bound.AT_LEAST, Bound.AT_MOST}
    if over > 0 or (over == 0 and not is_open):
        return Closeness.SAME
    return Closeness.NEAR if -over <= step * _HALF else Closeness.OFF


def _exact(off: Decimal, step: Decimal, claimed: Decimal) -> Closeness:
    if off <= step * _HALF:
        return Closeness.SAME
    return Closeness.NEAR if off < step or off <= _zeros(claimed) * _HALF else Closeness.OFF


def _about(off: Decimal, step: Decimal, size: Decimal) -> Closeness:
    if off <= max(step * _HALF, size * _ABOUT):
        return Closeness.SAME
    return Closeness.NEAR if off <= max(step, size * _HARDLY) else Closeness.OFF


def _zeros(claimed: Decimal) -> Decimal:
    """Return the step of a whole number that may be rounded to its last zeros; 0 where it is not."""
    digits = format(claimed.copy_abs(), "f")
    if "." in digits or len(digits) < _LEAST_DIGITS:
        return Decimal(0)
    zeros = len(digits) - len(digits.rstrip("0"))
    return Decimal(1).scaleb(zeros) if zeros else Decimal(0)


def _exponent(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int), "no written number is infinite"
    return exponent
