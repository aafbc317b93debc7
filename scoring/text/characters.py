"""Characters that end sentences, separate clauses, or are invisible.

Invisible are Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt of Unicode 16, which reserves
whole blocks), characters that are drawn as a blank or only control layout, and control characters except tab
and line ends. Joiners and variation selectors are included: without them some scripts read a little worse but
mean the same. White space is visible: it separates words.
"""

import re
from typing import Final

STOPS = ".!?。！？"
# Closing quotes, brackets and marks may follow a stop.
_CLOSING = "\"'”’»)]*_"
_AFTER_STOP = f"{_CLOSING} \t\r\n\u00a0"
_CLOSED = f"[{re.escape(_CLOSING)}]{{0,6}}"
# An ellipsis ends the name of many buttons, so it ends a sentence only before a capital.
_STOP = rf"(?:[.!?]{{1,10}}{_CLOSED}(?=\s)|…{_CLOSED}(?=\s+[A-ZÀ-Þ])|[。！？]+)"
_CLAUSE_SIGNS = frozenset(f"{STOPS},;:(\n—–")

#: A stop before white space or at the end of the text; in scripts without spaces any stop.
SENTENCE_END = re.compile(rf"{_STOP}|[.!?…]{{1,10}}{_CLOSED}\Z")
#: The same, or a line end.
SENTENCE_OR_LINE_END = re.compile(rf"{SENTENCE_END.pattern}|\n+")

# Chats often omit the space after a stop, and help texts separate statements by semicolons, dashes and so on.
_END_BETWEEN_WORDS = re.compile(rf"{_STOP}|(?<=[a-zß-ÿ])[.!?](?=[A-ZÀ-Þ])|;|:(?=\s)|\s[-–—]\s|\n[ \t]*\n")


def sentence_ends_between(text: str, end: int, start: int) -> bool:
    """Return whether a sentence ends between two words, at the end of the first and the start of the second.

    Semicolons, colons, dashes between spaces and line ends count, but not the line end before a lowercase
    word: such a line is only wrapped.
    """
    if _END_BETWEEN_WORDS.search(text, end, start + 1):
        return True
    between = text[end:start]
    is_wrapped = text[start].islower() and not between.strip()
    return "\n" in between and not is_wrapped


def clause_ends_between(text: str, end: int, start: int, extra_signs: str = "") -> bool:
    """Return whether a clause ends between two words: at punctuation, a line end or one of ``extra_signs``.

    After a closing bracket the clause before it may go on, so that does not count.
    """
    return not _CLAUSE_SIGNS.union(extra_signs).isdisjoint(text[end:start])


def ends_with_stop(text: str, extra_signs: str = "") -> bool:
    """Return whether a text ends with a stop or one of ``extra_signs``, apart from closing marks."""
    return text.rstrip(_AFTER_STOP).endswith((*STOPS, *extra_signs))


_DEFAULT_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# The empty Braille pattern and note head, the Khitan filler, annotation marks, hieroglyph layout controls.
_BLANK = "\u2800\U0001d159\U00016fe4\ufff9-\ufffb\U00013430-\U0001343f"
_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"

#: One invisible character.
INVISIBLE: Final = re.compile(f"[{_CONTROLS}{_DEFAULT_IGNORABLE}{_BLANK}]")
