"""The wrong words of an answer as a reviewer names them, one line each: ``number: 30 days``."""

import re
from collections import Counter
from itertools import islice
from typing import Final

from schemas import WrongSpan
from scoring.values.opinion import Mistake

#: The kinds of mistakes, each with the key that a reviewer presses for it.
KINDS: Final = {key: kind.value for key, kind in zip("thmcnoex", Mistake, strict=True)}
#: Each line is a search in the answer; more of them are a comment.
_MAX_LINES: Final = 100


def find_wrong_words(answer: str, lines: str) -> tuple[tuple[WrongSpan, ...], str]:
    """Return the spans of the words, and the lines that name none.

    White space may be written in another way; words that are named again are those that follow.
    """
    spans: list[WrongSpan] = []
    rest: list[str] = []
    named: Counter[tuple[str, ...]] = Counter()
    for number, line in enumerate(filter(None, map(str.strip, lines.splitlines()))):
        kind, _, text = line.partition(":")
        words = tuple(text.split())
        found = None
        if words and kind in KINDS.values() and number < _MAX_LINES:
            matches = re.finditer(r"\s+".join(map(re.escape, words)), answer)
            found = next(islice(matches, named[words], None), None)
        if found is None:
            rest.append(line)
        else:
            named[words] += 1
            spans.append(WrongSpan(kind, found[0], *found.span()))
    return tuple(spans), "\n".join(rest)
