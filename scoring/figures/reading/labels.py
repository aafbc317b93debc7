"""Labels of rows and columns, and the words by which a clause names them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scoring.figures.reading.amounts import SIGNS
from scoring.figures.reading.blocks import Piece
from scoring.figures.reading.times import Time, whole_time
from scoring.lexicon import FigureWords, Lexicon
from scoring.text.prepared import words_of

_SIGN = re.compile(r"[€$£%]")
# "Omzet (x € 1.000)", "Revenue ($000s)".
_THOUSANDS = re.compile(
    r"(?<!\w)[x×*] ?(?:[€$£] ?)?1[.,]?000\b|\((?:[€$£] ?)?1[.,]000\)|[€$£(']000s?\b", re.IGNORECASE
)
_BRACKETS = re.compile(r"\([^()]{0,40}\)")
_POWER_OF_THOUSANDS = 3
_SHORTEST_DOUBLED = 4


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a row or column: its stems without small words, and the time or unit that it tells.

    ``aside``: those within brackets; ``power``: that of ten that its cells are told in, 3 for thousands.
    """

    text: str
    stems: tuple[str, ...]
    aside: tuple[str, ...] = ()
    time: Time | None = None
    unit: str | None = None
    power: int = 0


def label_of(piece: Piece, lexicon: Lexicon, *, is_heading: bool = False) -> Label:
    """Return the label that a piece of a text is; what a heading has within brackets need not be named."""
    words = lexicon.figures
    assert words is not None, "only a lexicon with figures is asked"
    bare = _THOUSANDS.sub(" ", _BRACKETS.sub(" ", piece.text)) if is_heading else piece.text
    stems, every = stems_of(bare, lexicon), stems_of(piece.text, lexicon)
    return Label(
        text=piece.text,
        stems=stems or every,
        aside=tuple(stem for stem in every if stem not in stems),
        time=whole_time(bare, lexicon),
        unit=unit_in(piece.text, words),
        power=power_in(piece.text, words),
    )


def stems_of(text: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the stems of a text's words that carry content; all of them where none does."""
    found = tuple(word.text for word in words_of(text))
    content = tuple(word for word in found if word not in lexicon.function_words)
    return tuple(stem(word, lexicon) for word in content or found)


def stem(word: str, lexicon: Lexicon) -> str:
    """Return what a folded word is compared by: the first of its group, or its stem."""
    words = lexicon.figures
    assert words is not None, "only a lexicon with figures is asked"
    bare = lexicon.stem(word)
    # "Pakketten" is "pakket": a plural doubles what it ends in.
    single = bare[:-1] if len(bare) > _SHORTEST_DOUBLED and bare[-1] == bare[-2] else bare
    return words.same_as.get(word) or words.same_as.get(single) or single


def unit_in(text: str, words: FigureWords) -> str | None:
    """Return the unit that a heading tells: a sign, or the first word that is one and not after "per"."""
    if sign := _SIGN.search(text):
        return SIGNS[sign.group()]
    before = ""
    for word in words_of(text):
        if before not in words.per and (unit := words.unit_of.get(word.text)):
            return unit
        before = word.text
    return None


def power_in(text: str, words: FigureWords) -> int:
    """Return the power of ten that a heading tells ("in millions"), 0 where it tells none."""
    if _THOUSANDS.search(text):
        return _POWER_OF_THOUSANDS
    before = ""
    for word in words_of(text):
        # "2 million customers" is an amount of its own, and "K" a name.
        power = words.power_of.get(word.text)
        if power and len(word.text) > 1 and not before[:1].isdigit():
            return power
        before = word.text
    return 0
