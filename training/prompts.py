"""Imperatives and questions with their trees, made from a small grammar.

Newspapers and encyclopedias, which the treebanks come from, hardly tell a reader to do anything, nor
ask; help texts and their readers do little else.
"""

import csv
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from training.tree import ROOT, Sentence, UdWord

_FOLDER = Path(__file__).parent
_HIGHEST = "root"


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb's forms; ``particle`` is the part that can stand apart, or empty."""

    particle: str
    stem: str
    infinitive: str
    participle: str

    @property
    def lemma(self) -> str:
        """The whole infinitive: ``invullen``."""
        return self.particle + self.infinitive


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun with its article; ``lemma`` differs from ``text`` in the plural."""

    article: str
    text: str
    lemma: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A word of a template; ``head`` is the name of another piece, ``name`` its own."""

    text: str
    lemma: str
    pos: str
    dep: str
    head: str
    name: str = ""


def prompts(number: int, seed: int) -> Iterator[Sentence]:
    """Yield ``number`` sentences, always the same for the same seed."""
    chance = random.Random(seed)  # noqa: S311 -- reproducible on purpose
    for _ in range(number):
        yield _sentence(chance.choice(_TEMPLATES)(_Choice(chance)))


@cache
def verbs() -> tuple[Verb, ...]:
    """Return the verbs of the grammar."""
    return tuple(Verb(*(row[0].strip("-"), *row[1:])) for row in _rows("verbs.tsv"))


@cache
def imperatives() -> frozenset[str]:
    """Return the imperatives of the grammar, such as "vul"."""
    return frozenset(verb.stem for verb in verbs()) | {"druk", "ga", "klik", "let", "schakel", "zorg"}


@cache
def nouns() -> tuple[Noun, ...]:
    """Return the nouns of the grammar."""
    return tuple(Noun(*row) for row in _rows("nouns.tsv"))


def _rows(name: str) -> list[list[str]]:
    with (_FOLDER / name).open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines, delimiter="\t"))


