"""Whether a section of a document is the one that a question asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scoring.guides.lines import plain_lines
from scoring.guides.restricting import denies, restricts
from scoring.guides.sections import Section, sections, title_lines
from scoring.text.material import ContextText, Material
from scoring.text.prepared import PreparedText, Word
from scoring.text.stems import content_stems

# What a heading may have besides what was asked: "the", "your".
_SAY_NO_MORE = frozenset({"DET", "PRON"})
# Verbs stand elsewhere in a question than in a heading: "hoe wijzig ik een rooster", "rooster wijzigen".
_ANYWHERE = frozenset({"VERB", "AUX"})
_JOINING = frozenset({"CCONJ"})
# "Rates for individuals & companies"
_JOINING_SIGNS = frozenset(",;&/|")


@dataclass(frozen=True, slots=True)
class _Line:
    """A title, a heading or a question: its text, and its words in whatever form."""

    text: PreparedText
    stems: frozenset[str]
    lemmas: frozenset[str]

    def has(self, word: Word, of: PreparedText) -> bool:
        """Say whether a word of another text is in the line."""
        lemmas = (of.parse.lemma[index] for index in of.parse.indices(word.start, word.end))
        return of.lexicon.stem(word.text) in self.stems or not self.lemmas.isdisjoint(lemmas)


@dataclass(frozen=True, slots=True)
class _Name:
    """What a section is called: its place, the heading over it, and the title of its document."""

    section: Section
    heading: _Line
    title: _Line

    def fit(self, words: Sequence[Word], asked: PreparedText) -> int:
        """Return how many of the question's words are in the heading."""
        return sum(self.heading.has(word, asked) for word in words)

    def has(self, word: Word, asked: PreparedText) -> bool:
        """Say whether a word of the question is in the heading or the title."""
        return self.heading.has(word, asked) or self.title.has(word, asked)


def is_asked_for(material: Material, document: ContextText, section: Section) -> bool:
    """Say whether a section is what the question asks for, and no other one of the context may be.

    1. Every content word of the question is in the heading over it; or in the document's title, unless that
       joins several things ("on iPhone and Android"), of which the section may be about another.
    2. Every word of the heading is in the question, articles apart: "turn off" answers no question how to
       turn on, and "delete a draft" none how to delete.
    3. They stand in the order of the question, but for verbs: "Word to PDF".
    4. It says "not" or its like exactly if the question does, and the title restricts nothing
       (:func:`scoring.guides.restricting.restricts`) but what the question names.
    5. No other section of the context is called so as well: has all of the question's words, and as many in
       its heading.
    """
    asked = material.question
    words = [word for word in asked.words if word.text not in asked.lexicon.function_words]
    own = next(name for name in document.text.derived(_names) if name.section == section)
    outside = [word for word in words if not own.heading.has(word, asked)]
    if not words or any(not own.title.has(word, asked) for word in outside):
        return False
    if outside and _joins(own.title.text):
        return False
    if restricts(own.title.text.compared, asked) or not _is_covered(own.heading.text, asked):
        return False
    if denies(asked.compared, asked.lexicon) != denies(own.heading.text.compared, asked.lexicon):
        return False
    fit = own.fit(words, asked)
    return not any(
        rival.fit(words, asked) >= fit and all(rival.has(word, asked) for word in words)
        for rival in _rivals(material, document, section)
    )


def _rivals(material: Material, document: ContextText, section: Section) -> Iterator[_Name]:
    """Yield the names of the other sections, but for the title that a section itself stands below."""
    title = title_lines(document.text)
    for other in material.context:
        for name in other.text.derived(_names):
            is_own = other is document and (name.section == section or name.section.heading < title)
            if not is_own:
                yield name


def _is_covered(heading: PreparedText, asked: PreparedText) -> bool:
    """Say whether a question has all words of a heading, and all but verbs in their order."""
    question, last = _line(asked), -1
    for word in heading.words:
        indices = heading.parse.indices(word.start, word.end)
        kinds = {heading.parse.pos[index] for index in indices}
        places = list(_places(word, heading, asked))
        if not places and not question.has(word, heading) and not kinds <= _SAY_NO_MORE:
            return False
        if places and not kinds & (_ANYWHERE | _SAY_NO_MORE):
            if max(places) < last:
                return False
            last = min(place for place in places if place >= last)
    return True


def _places(word: Word, heading: PreparedText, asked: PreparedText) -> Iterator[int]:
    stem = heading.lexicon.stem(word.text)
    for place, other in enumerate(asked.words):
        if other.text == word.text or asked.lexicon.stem(other.text) == stem:
            yield place


def _joins(title: PreparedText) -> bool:
    """Say whether a title joins several things."""
    return not _JOINING_SIGNS.isdisjoint(title.compared) or not _JOINING.isdisjoint(title.parse.pos)


def _names(document: PreparedText) -> tuple[_Name, ...]:
    """Return the names of all sections of a document."""
    found = document.derived(sections)
    if not found:
        return ()
    title = _lines_at(document, 0, title_lines(document))
    return tuple(_Name(each, _lines_at(document, each.heading, each.first), title) for each in found)


def _lines_at(document: PreparedText, first: int, after: int) -> _Line:
    lines = document.derived(plain_lines)
    return _line(
        document.part(lines[first][0], lines[after][0] if after < len(lines) else len(document.original))
    )


def _line(text: PreparedText) -> _Line:
    return _Line(text, content_stems(text), frozenset(text.parse.lemma))
