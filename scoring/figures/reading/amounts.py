"""Amounts of a text: a number with its unit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from scoring.figures.reading.numbers import NUMBER, Number, read_number
from scoring.lexicon import FigureWords

PERCENT = "percent"
#: Units that are money.
CURRENCIES = frozenset({"EUR", "USD", "GBP"})
#: Units of time that days between two dates can be told in.
SPANS = frozenset({"day", "week", "month", "year"})

#: Signs that are units.
SIGNS = {"€": "EUR", "$": "USD", "£": "GBP", "%": PERCENT}
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
class Amount:
    """A number with its unit and its place in the text.

    ``unit`` is a currency's code, "percent" or one of the lexicon's ``units``; None where it has none.
    """

    number: Number
    unit: str | None
    start: int
    end: int


def amounts(text: str, words: FigureWords, start: int = 0, end: int | None = None) -> Iterator[Amount]:
    """Yield the amounts of ``text[start:end]``, in order."""
    stop = len(text) if end is None else end
    for found in _AMOUNT.finditer(text, start, stop):
        if amount := _amount(text, found, words, stop):
            yield amount


def _amount(text: str, found: re.Match[str], words: FigureWords, stop: int) -> Amount | None:
    number = read_number(found["number"])
    end, power = found.end(), 0
    if number is None:
        return None
    word = _WORD_AFTER.match(text, end, stop)
    if word and (known := words.power_of.get(word["word"].casefold())):
        power, end = known, word.end()
        word = _WORD_AFTER.match(text, end, stop)
    unit = _sign_before(found["before"])
    if unit is None and (sign := _SIGN_AFTER.match(text, end, stop)):
        unit, end = SIGNS[sign["sign"]], sign.end()
    elif word:
        means = words.unit_of.get(word["word"].replace("’", "'").casefold())
        if means is None and not word["gap"]:
            return None
        if means and unit in {None, means}:
            unit, end = means, word.end()
    return Amount(number.scaled(power, negative=bool(found["minus"])), unit, found.start(), end)


def _sign_before(text: str | None) -> str | None:
    if not text:
        return None
    code = text.strip(" \u00a0")
    return SIGNS.get(code, code)
