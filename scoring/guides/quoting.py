"""Answers that quote a guide of a document, line for line, and say nothing else.

Such an answer may be sent without anybody seeing it, so nothing here is tolerant: one more
sentence, another sign or another order of the lines, and it is no quotation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from scoring.guides.lines import belongs_to_step, is_heading, line_number, plain_lines
from scoring.guides.restricting import denies, is_restricted
from scoring.lexicon import Lexicon
from scoring.text.material import ContextText, Material
from scoring.text.prepared import PreparedText, Word
from scoring.text.stems import content_stems

_FEWEST_STEPS = 2


@dataclass(frozen=True, slots=True)
class Quotation:
    """The guide that an answer quotes: where it begins in the answer, and the document it is from."""

    start: int
    document: ContextText


def quotation(material: Material) -> Quotation | None:
    """Return the quotation that the whole answer is, or None.

    The lines of the answer, after one introductory line of the lexicon's ``lead_ins`` at most, are
    lines of one document, one after the other, from step 1 to the last: nothing that belongs to the
    guide follows. In the document the guide stands right under a heading or a lead-in, and nothing
    before or after it in its section may restrict it or take it back
    (:func:`scoring.guides.restricting.is_restricted`). Spaces and bold marks may differ, and nothing else.

    And it answers the question: every content word of the question stands in the heading over the guide
    or in the document's title, the heading says "not" or its like if the question does, and no other guide
    of the context fits as well.
    """
    answer = material.answer
    lines = plain_lines(answer)
    if lines and lines[0][1].casefold() in answer.lexicon.lead_ins:
        lines = lines[1:]
    quoted = [text for _, text in lines]
    if len(quoted) < _FEWEST_STEPS:
        return None
    for document in material.context:
        place = _place(quoted, document.text)
        if place is None or is_restricted(document.text, place, place + len(quoted), material.question):
            continue
        if guide_answers(material, document, place):
            return Quotation(lines[0][0], document)
    return None


def _place(quoted: list[str], document: PreparedText) -> int | None:
    """Return the index of the document's line where a whole guide is quoted, or None."""
    lines = document.derived(plain_lines)
    texts = [text for _, text in lines]
    if line_number(quoted[0]) != 1 or sum(line_number(line) is not None for line in quoted) < _FEWEST_STEPS:
        return None
    for place, text in enumerate(texts):
        end = place + len(quoted)
        if text == quoted[0] and texts[place:end] == quoted and _is_whole(document, place, end):
            return place
    return None


def _is_whole(document: PreparedText, place: int, end: int) -> bool:
    """Say whether a guide is those lines of a document, with nothing before or after that belongs to it."""
    lines = document.derived(plain_lines)
    introduced = place == 0 or _opens_a_guide(lines[place - 1][1], document.lexicon)
    below = list(takewhile(lambda line: not is_heading(line[1]), lines[end:]))
    if any(line_number(text) is not None for _, text in below):
        return False
    return introduced and not (below and belongs_to_step(document.original, below[0][0]))


def _opens_a_guide(line: str, lexicon: Lexicon) -> bool:
    return is_heading(line) or line.casefold() in lexicon.lead_ins


@dataclass(frozen=True, slots=True)
class Line:
    """A title, a heading or another part of a text: its text and the words in it."""

    text: str
    stems: frozenset[str]
    lemmas: frozenset[str]

    def has(self, word: Word, asked: PreparedText) -> bool:
        """Say whether a word of the question is in the line, in whatever form."""
        lemmas = (asked.parse.lemma[index] for index in asked.parse.indices(word.start, word.end))
        return asked.lexicon.stem(word.text) in self.stems or not self.lemmas.isdisjoint(lemmas)


@dataclass(frozen=True, slots=True)
class Name:
    """What a guide is called: the title of its document, and the heading over it."""

    title: Line
    heading: Line

    def covers(self, words: Sequence[Word], asked: PreparedText) -> bool:
        """Say whether all these words of the question are in the name."""
        return all(self.has(word, asked) for word in words)

    def has(self, word: Word, asked: PreparedText) -> bool:
        """Say whether a word of the question is in the name."""
        return self.title.has(word, asked) or self.heading.has(word, asked)

    def fit(self, words: Sequence[Word], asked: PreparedText) -> int:
        """Return how many of these words are in the heading, which tells guides of a document apart."""
        return sum(self.heading.has(word, asked) for word in words)


def guide_answers(material: Material, document: ContextText, place: int) -> bool:
    """Say whether the guide that stands in a document's line of :func:`plain_lines` answers the question.

    Every content word of the question is in the heading over it or in the document's title, the heading
    denies something if the question does, and no other guide of the context fits as well.
    """
    asked, name = material.question, name_over(document.text, place)
    words = [word for word in asked.words if word.text not in asked.lexicon.function_words]
    if not words or not name.covers(words, asked):
        return False
    if denies(asked.compared, asked.lexicon) != denies(name.heading.text, asked.lexicon):
        return False
    rivals = (rival for text in material.context for rival in text.text.derived(_names))
    return not any(
        rival.heading.text != name.heading.text
        and rival.covers(words, asked)
        and rival.fit(words, asked) >= name.fit(words, asked)
        for rival in rivals
    )


def _names(document: PreparedText) -> tuple[Name, ...]:
    """Return the names of all guides of a document."""
    lines = document.derived(plain_lines)
    return tuple(
        name_over(document, place) for place, (_, line) in enumerate(lines) if line_number(line) == 1
    )


def name_over(document: PreparedText, place: int) -> Name:
    """Return the name of the guide that begins in a line; the document's first line is its title."""
    above = document.derived(plain_lines)[:place]
    headings = [start for start, line in above if is_heading(line)]
    title = _line(document, above[0][0] if above else 0)
    return Name(title, _line(document, headings[-1]) if headings else title)


def _line(document: PreparedText, start: int) -> Line:
    return line_of(document.part(start, _line_end(document, start)))


def line_of(text: PreparedText) -> Line:
    """Return the words of a part of a text, in whatever form a question may have them."""
    return Line(text.compared, content_stems(text), frozenset(text.parse.lemma))


def _line_end(document: PreparedText, start: int) -> int:
    end = document.original.find("\n", start)
    return len(document.original) if end < 0 else end
