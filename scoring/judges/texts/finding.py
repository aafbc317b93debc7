"""The search in an answer for words that a model says are in it."""

from __future__ import annotations

import re

# A model that quotes the whole answer shows nothing; nor is a search for so much of use.
_LONGEST = 1_000
_MARKS = " \t\r\n\"'`“”‘’«»"


def find(words: str, answer: str) -> tuple[int, int] | None:
    """Return where the words stand, or None: exactly, else with other white space, case or quotes around."""
    for wanted in dict.fromkeys((words, words.strip(_MARKS))):
        if any(map(str.isalnum, wanted)) and len(wanted) <= _LONGEST:
            if (start := answer.find(wanted)) >= 0:
                return start, start + len(wanted)
            pattern = r"\s+".join(map(re.escape, wanted.split()))
            if found := re.search(pattern, answer, re.IGNORECASE):
                return found.span()
    return None
