"""Checks that tell a translation from nonsense, as far as that can be told without understanding it."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable

from scoring.translation.errors import TranslationFault

DetectLanguage = Callable[[str], str | None]

_NUMBER = re.compile(r"\d+(?:[.,:'’\u00a0\u202f]\d+)*")
_TIME = re.compile(r"([01]?\d|2[0-4])[.:h]([0-5]\d)")
_NOT_DIGIT = re.compile(r"\D")
_WORD = re.compile(r"[^\W\d_]+")
# One such sign stands for what an alphabet needs some three letters for.
_WIDE = re.compile(r"[\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff]")
# Valid in JSON, but neither can be kept or sent on: no UTF-8 has a lone surrogate, and few take a NUL.
_NOT_TEXT = re.compile(r"[\x00\ud800-\udfff]")
_BOLD = re.compile(r"\*\*[ \t]{0,4}([^*\n]{1,400}?)[ \t]{0,4}\*\*")

_NOON = 12
_MAX_LENGTH_RATIO = 3
#: A word may become a phrase ("jawel": "yes, it certainly does").
_LENGTH_SLACK = 40
#: Fewer words than this are too often the same in two languages: names of products, menus, codes.
_MIN_WORDS = 5
#: From here on no English text has been seen to be taken for one of another language.
_MIN_CLEAR_WORDS = 12
#: Translators turn small numbers into words, and months too.
_SMALL_NUMBERS = {
    "0": {"zero", "no"},
    "1": {"one", "first", "single", "january"},
    "2": {"two", "second", "twice", "both", "february"},
    "3": {"three", "third", "march"},
    "4": {"four", "fourth", "april"},
    "5": {"five", "fifth", "may"},
    "6": {"six", "sixth", "june"},
    "7": {"seven", "seventh", "july"},
    "8": {"eight", "eighth", "august"},
    "9": {"nine", "ninth", "september"},
    "10": {"ten", "tenth", "october"},
    "11": {"eleven", "eleventh", "november"},
    "12": {"twelve", "twelfth", "noon", "december"},
}


def tidy(translation: str) -> str:
    """Undo what translators do to the form of a sentence: line ends, blanks inside ``**`` marks."""
    return _BOLD.sub(r"**\1**", " ".join(translation.split()))


def find_fault(source: str, translation: str) -> TranslationFault | None:
    """Say what is wrong with the translation of a sentence, or None.

    Checked are characters that no text has; emptiness; a length beyond three times, or below a third,
    of the source's (a translator that repeats itself or drops half); and that no number is lost,
    because a lost number hides that an answer is wrong. Numbers may be written otherwise (1.000: 1,000;
    22.00: 10 pm; 2: two).
    """
    if _NOT_TEXT.search(translation):
        return TranslationFault.NOT_TEXT
    if not any(map(str.isalnum, translation)):
        return TranslationFault.EMPTY
    size, translated = _size(source), _size(translation)
    if (
        translated > _MAX_LENGTH_RATIO * size + _LENGTH_SLACK
        or size > _MAX_LENGTH_RATIO * translated + _LENGTH_SLACK
    ):
        return TranslationFault.WRONG_LENGTH
    return None if _preserves_numbers(source, translation) else TranslationFault.NUMBERS_LOST


def is_untranslated(source: str, translation: str, language: str, detect_language: DetectLanguage) -> bool:
    """Say whether a text came back as it was, in ``language``, or in a third one, instead of in English.

    Names and codes are the same in many languages, so few words are not held against a translator,
    and neither is a text that was English all along. ``identify`` gives a text's language code.
    """
    words = _WORD.findall(translation)
    if len(words) < _MIN_WORDS:
        return False
    found = detect_language(translation)
    if found in {"en", language}:
        return found == language
    is_third = found is not None and len(words) >= _MIN_CLEAR_WORDS
    return is_third or words == _WORD.findall(source)


def preserves_bold(source: str, translation: str) -> bool:
    """Say whether a translation marks as much in bold as its source does."""
    return len(_BOLD.findall(source)) <= len(_BOLD.findall(translation))


def _size(text: str) -> int:
    return len(text) + 2 * len(_WIDE.findall(text))


def _preserves_numbers(source: str, translation: str) -> bool:
    wanted, found = Counter(map(_value, _NUMBER.findall(source))), _NUMBER.findall(translation)
    lost = wanted - Counter(map(_value, found))
    if not lost or _digits(source) == _digits(translation):  # the latter: grouped otherwise, 10 000
        return True
    spoken = {word.casefold() for word in _WORD.findall(translation)}
    afternoon = {hour + minutes for hour, minutes in _TIME.findall(source) if int(hour) > _NOON}
    return all(
        (number in afternoon and _twelve_hours(number, found))
        or not spoken.isdisjoint(_SMALL_NUMBERS.get(number, ()))
        for number in lost
    )


def _twelve_hours(number: str, found: list[str]) -> bool:
    """Say whether a time such as 2230 is there as 10:30, or 2200 as 10."""
    hour, minutes = int(number[:-2]) - _NOON, number[-2:]
    written = set(map(_value, found))
    return f"{hour}{minutes}" in written or (minutes == "00" and str(hour) in written)


def _value(number: str) -> str:
    """Give a number in one form, however it is grouped: 1.000 and 1,000 are 1000, and 02 is 2."""
    return _digits(number).lstrip("0") or "0"


def _digits(text: str) -> str:
    return "".join(str(unicodedata.digit(digit)) for digit in _NOT_DIGIT.sub("", text))
