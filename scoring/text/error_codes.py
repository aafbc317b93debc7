"""Error codes in a text: "K-1014", "0x80070005", "error 404"."""

import re
from dataclasses import dataclass

from scoring.text.prepared_text import PreparedText

# A vendor's code, a hexadecimal code, or a number that may be one; the same in every language.
_SHAPE = re.compile(
    r"(?<![\w-])(?:[A-Za-z]{1,5}-\d{3,6}|0x[0-9A-Fa-f]{4,8}|(?<!\d[.,])(?P<number>\d{3,5}))(?![\w-]|[.,]\d)"
)
# A noun before the number, or a list item that starts with the number and explains it.
_BEFORE = 24
_NOUN = re.compile(rf"([^\W\d_]{{1,{_BEFORE}}}):?[ \t]{{1,2}}[*_`]{{0,3}}\Z")
_OPENS_LINE = re.compile(r"\n[ \t]{0,8}[-+*•#|]{0,3}[ \t]{0,4}[*_`]{0,3}\Z")
_EXPLAINS = re.compile(r"[*_`]{0,3}[ \t]{0,2}[:=|–—-]|[ \t][^\n*_]{1,60}[*_]")


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """A casefolded error code and its span in the original text."""

    code: str
    start: int
    end: int


def error_codes(text: PreparedText) -> tuple[ErrorCode, ...]:
    """Return the error codes of a text, in order.

    A bare number is one after a word of the lexicon's ``error_nouns`` ("error 404"), or where it starts a
    line that explains it ("- **404**: ...", "**404 Not found** ...").

    >>> from scoring.lexicon import load_shipped
    >>> english = load_shipped()["en"]
    >>> [error.code for error in error_codes(PreparedText.of("K-1014, error 404 or 200 euros", english))]
    ['k-1014', '404']
    """
    return tuple(
        ErrorCode(match.group().casefold(), *match.span())
        for match in _SHAPE.finditer(text.original, text.start, text.end)
        if match["number"] is None or _is_code(text, match)
    )


def _is_code(text: PreparedText, number: re.Match[str]) -> bool:
    before = text.original[max(text.start, number.start() - _BEFORE) : number.start()]
    noun = _NOUN.search(before)
    if noun and noun[1].casefold() in text.lexicon.error_nouns:
        return True
    opens_line = _OPENS_LINE.search(before if number.start() - _BEFORE > text.start else f"\n{before}")
    return bool(opens_line and _EXPLAINS.match(text.original, number.end()))
