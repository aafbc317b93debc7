"""Answers that repeat a section of a document word for word, or nearly so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scoring.guides.lines import belongs_to_step, is_heading, line_number, plain_lines, plain_lines_of
from scoring.guides.quoting import Name, guide_answers, line_of, name_over
from scoring.guides.restricting import denies, is_restricted
from scoring.text.courtesies import mere_courtesies, without
from scoring.text.material import ContextText, Material
from scoring.text.prepared import PreparedText, Word

# Words and numbers, and every sign beside them: a minus, a percent or a struck-out word says something.
_TOKEN = re.compile(r"[^\W_]+(?:['’.,:][^\W_]+)*|[^\w\s]|_")
_STOP = "."


@dataclass(frozen=True, slots=True)
class _Section:
    """The lines of a document from ``first`` up to ``after``, by their places in ``plain_lines``."""

    document: ContextText
    first: int
    after: int


def repeats(material: Material) -> bool:
    """Say whether the answer is the beginning of a section of the documents, and answers what was asked.

    Mere courtesies apart, and one introductory line of the lexicon's ``lead_ins``, its words and signs are
    those of whole paragraphs, from right under a heading (or from the document's beginning) on: what stands
    before or behind a sentence can take it back, so nothing between is left out, no list is cut, and neither
    what follows in the section nor the headings over it may restrict it
    (:func:`scoring.guides.restricting.is_restricted`). Only fillers of the lexicon ("the", "just"), bold,
    stops and line ends may differ.

    And it answers: every content word of the question is in these paragraphs, the heading or the document's
    title, the heading denies something only if the question does, and no other section of the context
    that has all these words has as many of them in its heading. Where it has steps, the guide with them is
    the one asked for (:func:`scoring.guides.quoting.guide_answers`).
    """
    said = _said(material)
    return bool(said) and any(
        _answers(material, section, after)
        and not is_restricted(section.document.text, section.first, after, material.question)
        for section in _sections(material)
        if (after := _repeated(section, said)) is not None
    )


def _said(material: Material) -> list[str]:
    answer = material.whole_answer or material.answer
    polite = mere_courtesies(answer, material.question.word_texts)
    lines = [line for _, line in plain_lines_of(without(answer.original, polite), answer.lexicon)]
    if lines and lines[0].casefold() in answer.lexicon.lead_ins:
        lines = lines[1:]
    return [token for line in lines for token in _tokens(line, answer)]


def _tokens(line: str, text: PreparedText) -> list[str]:
    tokens = (token.casefold().replace("’", "'") for token in _TOKEN.findall(line))
    return [token for token in tokens if token != _STOP and token not in text.lexicon.fillers]


def _line_tokens(text: PreparedText) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(_tokens(line, text)) for _, line in text.derived(plain_lines))


def _sections(material: Material) -> Iterator[_Section]:
    for document in material.context:
        lines = document.text.derived(plain_lines)
        begins = [place for place, (start, _) in enumerate(lines) if _begins(document, place, start)]
        for first in begins:
            ends = (place for place in range(first, len(lines)) if is_heading(lines[place][1]))
            yield _Section(document, first, next(ends, len(lines)))


def _begins(document: ContextText, place: int, start: int) -> bool:
    lines = document.text.derived(plain_lines)
    if is_heading(lines[place][1]):
        return False
    if place and is_heading(lines[place - 1][1]):
        return True
    before = lines[place - 1][0] if place else -1
    return document.offset == 0 and before < (document.body or 0) <= start


def _repeated(section: _Section, said: Sequence[str]) -> int | None:
    """Return after which line the paragraphs end that say the same, or None where none do."""
    lines, count = section.document.text.derived(_line_tokens), 0
    for place in range(section.first, section.after):
        tokens = lines[place]
        if tuple(said[count : count + len(tokens)]) != tokens:
            return None
        count += len(tokens)
        if count == len(said):
            return place + 1 if _is_whole(section, place + 1) else None
    return None


def _is_whole(section: _Section, after: int) -> bool:
    """Say whether a paragraph ends before a line, with nothing below it that belongs to it."""
    if after == section.after:
        return True
    original = section.document.text.original
    lines = section.document.text.derived(plain_lines)
    start, line = lines[after]
    parted = re.search(r"\n[ \t]*\n", original[lines[after - 1][0] : start])
    if not parted or lines[after - 1][1].endswith(":"):
        return False
    return line_number(line) is None and not belongs_to_step(original, start)


def _answers(material: Material, section: _Section, after: int) -> bool:
    asked, own = material.question, name_over(section.document.text, section.first)
    words = [word for word in asked.words if word.text not in asked.lexicon.function_words]
    if not words or not _has_all(section, after, own, words, asked):
        return False
    questioned, headed = denies(asked.compared, asked.lexicon), denies(own.heading.text, asked.lexicon)
    if headed and not questioned:
        return False
    if questioned and not headed and not denies(_text(section, after).compared, asked.lexicon):
        return False
    lines = section.document.text.derived(plain_lines)
    steps = [place for place in range(section.first, after) if line_number(lines[place][1]) is not None]
    if steps and not guide_answers(material, section.document, steps[0]):
        return False
    fit = own.fit(words, asked)
    return not any(
        name.heading.text != own.heading.text
        and name.fit(words, asked) >= fit
        and _has_all(rival, rival.after, name, words, asked)
        for rival in _sections(material)
        for name in (name_over(rival.document.text, rival.first),)
    )


def _has_all(section: _Section, after: int, name: Name, words: Sequence[Word], asked: PreparedText) -> bool:
    body = line_of(_text(section, after))
    return all(name.has(word, asked) or body.has(word, asked) for word in words)


def _text(section: _Section, after: int) -> PreparedText:
    text = section.document.text
    lines = text.derived(plain_lines)
    end = lines[after][0] if after < len(lines) else len(text.original)
    return text.part(lines[section.first][0], end)