class _Choice:
    """Draws the words of one sentence."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.verb = chance.choice(verbs())
        self.subject = chance.choice(("ik", "ik", "je", "u", "we"))
        self.modal = chance.choice((("kan", "kunnen"), ("moet", "moeten"), ("mag", "mogen")))

    def one(self, *options: str) -> str:
        return self._chance.choice(options)

    def happens(self, probability: float) -> bool:
        return self._chance.random() < probability

    def phrase(self, head: str, dep: str = "obj", name: str = "object") -> list[Piece]:
        """Return a noun with its determiner, sometimes an adjective or a second noun."""
        noun = self._chance.choice(nouns())
        owner = [Piece(self.one("mijn", "uw"), "", "PRON", "nmod:poss", name)]
        article = Piece(noun.article, "", "DET", "det", name)
        indefinite = [Piece("een", "", "DET", "det", name)] if noun.text == noun.lemma else []
        determiner = self._chance.choice(([article], [article], owner, indefinite))
        described = self._adjective(name) if determiner == [article] and self.happens(0.15) else []
        head_word = [Piece(noun.text, noun.lemma, "NOUN", dep, head, name)]
        later = self.place(name, "nmod") if self.happens(0.1) else []
        return [*determiner, *described, *head_word, *later]

    def _adjective(self, name: str) -> list[Piece]:
        text, lemma = self._chance.choice((("nieuwe", "nieuw"), ("juiste", "juist"), ("oude", "oud")))
        return [Piece(text, lemma, "ADJ", "amod", name)]

    def place(self, head: str, dep: str = "obl") -> list[Piece]:
        """Return a phrase such as "in het menu"."""
        noun = self._chance.choice(nouns())
        case = Piece(self.one("in", "op", "via", "bij", "voor", "van"), "", "ADP", "case", "place")
        article = Piece(noun.article, "", "DET", "det", "place")
        return [case, article, Piece(noun.text, noun.lemma, "NOUN", dep, head, "place")]

    def maybe_place(self, head: str) -> list[Piece]:
        return self.place(head) if self.happens(0.3) else []

    def component(self, head: str, dep: str) -> list[Piece]:
        """Return the name of a button or menu."""
        text, lemma, pos = self._chance.choice(_COMPONENTS)
        return [Piece(text, lemma, pos, dep, head, "component")]

    def negation(self, head: str) -> list[Piece]:
        word = self._chance.choice(("niet", "niet", "ook", "nog", "al", "opnieuw", ""))
        return [Piece(word, "", "ADV", "advmod", head)] if word else []


_COMPONENTS = (
    ("Opslaan", "opslaan", "VERB"),
    ("Toevoegen", "toevoegen", "VERB"),
    ("Verwijderen", "verwijderen", "VERB"),
    ("Bewerken", "bewerken", "VERB"),
    ("Bestand", "bestand", "NOUN"),
    ("Instellingen", "instelling", "NOUN"),
    ("Gebruikers", "gebruiker", "NOUN"),
    ("Beheer", "beheer", "NOUN"),
    ("Overzicht", "overzicht", "NOUN"),
    ("Voorkeuren", "voorkeur", "NOUN"),
    ("Nieuw", "nieuw", "ADJ"),
    ("Extra", "extra", "ADJ"),
)


def _end(mark: str) -> Piece:
    return Piece(mark, "", "PUNCT", "punct", _HIGHEST)


def _particle(verb: Verb, head: str = _HIGHEST) -> list[Piece]:
    return [Piece(verb.particle, "", "ADP", "compound:prt", head)] if verb.particle else []


def _stem(verb: Verb) -> Piece:
    return Piece(verb.stem, verb.infinitive, "VERB", _HIGHEST, "", _HIGHEST)


def _whole(verb: Verb, dep: str = _HIGHEST, head: str = "", name: str = _HIGHEST) -> Piece:
    return Piece(verb.lemma, verb.lemma, "VERB", dep, head, name)


def _who(choice: _Choice, *options: str) -> Piece:
    return Piece(choice.one(*options) if options else choice.subject, "", "PRON", "nsubj", _HIGHEST)


def _asking(word: str) -> Piece:
    return Piece(word, "", "ADV", "advmod", _HIGHEST)


def _imperative(c: _Choice) -> list[Piece]:
    return [_stem(c.verb), *c.phrase(_HIGHEST), *c.maybe_place(_HIGHEST), *_particle(c.verb), _end(".")]


def _click(c: _Choice) -> list[Piece]:
    stem, lemma = c.one("Klik klikken", "Druk drukken").split()
    verb = Piece(stem, lemma, "VERB", _HIGHEST, "", _HIGHEST)
    target = c.component(_HIGHEST, "obl:arg") if c.happens(0.5) else c.phrase(_HIGHEST, "obl:arg")
    return [verb, Piece("op", "", "ADP", "case", target[-1].name or "object"), *target, _end(".")]


def _go(c: _Choice) -> list[Piece]:
    first = Piece("Ga", "gaan", "VERB", _HIGHEST, "", _HIGHEST)
    to = Piece("naar", "", "ADP", "case", "component")
    second = Piece(c.verb.stem, c.verb.infinitive, "VERB", "conj", _HIGHEST, "second")
    then = [
        Piece("en", "", "CCONJ", "cc", "second"),
        second,
        *c.phrase("second"),
        *_particle(c.verb, "second"),
    ]
    return [first, to, *c.component(_HIGHEST, "obl"), *then, _end(".")]


def _choose(c: _Choice) -> list[Piece]:
    stem, lemma = c.one("Kies kiezen", "Selecteer selecteren", "Open openen").split()
    chosen = c.component(_HIGHEST, "obj")
    return [Piece(stem, lemma, "VERB", _HIGHEST, "", _HIGHEST), *c.maybe_place(_HIGHEST), *chosen, _end(".")]


def _how_do_i(c: _Choice) -> list[Piece]:
    word = c.one("hoe", "hoe", "waar", "wanneer", "waarom")
    middle = [*c.phrase(_HIGHEST), *c.maybe_place(_HIGHEST), *_particle(c.verb)]
    return [_asking(word), _stem(c.verb), _who(c, "ik", "ik", "je"), *middle, _end("?")]


def _modal(c: _Choice) -> Piece:
    text, lemma = c.modal
    if c.subject == "we":
        text = lemma
    return Piece(text, lemma, "AUX", "aux", _HIGHEST)


def _how_can_i(c: _Choice) -> list[Piece]:
    word = c.one("hoe", "waar", "wanneer", "waarom", "waarmee")
    middle = [*c.phrase(_HIGHEST), *c.maybe_place(_HIGHEST), *c.negation(_HIGHEST)]
    return [_asking(word), _modal(c), _who(c), *middle, _whole(c.verb), _end("?")]


def _can_i(c: _Choice) -> list[Piece]:
    middle = [*c.phrase(_HIGHEST), *c.maybe_place(_HIGHEST), *c.negation(_HIGHEST)]
    return [_modal(c), _who(c), *middle, _whole(c.verb), _end("?")]


def _you_can(c: _Choice) -> list[Piece]:
    you = Piece(c.one("je", "u"), "", "PRON", "nsubj", _HIGHEST)
    modal = Piece(c.one("kunt", "kan"), "kunnen", "AUX", "aux", _HIGHEST)
    return [you, modal, *c.phrase(_HIGHEST), *c.maybe_place(_HIGHEST), _whole(c.verb), _end(".")]


def _what_happens(c: _Choice) -> list[Piece]:
    start = [
        Piece("wat", "", "PRON", "nsubj", _HIGHEST),
        Piece("gebeurt", "gebeuren", "VERB", _HIGHEST, "", _HIGHEST),
        Piece("er", "", "ADV", "advmod", _HIGHEST),
        Piece("als", "", "SCONJ", "mark", "clause"),
        Piece("ik", "", "PRON", "nsubj", "clause"),
    ]
    verb = Piece(c.verb.particle + c.verb.stem, c.verb.lemma, "VERB", "advcl", _HIGHEST, "clause")
    return [*start, *c.phrase("clause"), verb, _end("?")]


def _possible(c: _Choice) -> list[Piece]:
    start = [
        Piece("is", "zijn", "AUX", "cop", _HIGHEST),
        Piece("het", "", "PRON", "expl", _HIGHEST),
        Piece("mogelijk", "", "ADJ", _HIGHEST, "", _HIGHEST),
        Piece("om", "", "ADP", "mark", "clause"),
        *c.phrase("clause"),
    ]
    particle = _particle(c.verb, "clause")
    verb = Piece(c.verb.infinitive, c.verb.infinitive, "VERB", "csubj", _HIGHEST, "clause")
    return [*start, *particle, Piece("te", "", "ADP", "mark", "clause"), verb, _end("?")]


def _passive(c: _Choice) -> list[Piece]:
    subject = c.phrase(_HIGHEST, "nsubj:pass")
    plural = any(piece.dep == "nsubj:pass" and piece.text != piece.lemma for piece in subject)
    lemma = c.one("worden", "zijn")
    text = lemma if plural else {"worden": "wordt", "zijn": "is"}[lemma]
    aux = Piece(text, lemma, "AUX", "aux:pass", _HIGHEST)
    verb = Piece(c.verb.participle, c.verb.lemma, "VERB", _HIGHEST, "", _HIGHEST)
    if c.happens(0.5):
        return [aux, *subject, *c.negation(_HIGHEST), verb, _end("?")]
    return [*subject, aux, *c.maybe_place(_HIGHEST), *c.negation(_HIGHEST), verb, _end(".")]


def _i_want(c: _Choice) -> list[Piece]:
    want = Piece("wil", "willen", "VERB", _HIGHEST, "", _HIGHEST)
    whole = _whole(c.verb, "xcomp", _HIGHEST, "lower")
    return [Piece("ik", "", "PRON", "nsubj", _HIGHEST), want, *c.phrase("lower"), whole, _end(".")]


def _others_can(c: _Choice) -> list[Piece]:
    text, lemma = c.modal
    who = [Piece("een", "", "DET", "det", "who"), Piece("medewerker", "", "NOUN", "nsubj", _HIGHEST, "who")]
    if c.happens(0.5):
        who = [Piece(c.one("iemand", "iedereen"), "", "PRON", "nsubj", _HIGHEST)]
    modal = Piece(text, lemma, "AUX", "aux", _HIGHEST)
    return [modal, *who, *c.phrase(_HIGHEST), *c.maybe_place(_HIGHEST), _whole(c.verb), _end("?")]


def _who_can(c: _Choice) -> list[Piece]:
    who = Piece("wie", "", "PRON", "nsubj", _HIGHEST)
    text, lemma = c.modal
    modal = Piece(text, lemma, "AUX", "aux", _HIGHEST)
    return [who, modal, *c.phrase(_HIGHEST), *c.negation(_HIGHEST), _whole(c.verb), _end("?")]


_TEMPLATES: tuple[Callable[[_Choice], list[Piece]], ...] = (
    _imperative,
    _imperative,
    _imperative,
    _click,
    _go,
    _choose,
    _how_do_i,
    _how_do_i,
    _how_can_i,
    _can_i,
    _you_can,
    _what_happens,
    _possible,
    _passive,
    _i_want,
    _who_can,
    _others_can,
)


def _sentence(pieces: list[Piece]) -> Sentence:
    places = {piece.name: index for index, piece in enumerate(pieces) if piece.name}
    words = [
        UdWord(
            piece.text.capitalize() if index == 0 else piece.text,
            piece.lemma or piece.text,
            piece.pos,
            places[piece.head] if piece.head else ROOT,
            piece.dep,
        )
        for index, piece in enumerate(pieces)
    ]
    return Sentence(" ".join(word.text for word in words[:-1]) + words[-1].text, tuple(words))
