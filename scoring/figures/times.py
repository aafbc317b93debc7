"""Times in a text: dates, months, quarters and years, and times of day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from datetime import date
from functools import lru_cache

from scoring.lexicon import Lexicon
from scoring.text.prepared_text import PreparedText

_YEAR = r"(?:19|20)\d\d"
_GAP = r"[ \u00a0]{1,2}"
_MONTHS_OF_QUARTER = 3
_MOST_MONTHS = 12


@dataclass(frozen=True, slots=True)
class CalendarPeriod:
    """A day, month, quarter or year, as far as it is given."""

    year: int | None = None
    quarter: int | None = None
    month: int | None = None
    day: int | None = None

    @property
    def date(self) -> date | None:
        """The day, if it is given with month and year."""
        is_whole = self.year and self.month and self.day
        return date(self.year or 0, self.month or 0, self.day or 0) if is_whole else None

    def covers(self, other: CalendarPeriod) -> bool:
        """Return whether another time is this one or a part of it, as far as both are given."""
        quarter = other.quarter or (other.month and (other.month - 1) // _MONTHS_OF_QUARTER + 1)
        own, its = astuple(self), (other.year, quarter, other.month, other.day)
        return all(mine is None or mine == part for mine, part in zip(own, its, strict=True))


def calendar_periods(text: str, lexicon: Lexicon) -> Iterator[tuple[CalendarPeriod, int, int]]:
    """Yield the times of a text with their places, in order; a bare year is none.

    A name of a month that is another word too ("may") counts only with a capital.
    """
    for found in _pattern(lexicon).finditer(text):
        word = found.group().rstrip(".")
        is_lower = word[0].islower() or not text[: found.start()].strip()
        if is_lower and word.casefold() in lexicon.function_words:
            continue
        if time := _parse_period(found, lexicon):
            yield time, *found.span()


def whole_period(text: str, lexicon: Lexicon) -> CalendarPeriod | None:
    """Return the time that all of a text is, a bare year too, or None."""
    stripped = text.strip()
    if re.fullmatch(_YEAR, stripped):
        return CalendarPeriod(year=int(stripped))
    found = _pattern(lexicon).fullmatch(stripped)
    return _parse_period(found, lexicon) if found else None


@lru_cache(maxsize=16)
def _pattern(lexicon: Lexicon) -> re.Pattern[str]:
    longest_first = sorted(lexicon.figure_words.month_of, key=len, reverse=True)
    months = "|".join(map(re.escape, longest_first)) or r"(?!)"
    forms = (
        rf"(?P<y1>{_YEAR})-(?P<m1>\d\d)(?:-(?P<d1>\d\d))?",
        rf"(?P<d2>\d{{1,2}})(?P<sign>[-/.])(?P<m2>\d{{1,2}})(?P=sign)(?P<y2>{_YEAR})",
        rf"(?P<d3>\d{{1,2}}){_GAP}(?P<n3>{months})\b\.?(?:{_GAP}(?P<y3>{_YEAR}))?",
        rf"(?P<n4>{months})\b\.?{_GAP}(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?,?{_GAP}(?P<y4>{_YEAR})",
        rf"(?P<n5>{months})\b\.?(?:(?:{_GAP}|-)(?P<y5>{_YEAR}))?",
        rf"[QK](?P<q6>[1-4])(?:{_GAP}|-)?(?P<y6>{_YEAR})?",
        rf"(?P<y7>{_YEAR})(?:{_GAP}|-)?[QK](?P<q7>[1-4])",
    )
    return re.compile(rf"(?<![\w.,/-])(?:{'|'.join(forms)})(?![\w/]|-\w|[.,]\d)", re.IGNORECASE)


def _parse_period(found: re.Match[str], lexicon: Lexicon) -> CalendarPeriod | None:
    # Each form of a time numbers its own groups, of which only one matched: "y1", "y2".
    parts = {group[0]: part for group, part in found.groupdict().items() if part and group[1:].isdigit()}
    year, quarter, month, day, name = map(parts.get, "yqmdn")
    if name:
        month = str(lexicon.figure_words.month_of[name.casefold()])
    # 03-04-2024 is in April or in March.
    is_day_first = lexicon.figure_words.day_first or day == month or int(day or 0) > _MOST_MONTHS
    if found["sign"] and not is_day_first:
        return None
    time = CalendarPeriod(*(int(part) if part else None for part in (year, quarter, month, day)))
    try:
        date(time.year or 2000, time.month or 1, time.day or 1)
    except ValueError:
        return None
    return time


# Letters with or without stops ("p.m."), after the Dutch "'s".
_WORD = r"(?:['’]s[ \u00a0])?((?:[^\W\d_]\.){2}|[^\W\d_]{1,12}(?!\w))"
_TIME = re.compile(
    r"(?<![\w.,:/-])(?P<hour>[01]?[0-9]|2[0-4])(?:(?P<sign>[.:])(?P<minute>[0-5][0-9]))?"
    rf"(?![0-9]|[.,:/-][0-9])(?:[ \u00a0]?{_WORD})?(?:[ \u00a0]?{_WORD})?"
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
            last = 4 + (second in known) if first in known else "minute" if match["minute"] else "hour"
            times.append(ClockTime(value, match.start(), match.end(last)))
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
