"""Characters that end sentences, separate clauses, or are invisible.

They are Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt of Unicode 16, which reserves whole
blocks for what is to come), characters that are drawn as a blank or only lay out others, and controls but tab
and line ends. Joiners and variation selectors are among them: without these a text reads a little worse in
some scripts, and says the same. White space is not: it separates words, and readers of a text see that.
"""

import re
from typing import Final

STOPS = ".!?。！？"
# What closes a quotation, a bracket or a mark may stand between a stop and the white space after it.
_CLOSING = "\"'”’»)]*_"
_AFTER_STOP = f"{_CLOSING} \t\r\n\u00a0"
_CLOSED = f"[{re.escape(_CLOSING)}]{{0,6}}"
# An ellipsis ends the name of many a button, and a sentence only where another one begins.
_STOP = rf"(?:[.!?]{{1,10}}{_CLOSED}(?=\s)|…{_CLOSED}(?=\s+[A-ZÀ-Þ])|[。！？]+)"
_CLAUSE_SIGNS = frozenset(f"{STOPS},;:(\n—–")

#: A stop before white space or at the end; one of a script without spaces anywhere.
SENTENCE_END = re.compile(rf"{_STOP}|[.!?…]{{1,10}}{_CLOSED}\Z")
#: The same, or a line end.
SENTENCE_OR_LINE_END = re.compile(rf"{SENTENCE_END.pattern}|\n+")

# Chats often leave out the space after a stop, and help texts have what is said in parts.
_END_BETWEEN_WORDS = re.compile(rf"{_STOP}|(?<=[a-zß-ÿ])[.!?](?=[A-ZÀ-Þ])|;|:(?=\s)|\s[-–—]\s|\n[ \t]*\n")


def sentence_ends_between(text: str, end: int, start: int) -> bool:
    """Say whether a sentence ends between two words, of which one ends and the next starts at these places.

    A semicolon, a colon, a dash between spaces and a line end one too; but a line that goes on in small
    letters is only wrapped.
    """
    if _END_BETWEEN_WORDS.search(text, end, start + 1):
        return True
    between = text[end:start]
    is_wrapped = text[start].islower() and not between.strip()
    return "\n" in between and not is_wrapped


def clause_ends_between(text: str, end: int, start: int, extra_signs: str = "") -> bool:
    """Say whether a clause ends between two words: at a stop, comma, colon, dash, line end or an ``also``.

    An opening bracket ends one too; after a closing one the clause before may go on.
    """
    return not _CLAUSE_SIGNS.union(extra_signs).isdisjoint(text[end:start])


def ends_with_stop(text: str, extra_signs: str = "") -> bool:
    """Say whether a text ends as a sentence does, or in one of the signs of ``also``."""
    return text.rstrip(_AFTER_STOP).endswith((*STOPS, *extra_signs))


_DEFAULT_IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# The empty Braille pattern and note head, the Khitan filler, marks of annotations and of hieroglyphs' places.
_BLANK = "\u2800\U0001d159\U00016fe4\ufff9-\ufffb\U00013430-\U0001343f"
_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"

#: One such character; texts are searched for it, or rid of all.
INVISIBLE: Final = re.compile(f"[{_CONTROLS}{_DEFAULT_IGNORABLE}{_BLANK}]")
