"""The wrong words of an answer as a reviewer names them, one line each: ``number: 30 days``."""

from collections import defaultdict
from typing import Final

from schemas import WrongSpan
from scoring.values.opinion import Mistake

#: The kinds of mistakes, each with the key that a reviewer presses for it.
KINDS: Final = {key: kind.value for key, kind in zip("thmcnoex", Mistake, strict=True)}
_MARKS: Final = "*_`"
_WITHOUT_MARKS: Final = str.maketrans("", "", _MARKS)
#: Each line is a search in the answer; more of them are a comment.
_MAX_LINES: Final = 100


def find_wrong_words(answer: str, lines: str) -> tuple[tuple[WrongSpan, ...], str]:
    """Return the spans of the words, and the lines that name none.

    White space may be written in another way, and marks of Markdown left out, which the page does not show;
    words that are named again are those that follow.
    """
    offsets = [
        at
        for at, each in enumerate(answer)
        if each not in _MARKS and not (each.isspace() and answer[at - 1 : at].isspace())
    ]
    flat = "".join(" " if answer[at].isspace() else answer[at] for at in offsets)
    spans: list[WrongSpan] = []
    rest: list[str] = []
    search_from: defaultdict[str, int] = defaultdict(int)
    for number, line in enumerate(filter(None, map(str.strip, lines.splitlines()))):
        kind, _, text = line.partition(":")
        words, at = " ".join(text.translate(_WITHOUT_MARKS).split()), -1
        if words and kind in KINDS.values() and number < _MAX_LINES:
            at = flat.find(words, search_from[words])
        if at < 0:
            rest.append(line)
            continue
        search_from[words] = end = at + len(words)
        first, last = offsets[at], offsets[end - 1]
        spans.append(WrongSpan(kind, answer[first : last + 1], first, last + 1))
    return tuple(spans), "\n".join(rest)
