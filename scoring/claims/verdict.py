"""The yes or no that an answer begins with."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from scoring.claims.reading import says_no
from scoring.lexicon import Lexicon
from scoring.text.parsing import NO_WORDS
from scoring.text.prepared import PreparedText

# "Yes, but not".
_OPENING = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """A yes or a no and its place in the original text."""

    is_yes: bool
    start: int
    end: int


def verdict(answer: PreparedText) -> Verdict | None:
    """Return the yes or no that an answer begins with, None where it begins with neither.

    "Yes, but not directly" is neither.
    """
    parse = answer.parse
    opening = list(islice((n for n in range(len(parse)) if parse.pos[n] not in NO_WORDS), _OPENING))
    if not opening:
        return None
    first = opening[0]
    is_yes = parse.text[first] in answer.lexicon.claims.yes
    if is_yes and _takes_back([parse.text[n] for n in opening], answer.lexicon):
        return None
    if not is_yes and not says_no(answer, first):
        return None
    return Verdict(is_yes, int(parse.start[first]), int(parse.end[first]))


def _takes_back(words: list[str], lexicon: Lexicon) -> bool:
    return len(words) == _OPENING and words[1] in lexicon.claims.contrasts and words[2] in lexicon.negations
