"""The wrong words of an answer as a reviewer names them, one line each: ``number: 30 days``."""

import re
from collections import Counter
from typing import Final

from schemas import WrongSpan
from scoring.values.opinion import Mistake

#: The kinds of mistakes, each with the key that a reviewer presses for it.
KINDS: Final = {key: kind.value for key, kind in zip("thmcnoex", Mistake, strict=True)}
_MAX_LINES: Final = 100


def find_wrong_words(answer: str, lines: str) -> tuple[tuple[WrongSpan, ...], str]:
    """Return the spans of the words, and the lines that name none.

    White space may be written in another way; words that are named again are those that follow.
    """
    spans: list[WrongSpan] = []
    rest: list[str] = []
    named: Counter[tuple[str, ...]] = Counter()
    for line in filter(None, map(str.strip, lines.splitlines())):
        kind, _, text = line.partition(":")
        words = tuple(text.split())
        found = re.finditer(r"\s+".join(map(re.escape, words)), answer) if words else iter(())
        matches = list(found)[named[words] :]
        if kind not in KINDS.values() or not matches or len(spans) == _MAX_LINES:
            rest.append(line)
            continue
        named[words] += 1
        start, end = matches[0].span()
        spans.append(WrongSpan(kind, answer[start:end], start, end))
    return tuple(spans), "\n".join(rest)
