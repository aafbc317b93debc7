"""The numbers that a text writes in digits or in words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scoring.lexicon import Lexicon
from scoring.text.prepared import PreparedText

# Times, versions, decimals and thousands stay whole: 12:30, 2.10.4, 1.234,56.
_NUMBER = re.compile(r"\d{1,15}(?:[.,:]\d{1,15}){0,6}")
_STEP = re.compile(r"[ \t*_>#-]{0,8}(?:([^\W\d_]{2,12}) )?")


def number_spans(text: PreparedText, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the places of the numbers in digits between two offsets; that of a step or heading is none."""
    for found in _NUMBER.finditer(text.original, start, end):
        if not _numbers_step(text, found):
            yield found.span()


def number_forms(written: str) -> frozenset[str]:
    """Return the ways to write a number that mean the same in one language or another.

    >>> sorted(number_forms("1.500"))
    ['1.500', '1500']
    """
    plain = written.replace(",", ".")
    return frozenset((written, plain, plain.replace(".", ""), written.lstrip("0") or "0"))


def numbers(text: PreparedText) -> frozenset[str]:
    """Return the forms of all numbers of a text, those in words among them."""
    digits = (form for found in _NUMBER.finditer(text.original) for form in number_forms(found.group()))
    return frozenset(digits) | frozenset(_in_words(text.word_texts, text.lexicon))


def _in_words(words: tuple[str, ...], lexicon: Lexicon) -> Iterator[str]:
    listed = {word: str(value) for value, word in enumerate(lexicon.claims.numbers, 2)}
    return (listed[word] for word in words if word in listed)


def _numbers_step(text: PreparedText, found: re.Match[str]) -> bool:
    """Say whether a number is that of a step: "2." or "Step 2:" at the beginning of its line."""
    start = text.original.rfind("\n", 0, found.start()) + 1
    opening = _STEP.fullmatch(text.original, start, found.start())
    if opening is None or not text.original.startswith((".", ")", ":"), found.end()):
        return False
    return opening[1] is None or opening[1].casefold() in text.lexicon.step_words
