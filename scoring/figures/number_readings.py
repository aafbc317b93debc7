"""The numbers of a text, in digits and in words, each with every reading that it may have."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from scoring.figures.quantities import DURATION, MONEY, MONTHS, SHARE, UNIT_SIGNS, UNIT_SIZES, parse_number
from scoring.figures.times import calendar_periods, clock_times
from scoring.lexicon import Lexicon
from scoring.text.prepared_text import PreparedText, Word, split_words

#: What a reading is of besides the kinds of units: a time of day, a date (by its ordinal).
CLOCK, DATE = "clock", "date"
_TEXT, _DIGITS = "text", "digits"

#: The tolerance between calendar months and a number of days or weeks.
SECONDS_OF_MONTH = Fraction(365 * 86_400, 12)

# Times, versions, decimals and thousands stay whole: 12:30, 2.10.4, 1.234,56.
_NUMBER = re.compile(r"\d{1,15}(?:[.,:]\d{1,15}){0,6}")
_STEP = re.compile(r"[ \t*_>#-]{0,8}(?:([^\W\d_]{2,12}) )?")
# "The 1st", and what an amount is multiplied by: "12 × € 66".
_UNCHECKED = re.compile(r"1(?:st|s?te|e)\b|\d{1,2} [×x*] (?=[€$£\d])")
_GROUPED = re.compile(r"\d{1,3}[.,]\d{3}")
_SPACED = re.compile(r"(?<![\d.,])\d{1,3}(?:[ \u00a0\u202f’']\d{3}){1,4}(?![\d.,]\d|\d)")
_LONG = re.compile(r"\d(?:[ ()/.–-]{0,3}\d){6,20}")
_TIME = re.compile(r"(?<![\w.,:/-])([01]?\d|2[0-4])[.:uh]([0-5]\d)(?!\d|[.,:]\d)")
_SIGN_BEFORE = re.compile(r"([€$£]|\b(?:EUR|USD|GBP))[ \u00a0]?\Z")
_SIGN_AFTER = re.compile(r"[ \u00a0]?([%‰€$£])")
_NEXT = re.compile(r"([ \n\u00a0-]?)([^\W\d_]+(?:['’]s)?)")
_WIDEST_SIGN = 4
_SIGNS = UNIT_SIGNS | {"‰": "permille"}
_HOUR_MINUTES, _HALF_DAY, _DAY = 60, 720, 1440
_WORD_BEFORE = re.compile(r"(?<![^\W\d_])([^\W\d_]{1,40})[ \u00a0]\Z")
# Behind the second of two numbers with a dash: these are part of a date or a number of a telephone.
_PART = re.compile(r"[ ]?[-–/.,:]?\d|[-–/]")
# As far as "in the afternoon" behind a time.
_REACH = 20


@dataclass(frozen=True, slots=True)
class NumberReading:
    """What a part of a text may say: a value of a kind, in its smallest unit.

    ``kind`` is None for a bare number, else what it is a number of: a kind of unit, or the stem of the word
    after it. ``size`` is how much of the kind its unit is. ``is_tentative``: it may be read so where the
    other text says so, and not otherwise, as the hour in "from 9 on".
    """

    kind: str | None
    value: Fraction | str
    start: int
    end: int
    size: Fraction = Fraction(1)
    is_tentative: bool = False

    @property
    def key(self) -> tuple[str | None, Fraction | str]:
        """What is equal in two readings that say the same."""
        return self.kind, self.value


@dataclass(frozen=True, slots=True)
class _NumberCandidate:
    """A number by its possible values, with its unit; ``unit_end`` is where that ends."""

    values: tuple[Fraction, ...]
    start: int
    end: int
    kind: str | None = None
    size: Fraction = Fraction(1)
    unit_end: int = 0
    in_words: bool = False
    is_article: bool = False


def number_spans(text: PreparedText, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the places of the numbers in digits between two offsets; that of a step or heading is none."""
    original = text.original
    for found in _NUMBER.finditer(original, start, end):
        step = _STEP.fullmatch(original, original.rfind("\n", 0, found.start()) + 1, found.start())
        is_step = step and (step[1] is None or step[1].casefold() in text.lexicon.step_words)
        # "2." or "Step 2:" at the beginning of its line
        is_step = is_step and original.startswith((".", ")", ":"), found.end())
        if not (is_step or _UNCHECKED.match(original, found.start())):
            yield found.span()


