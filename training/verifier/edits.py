"""Typed edits of help sentences: what they say is no longer so, and which words make it untrue."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

_NUMBER = re.compile(r"(?<![\w.,-])\d{1,4}(?![\w.,])")
# Components with fewer words between them are mostly listed.
_APART = 4
_BOLD = re.compile(r"\*\*([^*\n]{2,60})\*\*")

_OPPOSITES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "en": (
        ("enabled", "disabled"), ("enable", "disable"), ("enables", "disables"), ("on", "off"),
        ("checked", "unchecked"), ("before", "after"), ("above", "below"), ("left", "right"),
        ("first", "last"), ("show", "hide"), ("shows", "hides"), ("always", "never"), ("all", "no"),
        ("with", "without"), ("more", "less"), ("larger", "smaller"), ("new", "existing"),
        ("add", "remove"), ("adds", "removes"), ("open", "close"), ("opens", "closes"),
        ("incoming", "outgoing"), ("minimum", "maximum"), ("lower", "higher"), ("increase", "decrease"),
        ("increases", "decreases"), ("top", "bottom"), ("next", "previous"), ("automatically", "manually"),
        ("local", "remote"), ("required", "optional"), ("allowed", "forbidden"), ("horizontal", "vertical"),
        ("start", "end"), ("only", "also"), ("must", "may"), ("all", "only some"), ("every", "no"),
        ("selected", "unselected"), ("locked", "unlocked"), ("black", "white"), ("public", "private"),
    ),
    "nl": (
        ("ingeschakeld", "uitgeschakeld"), ("inschakelen", "uitschakelen"), ("aan", "uit"),
        ("geactiveerd", "gedeactiveerd"), ("voor", "na"), ("boven", "onder"), ("links", "rechts"),
        ("linker", "rechter"), ("eerste", "laatste"), ("tonen", "verbergen"), ("toont", "verbergt"),
        ("altijd", "nooit"), ("met", "zonder"), ("meer", "minder"), ("groter", "kleiner"),
        ("nieuwe", "bestaande"), ("toevoegen", "verwijderen"), ("openen", "sluiten"), ("opent", "sluit"),
        ("inkomende", "uitgaande"), ("minimum", "maximum"), ("minimale", "maximale"), ("lager", "hoger"),
        ("volgende", "vorige"), ("automatisch", "handmatig"), ("lokale", "externe"), ("alle", "geen"),
        ("verplicht", "optioneel"), ("horizontaal", "verticaal"), ("begin", "einde"), ("elke", "geen"),
        ("alleen", "ook"), ("moet", "mag"), ("moeten", "mogen"), ("zwart", "wit"), ("boven", "beneden"),
        ("alle", "slechts enkele"), ("bovenste", "onderste"), ("verhogen", "verlagen"), ("wel", "niet"),
    ),
}  # fmt: skip

# A verb before which, in English after which, a negation stands; and the ways to take one away.
_DENIED: Mapping[str, tuple[tuple[str, str], ...]] = {
    "en": (
        (r"\b(is|are|was|were|can|will|should|must|may|does|do|has)\b(?! not|n't|not)", r"\1 not"),
        (r"\b(is|are|was|were|can|will|should|must|may|does|do|has) not\b", r"\1"),
        (r"\bcannot\b", "can"),
        (r"\b(isn|aren|wasn|can|won|shouldn|doesn|don|hasn)['’]t\b", r"does"),
        (r"\bno\b", "a"),
    ),
    "nl": (
        (r"\b(is|zijn|wordt|worden|kan|kunt|kunnen|zal|zullen|moet|mag|heeft)\b(?! niet| geen)", r"\1 niet"),
        (r" niet\b", ""),
        (r"\bgeen\b", "een"),
        (r"\been\b", "geen"),
    ),
}


@dataclass(frozen=True, slots=True)
class Edited:
    """A sentence that no longer says what it said; ``start`` and ``end`` are the new words in it."""

    text: str
    start: int
    end: int
    kind: str


def edited(sentence: str, language: str, components: Sequence[str], chance: random.Random) -> Edited | None:
    """Return a sentence with one edit, of a kind that it allows; None where it allows none.

    ``components`` are names of other components, as :func:`components_of` finds them.
    """
    kinds: list[Callable[[], Edited | None]] = [
        lambda: _other_number(sentence, chance),
        lambda: _other_component(sentence, components, chance),
        lambda: _opposite(sentence, language, chance),
        lambda: _denied(sentence, language, chance),
        lambda: _other_order(sentence, chance),
    ]
    chance.shuffle(kinds)
    return next((found for kind in kinds if (found := kind()) is not None), None)


def components_of(text: str) -> list[str]:
    """Return the names in bold."""
    return _BOLD.findall(text)


def _other_number(sentence: str, chance: random.Random) -> Edited | None:
    found = list(_NUMBER.finditer(sentence))
    if not found:
        return None
    place = chance.choice(found)
    number = int(place.group())
    near = {number + 1, number * 2, number * 10, number + 5, abs(number - 1), number // 2} - {number}
    return _replaced(sentence, place.span(), str(chance.choice(sorted(near))), "number")


def _other_component(sentence: str, components: Sequence[str], chance: random.Random) -> Edited | None:
    found = list(_BOLD.finditer(sentence))
    others = sorted({name for name in components if name.casefold() not in sentence.casefold()})
    if not found or not others:
        return None
    return _replaced(sentence, chance.choice(found).span(1), chance.choice(others), "entity")


def _opposite(sentence: str, language: str, chance: random.Random) -> Edited | None:
    pairs = [*_OPPOSITES[language], *((right, left) for left, right in _OPPOSITES[language])]
    found = [
        (match.span(), right)
        for left, right in pairs
        if " " not in left
        for match in re.finditer(rf"\b{left}\b", sentence)
    ]
    return _replaced(sentence, *chance.choice(found), "contradiction") if found else None


def _denied(sentence: str, language: str, chance: random.Random) -> Edited | None:
    found = [
        (match.span(), match.expand(new))
        for pattern, new in _DENIED[language]
        for match in re.finditer(pattern, sentence)
    ]
    return _replaced(sentence, *chance.choice(found), "negation") if found else None


def _other_order(sentence: str, chance: random.Random) -> Edited | None:
    """Swap two components of a sentence: the one takes the place of the other."""
    found = list(_BOLD.finditer(sentence))
    if len(found) < 2 or found[0].group(1) == found[-1].group(1):  # noqa: PLR2004
        return None
    first, second = sorted(chance.sample(range(len(found)), 2))
    one, other = found[first], found[second]
    between = sentence[one.end() : other.start()]
    # "**Cut** and **Copy**" says the same the other way round.
    if one.group(1) == other.group(1) or len(between.split()) < _APART:
        return None
    text = (
        sentence[: one.start(1)]
        + other.group(1)
        + sentence[one.end(1) : other.start(1)]
        + one.group(1)
        + sentence[other.end(1) :]
    )
    return Edited(text, one.start(1), other.end(1), "order")


def _replaced(sentence: str, place: tuple[int, int], new: str, kind: str) -> Edited:
    start, end = place
    text = f"{sentence[:start]}{new}{sentence[end:]}"
    # What was taken away is marked by the word that now stands before it.
    return Edited(text, start if new else max(text.rfind(" ", 0, start), 0), start + len(new), kind)
