"""Quantities of a text: a number with what it counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from scoring.text.parsing import Parse
from scoring.text.prepared import PreparedText

# 2.500 and 2,500 are thousands in one language and fractions in the other; nobody writes three decimals.
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3}){1,4}")
_DECIMAL = re.compile(r"\d{1,12}(?:[.,]\d{1,2})?")
# Some pipelines take "15%" for one word.
_SIGNS = "%€$£"
_BEFORE = re.compile(r"[€$£][ \t]?$")
_AFTER = re.compile(r"[ \t]?([%€])")
_ITEM = re.compile(r"[ \t*_]{0,8}")
_NOUNS = frozenset({"NOUN", "PROPN"})
_BEFORE_NOUNS = frozenset({"ADJ", "ADV", "DET", "VERB"})
# "5 failed attempts": so many words after its number stands what is counted.
_REACH = 2
# "A minimum of € 5" and "more than 5".
_LIMIT_REACH = 3


class Limit(Enum):
    """What a quantity bounds."""

    LEAST = auto()
    MOST = auto()


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit (a lemma, "%" or a currency sign) and its place in the original text.

    ``limit``: it is the least or the most, where the words before it say so.
    """

    value: float
    unit: str
    start: int
    end: int
    limit: Limit | None = None

    def admits(self, other: Quantity) -> bool | None:
        """Say whether another quantity is within this limit; None where it is none for that unit."""
        if self.limit is None or self.unit != other.unit:
            return None
        return other.value >= self.value if self.limit is Limit.LEAST else other.value <= self.value


def quantities(text: PreparedText) -> tuple[Quantity, ...]:
    """Return the quantities of the compared part, in order; numbers of steps are none."""
    return tuple(_found(text))


def numbers(text: PreparedText) -> frozenset[float]:
    """Return every number of the compared part, whatever it counts."""
    parse = text.parse
    values = (_value(text, parse, index) for index in range(len(parse)))
    return frozenset(value for value in values if value is not None)


def units(text: PreparedText) -> frozenset[str]:
    """Return the units of the quantities of the compared part."""
    return frozenset(quantity.unit for quantity in quantities(text))


def limits(text: PreparedText, index: int) -> bool:
    """Say whether a word negates a comparison with a number, and so makes a limit: "no more than 5"."""
    parse, lists = text.parse, text.lexicon.claims
    comparative = index + 1
    while comparative < len(parse) and parse.pos[comparative] == "AUX":
        comparative += 1
    after = range(comparative + 1, min(comparative + 1 + _LIMIT_REACH, len(parse)))
    has_number = any(_value(text, parse, n) is not None for n in after)
    return has_number and any(parse.text[n] in lists.than for n in after[:2])


def _found(text: PreparedText) -> Iterator[Quantity]:
    parse = text.parse
    for index in range(len(parse)):
        value = _value(text, parse, index)
        if value is None or _numbers_item(text, parse, index):
            continue
        if unit := _unit(text, parse, index):
            limit = _limit(text, parse, index)
            yield Quantity(value, unit, int(parse.start[index]), int(parse.end[index]), limit)


def _value(text: PreparedText, parse: Parse, index: int) -> float | None:
    word = parse.text[index].strip(_SIGNS)
    if word in text.lexicon.claims.numbers:
        return float(text.lexicon.claims.numbers.index(word) + 2)
    if _THOUSANDS.fullmatch(word):
        return float(re.sub("[.,]", "", word))
    return float(word.replace(",", ".")) if _DECIMAL.fullmatch(word) else None


def _unit(text: PreparedText, parse: Parse, index: int) -> str | None:
    start, end, word = int(parse.start[index]), int(parse.end[index]), parse.text[index]
    if attached := word.strip("0123456789.,"):
        return attached if len(attached) == 1 and attached in _SIGNS else _noun_after(parse, index)
    if sign := _BEFORE.search(text.original[max(start - 2, 0) : start]):
        return sign.group().strip()
    if found := _AFTER.match(text.original, end):
        return found[1]
    return _noun_after(parse, index)


def _noun_after(parse: Parse, index: int) -> str | None:
    for place in range(index + 1, min(index + 1 + _REACH, len(parse))):
        if parse.pos[place] in _NOUNS:
            return parse.lemma[place]
        if parse.pos[place] not in _BEFORE_NOUNS:
            return None
    return None


def _limit(text: PreparedText, parse: Parse, index: int) -> Limit | None:
    """Return what the nearest of the three words before a number says: "at most", "from"."""
    lists = text.lexicon.claims
    for place in range(index - 1, max(index - 1 - _LIMIT_REACH, -1), -1):
        if parse.text[place] in lists.least:
            return Limit.MOST if _is_negated(text, place) else Limit.LEAST
        if parse.text[place] in lists.most:
            return Limit.LEAST if _is_negated(text, place) else Limit.MOST
    return None


def _is_negated(text: PreparedText, place: int) -> bool:
    """Say whether a negation turns the limit at ``place`` round."""
    parse, before = text.parse, place - 1
    while before >= 0 and parse.pos[before] == "AUX":
        before -= 1
    return before >= 0 and parse.text[before] in text.lexicon.negations and limits(text, before)


def _numbers_item(text: PreparedText, parse: Parse, index: int) -> bool:
    """Say whether a number is that of a step: the first on its line, with a stop."""
    start, end = int(parse.start[index]), int(parse.end[index])
    line_start = text.original.rfind("\n", 0, start) + 1
    has_stop = text.original[end : end + 1] in (".", ")")
    return has_stop and _ITEM.fullmatch(text.original, line_start, start) is not None
