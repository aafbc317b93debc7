"""Unambiguous times of day: "14:00", "14.00 uur", "2 pm", "2 uur 's middags"."""

import re
from dataclasses import dataclass

from scoring.text.prepared_text import PreparedText

_GAP = r"[ \u00a0]?"
# Letters with or without stops ("p.m."), after the Dutch "'s".
_WORD = r"(?:['’]s[ \u00a0])?((?:[^\W\d_]\.){2}|[^\W\d_]{1,12}(?!\w))"
_TIME = re.compile(
    r"(?<![\w.,:/-])(?P<hour>[01]?[0-9]|2[0-4])(?:(?P<sign>[.:])(?P<minute>[0-5][0-9]))?"
    rf"(?![0-9]|[.,:/-][0-9])(?:{_GAP}{_WORD})?(?:{_GAP}{_WORD})?"
)
_BEFORE = re.compile(r"([^\W\d_]{1,12})[ \u00a0]\Z")
_MAX_BEFORE = 14
_NOON = 12


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of day as ``HH:MM``, with its span in the original text."""

    value: str
    start: int
    end: int


def clock_times(text: PreparedText) -> tuple[ClockTime, ...]:
    """Return the times of day in the whole text, in order.

    Hour and minutes with a colon are unambiguous. With a stop they may be a number or a version, and a single
    hour may be a duration: these need a word of the lexicon's ``clock``, as in "14.00 uur", "2 pm" and "om 14
    uur". An hour up to twelve without its half of the day ("2 o'clock") is ambiguous and left out.
    """
    clock, times = text.lexicon.clock, []
    known = clock.hours | clock.mornings | clock.afternoons
    for match in _TIME.finditer(text.original):
        first, second = (word.replace(".", "").casefold() if word else "" for word in match.groups()[3:])
        if value := _value(text, match, first, second):
            if first in known:
                end = match.end(5 if second in known else 4)
            else:
                end = match.end("minute" if match["minute"] else "hour")
            times.append(ClockTime(value, match.start(), end))
    return tuple(times)


def _value(text: PreparedText, match: re.Match[str], first: str, second: str) -> str | None:
    clock, hour = text.lexicon.clock, int(match["hour"])
    has_hour_word = first in clock.hours
    half_of_day = second if has_hour_word else first
    if half_of_day in clock.mornings | clock.afternoons:
        if half_of_day in clock.mornings and hour == _NOON:
            hour = 0
        elif half_of_day in clock.afternoons and hour < _NOON:
            hour += _NOON
    elif match["sign"] is None:
        # A word before an hour that no duration has: "om 14 uur".
        before = _BEFORE.search(text.original, max(match.start() - _MAX_BEFORE, 0), match.start())
        if not (has_hour_word and hour > _NOON and before and before[1].casefold() in clock.at):
            return None
    elif match["sign"] == "." and not has_hour_word:
        return None
    return f"{hour % 24:02}:{match['minute'] or '00'}"
