"""Texts on which a pattern would take long, made from the pattern itself: each repetition of it, repeated."""

import re
import warnings
from collections.abc import Iterator, Sequence
from re import _constants as kinds
from re import _parser
from typing import Any

#: A repetition of at most so many is over soon, whatever it repeats.
_FEW = 8
#: What a text ends in that is to fit no pattern: the longest match fails only there.
ENDS = ("", "\x00", "x")
_OF_CATEGORY = {
    kinds.CATEGORY_DIGIT: "1",
    kinds.CATEGORY_NOT_DIGIT: "a",
    kinds.CATEGORY_SPACE: " \n",
    kinds.CATEGORY_NOT_SPACE: "a",
    kinds.CATEGORY_WORD: "a",
    kinds.CATEGORY_NOT_WORD: " ",
}
_CANDIDATES = "a1 .-_\n!*'\"(<A"


def hostile_units(pattern: re.Pattern[str]) -> set[tuple[str, str]]:
    """Give what to begin a text with, and what to repeat after it, for every long repetition in a pattern."""
    with warnings.catch_warnings(action="ignore"):
        parsed = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    found = set(_units(list(parsed), ""))
    # The whole of what fits, again and again, also starts everywhere and never ends.
    wholes = {("", whole) for whole in _samples(list(parsed)) if whole}
    return found | wholes | {("", begin + unit) for begin, unit in found if begin}


def _units(nodes: Sequence[Any], before: str) -> Iterator[tuple[str, str]]:
    for at, (kind, value) in enumerate(nodes):
        begin = before + (_samples(nodes[:at]) or [""])[0]
        if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
            _, most, body = value
            if most > _FEW:
                yield from ((begin, sample) for sample in _samples(list(body)) if sample)
                # What a repetition shares with what comes after it is given back one by one.
                after = _samples(nodes[at + 1 : at + 2])
                yield from ((begin, sample) for sample in after if sample)
            yield from _units(list(body), begin)
        else:
            for inner in _inner(kind, value):
                yield from _units(list(inner), begin)


def _inner(kind: Any, value: Any) -> Iterator[Any]:
    """Give the patterns within a node."""
    if kind is kinds.BRANCH:
        yield from value[1]
    elif kind is kinds.SUBPATTERN:
        yield value[-1]
    elif kind in (kinds.ASSERT, kinds.ASSERT_NOT):
        yield value[1]


def _samples(nodes: Sequence[Any]) -> list[str]:
    """Give some texts that fit a sequence of nodes, or nearly do."""
    texts = [""]
    for kind, value in nodes:
        texts = [text + one for text in texts for one in _of_node(kind, value)][:6]
    return texts


def _of_node(kind: Any, value: Any) -> list[str]:
    match kind:
        case kinds.LITERAL:
            found = [chr(value)]
        case kinds.NOT_LITERAL:
            found = [next(each for each in _CANDIDATES if ord(each) != value)]
        case kinds.ANY:
            found = ["a", " "]
        case kinds.IN:
            found = list(_members(value))[:4]
        case kinds.MAX_REPEAT | kinds.MIN_REPEAT | kinds.POSSESSIVE_REPEAT:
            least, _, body = value
            found = [sample * max(least, 1) for sample in _samples(list(body))]
        case kinds.BRANCH | kinds.SUBPATTERN:
            found = [text for inner in _inner(kind, value) for text in _samples(list(inner))][:6]
        case _:
            found = [""]
    return found


def _members(parts: Sequence[Any]) -> Iterator[str]:
    if parts[0][0] is kinds.NEGATE:
        excluded = set(_members(parts[1:])) | {chr(v) for k, v in parts[1:] if k is kinds.LITERAL}
        yield from [each for each in _CANDIDATES if each not in excluded][:3]
        return
    for kind, value in parts:
        if kind is kinds.LITERAL:
            yield chr(value)
        elif kind is kinds.RANGE:
            yield chr(value[0])
        elif kind is kinds.CATEGORY:
            yield from _OF_CATEGORY[value]