def number_readings(text: PreparedText) -> tuple[NumberReading, ...]:
    """Return every reading of the numbers of a text: "1.500" is 1500 or 1.5, "half tien" 9:30 or 21:30.

    Units of one kind are one: three weeks and 21 days, "€ 0,35" and 35 cent, "a quarter" and 25%.
    """
    quantities = sorted((*_in_digits(text), *_in_words(text)), key=lambda each: each.start)
    for place in range(len(quantities) - 2, -1, -1):
        left, right = quantities[place : place + 2]
        between = text.original[left.end : right.start].strip()
        if left.kind is None and between in {"-", "–", *text.lexicon.function_words}:
            quantities[place] = replace(left, kind=right.kind, size=right.size)  # "4 to 6 weeks"
    # "9 pm" is no other nine, but a bare nine may be nine in the evening.
    hours = {time.start for time in text.cached(clock_times)}
    return (
        *_literal_readings(text),
        *_clock_readings(text, quantities),
        *(reading for each in quantities for reading in _candidate_readings(each, each.start in hours)),
        *_paired_readings(text, quantities),
    )


def time_units(text: PreparedText) -> Mapping[str, Fraction]:
    """Return the units of time that a text names, also as "monthly" or "maandbedrag", with their seconds."""
    periods = {word: unit for unit, words in text.lexicon.numbers.periods.items() for word in words}
    units = periods | {**_units(text.lexicon)}
    named = {units.get(word, "") for word in text.word_texts} & UNIT_SIZES.keys()
    seconds = {DURATION: Fraction(1), MONTHS: SECONDS_OF_MONTH}
    sizes = {unit: UNIT_SIZES[unit] for unit in named}
    return {unit: size * seconds[kind] for unit, (kind, size) in sizes.items() if kind in seconds}


def _literal_readings(text: PreparedText) -> Iterator[NumberReading]:
    """Yield a number as it is written, and the parts that may replace it: 2.10 for version 2.10.4."""
    for found in _NUMBER.finditer(text.original):
        start, end = found.span()
        cuts = [cut.start() for cut in re.finditer(r"[.,:]", found.group())]
        if cuts:
            yield NumberReading(_TEXT, found.group(), start, end)
        if len(cuts) > 1 and not parse_number(found.group()):
            yield from (NumberReading(_TEXT, found.group()[:cut], start, start + cut) for cut in cuts[1:])
            for part in re.finditer(r"\d+", found.group()):
                yield NumberReading(None, Fraction(part.group()), start + part.start(), start + part.end())
    for found in _LONG.finditer(text.original):
        yield NumberReading(_DIGITS, re.sub(r"\D", "", found.group()), *found.span())
    if text.lexicon.figures:
        for time, start, end in calendar_periods(text.original, text.lexicon):
            if time.date:
                yield NumberReading(DATE, Fraction(time.date.toordinal()), start, end)
            if time.month:
                yield NumberReading(None, Fraction(time.month), start, start)


def _in_digits(text: PreparedText) -> Iterator[_NumberCandidate]:
    for found in _NUMBER.finditer(text.original):
        if values := tuple(dict.fromkeys(_values(found.group(), text.lexicon))):
            yield from _with_unit(text, _NumberCandidate(values, *found.span()))
    for found in _SPACED.finditer(text.original):
        value = Fraction(re.sub(r"\D", "", found.group()))
        yield from _with_unit(text, _NumberCandidate((value,), *found.span()))


def _values(written: str, lexicon: Lexicon) -> Iterator[Fraction]:
    """Yield what a number may be; thousands are no fraction by the sign of another language."""
    if (number := parse_number(written)) is None:
        yield from (Fraction(written),) if written.isdigit() else ()
        return
    for sign, value in ((".", number.point), (",", number.comma)):
        is_foreign = lexicon.figures is not None and lexicon.figures.decimal_sign != sign and sign in written
        if value is not None and not (is_foreign and _GROUPED.fullmatch(written)):
            yield Fraction(value)


