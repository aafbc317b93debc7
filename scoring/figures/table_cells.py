"""Cells of data, labels of rows and columns, and the words by which a clause names them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from scoring.figures.calendar_periods import CalendarPeriod, period_within, whole_period
from scoring.figures.data_blocks import TextSpan
from scoring.figures.quantities import UNIT_SIGNS, Quantity, find_quantities
from scoring.lexicon import FigureWords, Lexicon
from scoring.text.prepared_text import split_words

_SIGN = re.compile(r"[€$£%]")
# "Omzet (x € 1.000)", "Revenue ($000s)".
_THOUSANDS = re.compile(
    r"(?<!\w)[x×*] ?(?:[€$£] ?)?1[.,]?000\b|\((?:[€$£] ?)?1[.,]000\)|[€$£(']000s?\b", re.IGNORECASE
)
_BRACKETS = re.compile(r"\([^()]{0,40}\)")
_POWER_OF_THOUSANDS = 3
_SHORTEST_DOUBLED = 4
# "Formaat" and "formaten", "brief" and "brieven".
_LONG_VOWEL = re.compile(r"([aeou])\1(?=[^aeiou]\Z)")
_VOICED = {"v": "f", "z": "s"}


@dataclass(frozen=True, slots=True)
class AxisLabel:
    """The name of a row or column: its stems without small words, and the time or unit that it tells.

    ``aside``: those within brackets; ``power``: that of ten that its cells are told in, 3 for thousands.
    """

    text: str
    stems: tuple[str, ...]
    bracketed_stems: tuple[str, ...] = ()
    period: CalendarPeriod | None = None
    unit: str | None = None
    power: int = 0


def parse_label(span: TextSpan, lexicon: Lexicon, *, is_heading: bool = False) -> AxisLabel:
    """Return the label that a piece of a text is; what a heading has within brackets need not be named."""
    words = lexicon.figure_words
    bare = _THOUSANDS.sub(" ", _BRACKETS.sub(" ", span.text)) if is_heading else span.text
    stems, every = figure_stems(bare, lexicon), figure_stems(span.text, lexicon)
    return AxisLabel(
        text=span.text,
        stems=stems or every,
        bracketed_stems=tuple(stem for stem in every if stem not in stems),
        period=whole_period(bare, lexicon),
        unit=unit_in(span.text, words),
        power=power_in(span.text, words),
    )


def as_periods(labels: Sequence[AxisLabel], lexicon: Lexicon) -> tuple[list[AxisLabel], frozenset[str]]:
    """Return labels that differ in their time alone as these times, and the stems that all of them have.

    "Q1 sales" beside "Q2 sales" is Q1; beside "Q1 costs" it is a name.
    """
    parts = [period_within(label.text, lexicon) for label in labels]
    found = [part for part in parts if part is not None]
    if len(labels) == 1 or len(found) < len(labels) or any(label.period for label in labels):
        return list(labels), frozenset()
    rests = {frozenset(figure_stems(rest, lexicon)) for _, rest in found}
    if len(rests) > 1 or len({time for time, _ in found}) < len(labels):
        return list(labels), frozenset()
    times = [replace(label, period=time) for label, (time, _) in zip(labels, found, strict=True)]
    return times, rests.pop()


def figure_stems(text: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the stems of a text's words that carry content; all of them where none does."""
    found = tuple(word.text for word in split_words(text))
    content = tuple(word for word in found if word not in lexicon.function_words)
    return tuple(figure_stem(word, lexicon) for word in content or found)


def figure_stem(word: str, lexicon: Lexicon) -> str:
    """Return what a folded word is compared by: the first of its group, or its stem."""
    words = lexicon.figure_words
    bare = lexicon.stem(word)
    # "Pakketten" is "pakket": a plural doubles what it ends in.
    single = bare[:-1] if len(bare) >= _SHORTEST_DOUBLED and bare[-1] == bare[-2] else bare
    if same := words.canonical_word_of.get(word) or words.canonical_word_of.get(single):
        return same
    is_other = word not in words.unit_of and word not in words.fillers
    return _without_plural(single) if is_other and len(single) >= _SHORTEST_DOUBLED else single


def _without_plural(bare: str) -> str:
    """Return what singular and plural share that differ in more than an ending: "taak" and "taken"."""
    short = bare.removesuffix("e") if len(bare) > _SHORTEST_DOUBLED else bare
    return _LONG_VOWEL.sub(r"\1", short[:-1] + _VOICED.get(short[-1], short[-1]))


def unit_in(text: str, words: FigureWords) -> str | None:
    """Return the unit that a heading tells: a sign, or the first word that is one and not after "per"."""
    if sign := _SIGN.search(text):
        return UNIT_SIGNS[sign.group()]
    before = ""
    for word in split_words(text):
        if before not in words.per and (unit := words.unit_of.get(word.text)):
            return unit
        before = word.text
    return None


def power_in(text: str, words: FigureWords) -> int:
    """Return the power of ten that a heading tells ("in millions"), 0 where it tells none."""
    if _THOUSANDS.search(text):
        return _POWER_OF_THOUSANDS
    before = ""
    for word in split_words(text):
        # "2 million customers" is an amount of its own, and "K" a name.
        power = words.power_of.get(word.text)
        if power and len(word.text) > 1 and not before[:1].isdigit():
            return power
        before = word.text
    return 0


_BEFORE = re.compile(r"[ \t*_+]{0,4}")
# "€ 12,50 per maand", "7 dagen na de vervaldatum": what a cell may say besides its amount.
_AFTER = re.compile(r"(?:[ \u00a0*_/]{1,3}[^\W\d_]{1,20}){0,3}[ \t*_]{0,4}")


@dataclass(frozen=True, slots=True)
class DataCell:
    """A cell with its place in the text, and the amount or the day that it is, if any.

    ``rest`` is what stands after the amount: amounts of another rest are not of one kind. ``unit`` is that of
    the amount, or of its heading.
    """

    text: str
    start: int
    end: int
    quantity: Quantity | None = None
    day: date | None = None
    suffix: str = ""
    unit: str | None = None

    @property
    def has_figure(self) -> bool:
        """Whether it is an amount or a day."""
        return self.quantity is not None or self.day is not None


def parse_cell(span: TextSpan, lexicon: Lexicon) -> DataCell:
    """Return the cell that a piece of a text is, in a language whose lexicon has figures."""
    text, words = span.text, lexicon.figure_words
    time = whole_period(text, lexicon)
    if time and time.date:
        return DataCell(text, span.start, span.end, day=time.date)
    amount = next(find_quantities(text, words), None)
    if amount is None or not _BEFORE.fullmatch(text, 0, amount.start):
        return DataCell(text, span.start, span.end)
    if not _AFTER.fullmatch(text, amount.end):
        return DataCell(text, span.start, span.end)
    rest = text[amount.end :].strip(" \t*_").casefold()
    return DataCell(text, span.start, span.end, quantity=amount, suffix=rest)
