"""Masked and edited texts: what a judge's wrong words refer to in the original.

The same value has the same token in all texts of a case, so that a judge still sees whether an answer
has the number of the documents or another one. Everything with the shape of such a number is masked.
Names and postal addresses are not found.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    original_start: int
    original_end: int


@dataclass(frozen=True, slots=True)
class EditedText:
    """A text after replacements; ``before`` is what it was made from, where it was edited more than once."""

    text: str
    edits: tuple[_Edit, ...] = ()
    previous: EditedText | None = None

    @property
    def original(self) -> str:
        """The text before all of it."""
        return self.previous.original if self.previous else self.text

    def replaced(
        self,
        pattern: re.Pattern[str],
        replacement: Callable[[re.Match[str]], str],
        read_as: Callable[[str], str] = str,
    ) -> EditedText:
        """Return this text with every match of the pattern replaced.

        ``read_as`` gives the text that the pattern is looked for in: of the same length, sign by sign.
        """
        parts: list[str] = []
        edits: list[_Edit] = []
        length = read = 0
        for match in pattern.finditer(read_as(self.text)):
            new = replacement(match)
            start = length + match.start() - read
            parts += self.text[read : match.start()], new
            edits.append(_Edit(start, start + len(new), *match.span()))
            length, read = start + len(new), match.end()
        return EditedText("".join([*parts, self.text[read:]]), tuple(edits), self) if edits else self

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the places in the original of a part of this text; what was replaced counts whole."""
        start, end = self._offset_before(start, begins=True), self._offset_before(end, begins=False)
        return self.previous.original_span(start, end) if self.previous else (start, end)

    def _offset_before(self, offset: int, *, begins: bool) -> int:
        """Return where a place was; inside a replacement, where the replaced part begins or ends."""
        # A replacement that begins where a part ends is no part of it.
        at = bisect_right(self.edits, offset if begins else offset - 1, key=lambda edit: edit.start) - 1
        if at < 0:
            return offset
        edit = self.edits[at]
        if offset >= edit.end:
            return edit.original_end + offset - edit.end
        return edit.original_start if begins else edit.original_end


# A date with a time behind it looks like a telephone number: "01-02-2026 10:30".
_NO_DATE = r"(?!\d{1,2}[-/.]\d{1,2}[-/.]\d{4}(?!\d)|\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d))"
_ALONE, _ENDS = r"(?<![\w+])(?<!\d[.,])", r"(?!\w)"
_IBAN = (
    # Dutch ones also where a digit is mistyped; others where they are long enough and grouped as on paper.
    r"[A-Za-z]{2}\d{2}[ ]?[A-Za-z]{4}[ ]?\d{4}[ ]?\d{4}[ ]?\d{2}"
    r"|[A-Z]{2}\d{2}(?:[A-Z0-9]{11,30}|(?:[ -][A-Z0-9]{4}){2,7}(?:[ -][A-Z0-9]{1,4})?)"
)
_ACCOUNT = (
    # A Dutch account as it used to be written, a card, and any long run of digits.
    r"\d{2}[. ]\d{2}[. ]\d{2}[. ]\d{3}|\d{4}(?:[ -]\d{4}){3}(?:[ -]?\d{1,3})?|\d{9,34}"
)
_PHONE = (
    r"(?:\+|00)[ ]?\d{1,3}(?:[ .\-/()]{0,3}\d){6,13}"
    # Free and paid numbers are short in the Netherlands; others have nine digits or more.
    r"|0[89]0\d[ -]?\d{4}(?:\d{3})?|\(?0\d(?:[ .\-/)]{0,2}\d){7,10}"
    r"|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}"
)
_PERSONAL = re.compile(
    r"(?P<EMAIL>(?<![\w.+%-])[\w.+%-]+@[\w-]+(?:\.[\w-]+)+)"
    rf"|{_ALONE}{_NO_DATE}(?:(?P<ACCOUNT>{_IBAN})|(?P<PHONE>{_PHONE})|(?P<NUMBER>{_ACCOUNT})){_ENDS}"
)
_DIGIT = re.compile(r"\d")
_AS_ASCII = {"Zs": " ", "Pd": "-"}
_TOKEN = re.compile(r"\[(?:EMAIL|PHONE|ACCOUNT)-\d+\]")
_DUTCH = re.compile(r"^(?:00|\+)31(?:\(0\)|0)?")


def mask_personal_data(texts: Sequence[EditedText]) -> tuple[EditedText, ...]:
    """Return texts with tokens such as ``[EMAIL-1]`` in place of personal data, numbered as they come."""
    tokens = _Tokens(text.text for text in texts)
    return tuple(text.replaced(_PERSONAL, tokens.token_for, _fold) for text in texts)


class _AsciiFolding(dict[int, str]):
    """Each sign as ASCII has it, where it does: spaces, dashes, double width; filled as texts are read."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        same = unicodedata.normalize("NFKC", sign)
        plain = same if len(same) == 1 else sign
        self[code] = plain = _AS_ASCII.get(unicodedata.category(plain), plain)
        return plain


_ASCII_FOLDING = _AsciiFolding()


def _fold(text: str) -> str:
    return text if text.isascii() else text.translate(_ASCII_FOLDING)


class _Tokens:
    """The tokens given so far; one that a text already holds is left out."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._taken = {token for text in texts for token in _TOKEN.findall(text)}
        self._given: dict[tuple[str, str], str] = {}

    def token_for(self, match: re.Match[str]) -> str:
        kind = match.lastgroup or ""
        value = (_KINDS[kind], _comparable_value(kind, match.group()))
        if value not in self._given:
            number = 1
            while (token := f"[{_KINDS[kind]}-{number}]") in self._taken:
                number += 1
            self._taken.add(token)
            self._given[value] = token
        return self._given[value]


_KINDS = {"EMAIL": "EMAIL", "PHONE": "PHONE", "ACCOUNT": "ACCOUNT", "NUMBER": "ACCOUNT"}


def _comparable_value(kind: str, found: str) -> str:
    """Return a value as it is compared: without the signs between, a Dutch number without its country."""
    if kind == "EMAIL":
        return found.casefold()
    if kind != "PHONE":
        return re.sub(r"\W", "", found).upper()
    plain = re.sub(r"[ .\-/]", "", found)
    return "".join(_DIGIT.findall(_DUTCH.sub("0", plain)))


# A model that quotes the whole answer shows nothing; nor is a search for so much of use.
_LONGEST = 1_000
_MARKS = " \t\r\n\"'`“”‘’«»"


def find_words(words: str, answer: str) -> tuple[int, int] | None:
    """Return where the words occur, or None: exactly, else with other white space, case or quotes around."""
    for wanted in dict.fromkeys((words, words.strip(_MARKS))):
        if any(map(str.isalnum, wanted)) and len(wanted) <= _LONGEST:
            if (start := answer.find(wanted)) >= 0:
                return start, start + len(wanted)
            pattern = r"\s+".join(map(re.escape, wanted.split()))
            if found := re.search(pattern, answer, re.IGNORECASE):
                return found.span()
    return None