def _with_unit(text: PreparedText, number: _NumberCandidate) -> Iterator[_NumberCandidate]:
    """Yield a number with its unit, or with the thing that it is a number of."""
    original, lexicon = text.original, text.lexicon
    figures = lexicon.figures
    values, end, at = number.values, number.end, number.end
    word = _NEXT.match(original, at)
    if figures and word and (power := figures.power_of.get(word[2].casefold())) and not number.in_words:
        if not word[1]:
            yield replace(number, unit_end=end)  # "4k" may be a name
        values, at = tuple(value * 10**power for value in values), word.end()
        word = _NEXT.match(original, at)
    sign = _SIGN_BEFORE.search(original[max(number.start - _WIDEST_SIGN, 0) : number.start])
    after = _SIGN_AFTER.match(original, at)
    unit = _SIGNS.get(sign[1], sign[1]) if sign else _SIGNS[after[1]] if after else None
    if unit is None and all(value < 1 for value in values):
        # "A quarter of an hour"
        while word and word[2].casefold() in lexicon.function_words:
            word = _NEXT.match(original, word.end())
    folded = word[2].casefold().replace("’", "'") if word else ""
    if unit is None and folded not in lexicon.function_words:
        unit, end = _unit(folded, lexicon), word.end() if word else end
    kind, size = UNIT_SIZES.get(unit or "", (unit, Fraction(1)))
    stop = max(after.end() if after and not sign else at, end)
    yield _NumberCandidate(values, number.start, at, kind, size, stop, number.in_words, number.is_article)


@lru_cache(maxsize=16)
def _units(lexicon: Lexicon) -> Mapping[str, str]:
    own = {word: unit for unit, words in lexicon.numbers.units.items() for word in words}
    return {**own, **(lexicon.figures.unit_of if lexicon.figures else {})}


def _unit(word: str, lexicon: Lexicon) -> str | None:
    """Return the unit that a word is or ends with ("vakantiedagen"), else its stem."""
    units = _units(lexicon)
    if not word or word in units:
        return units.get(word)
    ends = (units[word[place:]] for place in range(1, len(word) - 2) if word[place:] in units)
    return next(ends, lexicon.stem(word))


@lru_cache(maxsize=16)
def _number_words(lexicon: Lexicon) -> Mapping[str, tuple[Fraction, ...]]:
    """Return the values of each word that is a number; those of one with several, the lowest last."""
    found = {word: [Fraction(value)] for word, value in lexicon.claims.numbers.items()}
    for written, words in lexicon.numbers.words.items():
        for word in words:
            found.setdefault(word, []).append(Fraction(written))
    for word in lexicon.numbers.articles:
        found.setdefault(word, [Fraction(1)])
    for word, power in lexicon.figures.power_of.items() if lexicon.figures else ():
        if len(word) > 1:
            found[word] = [Fraction(10**power)]
    return {word: tuple(values) for word, values in found.items()}


