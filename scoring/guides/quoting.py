"""Answers that quote a guide of a document, line for line, and say nothing else.

Such an answer may be sent without anybody seeing it, so nothing here is tolerant: one more
sentence, another sign or another order of the lines, and it is no quotation.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from scoring.lexicon import Lexicon
from scoring.text.material import ContextText, Material
from scoring.text.prepared import PreparedText, Word, words_of
from scoring.text.stems import content_stems

_STEP = re.compile(r"([0-9]{1,2})\. ")
_ANY_STEP = re.compile(r"(?:(?P<word>[^\W\d_]{2,12}) (?P<number>[0-9]{1,2}):|(?P<plain>[0-9]{1,2})[.)]) ")
_HEADING = re.compile(r"#{1,6} ")
# Bold that begins and ends between words, so that the stars of "src/**/file" and "2**10" stay.
_BOLD = re.compile(r"(?<![\w*])\*\*(?=[^\s*])([^*\n]{1,200})(?<=\S)\*\*(?![\w*])")
# What stands indented, in a list, a table or a quotation below a step belongs to it; so does a picture.
_BELONGS_TO_STEP = re.compile(r"[ \t]|[-+*•>|!]|<img")
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
    guide follows. In the document the guide stands right under a heading or a lead-in, so that no
    sentence before it can take it back. Spaces and bold marks may differ, and nothing else.

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
        if place is not None and guide_answers(material, document, place):
            return Quotation(lines[0][0], document)
    return None


def plain_lines(text: PreparedText) -> tuple[tuple[int, str], ...]:
    """Return the lines of the whole original that are not blank: where each begins, and its plain text.

    Steps are numbered alike: "2) ..." and "Step 2: ..." become "2. ...".
    """
    return plain_lines_of(text.original, text.lexicon)


def plain_lines_of(original: str, lexicon: Lexicon) -> tuple[tuple[int, str], ...]:
    """Return the same of a text that is not prepared."""
    lines, start = [], 0
    for line in original.split("\n"):
        if plain := _numbered_alike(_plain(line), lexicon):
            lines.append((start, plain))
        start += len(line) + 1
    return tuple(lines)


def _plain(line: str) -> str:
    # In code every star says something.
    text = line if "`" in line else _BOLD.sub(r"\1", line)
    return " ".join(unicodedata.normalize("NFC", text).split())


def _numbered_alike(line: str, lexicon: Lexicon) -> str:
    match = _ANY_STEP.match(line)
    if match is None or (match["word"] and match["word"].casefold() not in lexicon.step_words):
        return line
    return f"{int(match['number'] or match['plain'])}. {line[match.end() :]}"


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


def is_heading(line: str) -> bool:
    """Say whether a plain line is a heading."""
    return _HEADING.match(line) is not None


def belongs_to_step(original: str, start: int) -> bool:
    """Say whether a line of a text belongs to what stands above it: a list, a table, a picture."""
    return _BELONGS_TO_STEP.match(original, start) is not None


def _opens_a_guide(line: str, lexicon: Lexicon) -> bool:
    return is_heading(line) or line.casefold() in lexicon.lead_ins


def line_number(line: str) -> int | None:
    """Return the number of a step's plain line, or None where it is no step."""
    match = _STEP.match(line)
    return int(match[1]) if match else None


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


def denies(text: str, lexicon: Lexicon) -> bool:
    """Say whether a text says "not" or its like."""
    return any(word.text in lexicon.negations or word.text.endswith("n't") for word in words_of(text))
