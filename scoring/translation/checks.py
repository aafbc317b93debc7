"""Plausibility checks of translations."""

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
# One such character corresponds to some three letters of an alphabet.
_WIDE = re.compile(r"[\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff]")
# Valid in JSON, but not storable: UTF-8 has no lone surrogates, and few systems accept a NUL.
_NOT_TEXT = re.compile(r"[\x00\ud800-\udfff]")
_BOLD = re.compile(r"\*\*[ \t]{0,4}([^*\n]{1,400}?)[ \t]{0,4}\*\*")

_NOON = 12
_MAX_LENGTH_RATIO = 3
#: A word may become a phrase ("jawel": "yes, it certainly does").
_LENGTH_SLACK = 40
#: Shorter texts are often the same in two languages: names of products, menus, codes.
_MIN_WORDS = 5
#: No English text of this length was ever detected as another language.
_MIN_CLEAR_WORDS = 12
#: Translators turn small numbers into words and months.
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
    """Normalise a translated sentence: line ends, blanks inside ``**`` marks."""
    return _BOLD.sub(r"**\1**", " ".join(translation.split()))


def find_fault(source: str, translation: str) -> TranslationFault | None:
    """Return the fault of a sentence's translation, if any.

    Checked are invalid characters; emptiness; a length above three times or below a third of the source's (a
    translator that repeats itself or omits half); and lost numbers, which would hide that an answer is wrong.
    The notation of numbers may change (1.000: 1,000; 22.00: 10 pm; 2: two).
    """
    if _NOT_TEXT.search(translation):
        return TranslationFault.NOT_TEXT
    if not any(map(str.isalnum, translation)):
        return TranslationFault.EMPTY
    shorter, longer = sorted(len(text) + 2 * len(_WIDE.findall(text)) for text in (source, translation))
    if longer > _MAX_LENGTH_RATIO * shorter + _LENGTH_SLACK:
        return TranslationFault.WRONG_LENGTH
    return None if _preserves_numbers(source, translation) else TranslationFault.NUMBERS_LOST


def is_untranslated(source: str, translation: str, language: str, detect_language: DetectLanguage) -> bool:
    """Return whether a text is still in ``language``, or in a third one, instead of in English.

    Names and codes are the same in many languages, so short texts are accepted, and so is a text that was
    English before.
    """
    words = _WORD.findall(translation)
    if len(words) < _MIN_WORDS:
        return False
    detected = detect_language(translation)
    if detected in {"en", language}:
        return detected == language
    is_third = detected is not None and len(words) >= _MIN_CLEAR_WORDS
    return is_third or words == _WORD.findall(source)


def preserves_bold(source: str, translation: str) -> bool:
    """Return whether a translation has at least as many bold spans as its source."""
    return len(_BOLD.findall(source)) <= len(_BOLD.findall(translation))


def _preserves_numbers(source: str, translation: str) -> bool:
    numbers = set(map(_value, found := _NUMBER.findall(translation)))
    lost = Counter(map(_value, _NUMBER.findall(source))) - Counter(map(_value, found))
    if not lost or _digits(source) == _digits(translation):  # the latter: grouped differently, 10 000
        return True
    words = {word.casefold() for word in _WORD.findall(translation)}
    afternoon = {hour + minutes for hour, minutes in _TIME.findall(source) if int(hour) > _NOON}

    def is_on_12_hour_clock(number: str) -> bool:
        # 2230 as 10:30, or 2200 as 10.
        hour, minutes = int(number[:-2]) - _NOON, number[-2:]
        return f"{hour}{minutes}" in numbers or (minutes == "00" and str(hour) in numbers)

    return all(
        (number in afternoon and is_on_12_hour_clock(number))
        or not words.isdisjoint(_SMALL_NUMBERS.get(number, ()))
        for number in lost
    )


def _value(number: str) -> str:
    """Normalise a number, however it is grouped: 1.000 and 1,000 are 1000, and 02 is 2."""
    return _digits(number).lstrip("0") or "0"


def _digits(text: str) -> str:
    return "".join(str(unicodedata.digit(digit)) for digit in _NOT_DIGIT.sub("", text))