@lru_cache(maxsize=16)
def _number_word_patterns(lexicon: Lexicon) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return how a number in words looks, and how each of its parts does."""
    longest_first = sorted(_number_words(lexicon), key=len, reverse=True)
    one = "|".join(re.escape(word).replace(r"\ ", r"\s") for word in longest_first) or r"(?!)"
    joiner = "|".join(lexicon.numbers.joiners) or r"(?!)"
    whole = rf"(?<!\w)(?:{one})(?:[ \n-]?(?:(?:{joiner})[ \n-]?)?(?:{one})){{0,9}}(?!\w)"
    return re.compile(whole, re.IGNORECASE), re.compile(rf"({joiner})|({one})", re.IGNORECASE)


def _in_words(text: PreparedText) -> Iterator[_NumberCandidate]:
    values, (whole, part) = _number_words(text.lexicon), _number_word_patterns(text.lexicon)
    for found in whole.finditer(text.original):
        parts = [*part.finditer(found.group())]
        if len(parts) > 1:
            total = _sum_of_words(parts, values)
            yield from _with_unit(text, _NumberCandidate((total,), *found.span(), in_words=True))
        for each in parts if len(parts) == 1 or re.search(r"\s", found.group()) else ():
            if each[2]:
                start, word = found.start() + each.start(), " ".join(each[2].casefold().split())
                place = start, start + len(word)
                is_article = word in text.lexicon.numbers.articles
                number = _NumberCandidate(values[word], *place, in_words=True, is_article=is_article)
                yield from _with_unit(text, number)


def _sum_of_words(parts: Sequence[re.Match[str]], values: Mapping[str, tuple[Fraction, ...]]) -> Fraction:
    """Return what words come to: "two hundred and five", "drie kwart", "two and a half"."""
    terms: list[Fraction] = []
    joined = False
    for part in parts:
        if part[1]:
            joined = True
            continue
        value = values[" ".join(part[2].casefold().split())][-1]
        if value >= 100:  # noqa: PLR2004 - a hundred
            place = next((n for n, term in enumerate(terms) if term < value), len(terms))
            terms[place:] = [(sum(terms[place:]) or 1) * value]
        elif value < 1 and terms and not joined:
            terms[-1] *= value
        elif not (value == 1 and terms and terms[-1] < 1):  # "half a year"
            terms.append(value)
        joined = False
    return Fraction(sum(terms))


def _candidate_readings(quantity: _NumberCandidate, is_hour: bool) -> Iterator[NumberReading]:
    start, end = quantity.start, quantity.end
    for value in quantity.values:
        if not quantity.is_article:
            yield NumberReading(None, value, start, end, is_tentative=is_hour)
            if value < 1:
                yield NumberReading(SHARE, value, start, end)
        if quantity.kind:
            yield NumberReading(quantity.kind, value * quantity.size, start, end, quantity.size)


def _paired_readings(text: PreparedText, quantities: Sequence[_NumberCandidate]) -> Iterator[NumberReading]:
    """Yield what two are together: "3 out of 4", "7 euro 50", "1 day and 6 hours", "an hour and a half"."""
    for left, right in pairwise(quantities):
        between = text.original[left.end : right.start].strip().casefold()
        if between in text.lexicon.numbers.ratios and 0 < left.values[0] < right.values[0]:
            yield NumberReading(SHARE, left.values[0] / right.values[0], left.start, right.end)
        between = text.original[left.unit_end : right.start].strip(" ,").casefold()
        if right.start < left.unit_end or between not in {"", *text.lexicon.numbers.joiners}:
            continue
        whole, part = left.values[0] * left.size, right.values[0]
        if left.kind == MONEY and right.kind != MONEY and text.original[right.start : right.end].isdigit():
            yield NumberReading(MONEY, whole + part / 100, left.start, right.end)
            yield NumberReading(None, whole + part / 100, left.start, right.end)
        elif left.kind in {DURATION, MONTHS, MONEY} and right.kind == left.kind and right.size < left.size:
            yield NumberReading(left.kind, whole + part * right.size, left.start, right.end)
        elif left.kind in {DURATION, MONTHS} and right.in_words and right.values[-1] < 1:
            yield NumberReading(left.kind, whole + right.values[-1] * left.size, left.start, right.end)


def _clock_readings(text: PreparedText, quantities: Sequence[_NumberCandidate]) -> Iterator[NumberReading]:
    """Yield the times of day; by an hour up to twelve without its part of the day either half is meant."""
    original, clock = text.original, text.lexicon.clock
    parts, sure = clock.mornings | clock.afternoons, set()
    for time in text.cached(clock_times):
        after = {word.text for word in split_words(original, time.end, min(time.end + _REACH, len(original)))}
        if not original[time.end - 1].isdigit() or after.isdisjoint(parts):
            sure.add(time.start)
            minutes = int(time.value[:2]) * _HOUR_MINUTES + int(time.value[3:])
            yield from _time_readings((minutes,), time.start, time.end)
    for found in _TIME.finditer(original):
        if found.start() not in sure:
            yield from _time_readings(_possible_minutes(int(found[1]), int(found[2])), *found.span())
    words = split_words(original)
    named = dict.fromkeys(clock.midnights, 0) | dict.fromkeys(clock.noons, _HALF_DAY)
    for word in (each for each in words if each.text in named):
        yield from _time_readings((named[word.text],), word.start, word.end)
    numbers = {each.start: each for each in quantities if not each.is_article and each.start not in sure}
    may_be_hours = {start: each for start, each in numbers.items() if _may_be_hour(each, text.lexicon)}
    cues = dict(_hour_cues(text, [*may_be_hours.values()]))
    for place, word in enumerate(words):
        number = may_be_hours.get(word.start)
        if number is None:
            continue
        either = _possible_minutes(int(number.values[0]))
        if not parts.isdisjoint(each.text for each in words[place + 1 : place + 4]):
            yield from _time_readings(either, number.start, number.end)
        elif number.start in cues:
            yield from _time_readings(either, number.start, number.end, is_tentative=not cues[number.start])
        yield from _worded_time_readings(words, place, either, numbers, text.lexicon)


def _may_be_hour(number: _NumberCandidate, lexicon: Lexicon) -> bool:
    """Return whether a number is an hour, and not an amount of a unit that no time of day has."""
    if number.values[0] not in range(25):
        return False
    if number.kind == DURATION:
        return number.size == UNIT_SIZES["hour"][1]
    return number.kind not in {*_units(lexicon).values(), *(kind for kind, _ in UNIT_SIZES.values())}


def _hour_cues(text: PreparedText, numbers: Sequence[_NumberCandidate]) -> Iterator[tuple[int, bool]]:
    """Yield where an hour is, by its neighbours, and whether it surely is one.

    Sure are "at 9", "from 9 to 5", "tot 12 uur" and "9 o'clock"; with a word of content behind it ("tot 9
    bereikbaar", as "tot 9 gebruikers") or after a word that durations have too ("na 5") it may be one.
    "6 hours" is a duration.
    """
    original, lexicon = text.original, text.lexicon
    clock, units = lexicon.clock, _units(lexicon)
    linked = False
    ranges = {"-", "–", "—", *clock.until}
    for place, number in enumerate(numbers):
        before = _WORD_BEFORE.search(original, max(number.start - _REACH, 0), number.start)
        said = before[1].casefold() if before else ""
        following = numbers[place + 1] if place + 1 < len(numbers) else None
        between = original[number.end : following.start].strip().casefold() if following else ""
        opens = between in ranges and not _PART.match(original, following.end if following else 0)
        after = _NEXT.match(original, number.end)
        word = after[2].casefold() if after else ""
        is_unit = word in clock.hours and word in units
        is_content = bool(word) and word not in lexicon.function_words | clock.hours
        is_cued = linked or opens or said in clock.at | clock.since | clock.until
        if word in units and (word not in clock.hours or lexicon.stem(word) != word):
            is_cued = False  # "6 hours"
        elif word in clock.hours and not is_unit:
            yield number.start, True
        elif is_cued:
            yield number.start, not is_content or said in clock.at
        elif is_unit or said in clock.past | clock.to:
            yield number.start, False
        linked = opens or (is_cued and between in lexicon.numbers.joiners)


def _possible_minutes(hour: int, minute: int = 0) -> tuple[int, ...]:
    """Return the minutes of the day that an hour may be; up to twelve it is of either half."""
    minutes = hour * _HOUR_MINUTES + minute
    return (minutes, minutes + _HALF_DAY) if hour <= _HALF_DAY // _HOUR_MINUTES else (minutes,)


def _worded_time_readings(
    words: Sequence[Word],
    place: int,
    hours: tuple[int, ...],
    numbers: Mapping[int, _NumberCandidate],
    lexicon: Lexicon,
) -> Iterator[NumberReading]:
    """Yield the time that words before an hour make of it: "half tien", "kwart over drie", "ten to five"."""
    clock, units, end = lexicon.clock, _units(lexicon), words[place].end
    if place and words[place - 1].text in clock.halves:
        place -= 1
        hours = tuple(hour - _HOUR_MINUTES // 2 for hour in hours)
        yield from _time_readings(hours, words[place].start, end)
    before = [word for word in words[max(place - 3, 0) : place] if units.get(word.text) != "minute"]
    if len(before) > 1 and before[-1].text in clock.past | clock.to and before[-2].start in numbers:
        part = numbers[before[-2].start].values[-1]
        minutes = int(part * _HOUR_MINUTES if part < 1 else part)
        sign = 1 if before[-1].text in clock.past else -1
        yield from _time_readings(tuple(hour + sign * minutes for hour in hours), before[-2].start, end)


def _time_readings(
    either: Sequence[int], start: int, end: int, *, is_tentative: bool = False
) -> Iterator[NumberReading]:
    for minutes in either:
        yield NumberReading(CLOCK, Fraction(minutes % _DAY), start, end, is_tentative=is_tentative)
