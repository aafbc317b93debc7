"""The times of day that a text writes unambiguously: "14:00", "14.00 uur", "2 pm", "2 uur 's middags"."""

import re
from dataclasses import dataclass

from scoring.text.prepared_text import PreparedText

_GAP = r"[ \u00a0]?"
# Letters with or without stops ("p.m."), behind the "'s" of Dutch.
_WORD = r"(?:['’]s[ \u00a0])?((?:[^\W\d_]\.){2}|[^\W\d_]{1,12}(?!\w))"
_TIME = re.compile(
    r"(?<![\w.,:/-])(?P<hour>[01]?[0-9]|2[0-4])(?:(?P<sign>[.:])(?P<minute>[0-5][0-9]))?"
    rf"(?![0-9]|[.,:/-][0-9])(?:{_GAP}{_WORD})?(?:{_GAP}{_WORD})?"
)
_BEFORE = re.compile(r"([^\W\d_]{1,12})[ \u00a0]\Z")
_LONGEST_BEFORE = 14
_NOON = 12


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of day as ``HH:MM``, with its place in the original text."""

    value: str
    start: int
    end: int


def clock_times(text: PreparedText) -> tuple[ClockTime, ...]:
    """Return the times of day in the whole of a text, in order.

    Hour and minutes with a colon are one by themselves. With a stop between they may be a number or a
    version, and an hour by itself a duration: these need a word of the lexicon's ``clock``, as in "14.00
    uur", "2 pm" and "om 14 uur". An hour up to twelve without its part of the day ("2 o'clock") could be
    either and is none.
    """
    found = ((_value(text, match), match) for match in _TIME.finditer(text.original))
    return tuple(ClockTime(value, match.start(), _end(text, match)) for value, match in found if value)


def _words(match: re.Match[str]) -> list[str]:
    return [word.replace(".", "").casefold() if word else "" for word in match.groups()[3:]]


def _value(text: PreparedText, match: re.Match[str]) -> str | None:
    clock, hour = text.lexicon.clock, int(match["hour"])
    first, second = _words(match)
    counted = first in clock.hours
    part = second if counted else first
    if part in clock.mornings | clock.afternoons:
        if part in clock.mornings and hour == _NOON:
            hour = 0
        elif part in clock.afternoons and hour < _NOON:
            hour += _NOON
    elif match["sign"] is None:
        if not (counted and hour > _NOON and _is_at(text, match)):
            return None
    elif match["sign"] == "." and not counted:
        return None
    return f"{hour % 24:02}:{match['minute'] or '00'}"


def _is_at(text: PreparedText, match: re.Match[str]) -> bool:
    """Say whether a word stands before an hour that no duration has: "om 14 uur"."""
    before = _BEFORE.search(text.original, max(match.start() - _LONGEST_BEFORE, 0), match.start())
    return before is not None and before[1].casefold() in text.lexicon.clock.at


def _end(text: PreparedText, match: re.Match[str]) -> int:
    clock = text.lexicon.clock
    known = clock.hours | clock.mornings | clock.afternoons
    first, second = _words(match)
    if first not in known:
        return match.end("minute") if match["minute"] else match.end("hour")
    return match.end(5) if second in known else match.end(4)
