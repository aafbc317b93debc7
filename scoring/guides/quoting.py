"""Answers that quote a section of a document, line for line, and say nothing else.

Such an answer may be sent without anybody seeing it, so nothing here is tolerant: one more
sentence, another sign, another order of the lines or a line left out, and it is no quotation.
"""

from __future__ import annotations

from dataclasses import dataclass

from scoring.guides.asked import is_asked_for
from scoring.guides.lines import line_number, plain_lines
from scoring.guides.sections import Section, sections
from scoring.lexicon import Lexicon
from scoring.text.material import ContextText, Material
from scoring.text.prepared import PreparedText

_FEWEST_STEPS = 2


@dataclass(frozen=True, slots=True)
class Quotation:
    """What an answer quotes: where that begins in the answer, the document, and whether it is a guide."""

    start: int
    document: ContextText
    is_guide: bool


def quotation(material: Material) -> Quotation | None:
    """Return the quotation that the whole answer is, or None.

    The lines of the answer, after one introductory line of the lexicon's ``lead_ins`` at most, are all lines
    of one section of a document (after one such line at most), no more and no fewer: what stands beside a
    sentence or below a guide can take it back. Spaces and bold marks may differ, and nothing else. No deeper
    section goes on with it, and no heading but the document's title stands above its own: it may be that of
    another case.

    And it is what was asked for (:func:`scoring.guides.asked.is_asked_for`).
    """
    return material.derived(_quotation)


def _quotation(material: Material) -> Quotation | None:
    answer = material.whole_answer or material.answer
    lines = answer.derived(plain_lines)
    said = _without_lead_in([line for _, line in lines], answer.lexicon)
    if not said:
        return None
    for document in material.context:
        for section in document.text.derived(sections):
            if _is_all(said, document.text, section) and _may_be_sent(material, document, section):
                return Quotation(lines[-len(said)][0], document, _is_guide(said))
    return None


def _without_lead_in(lines: list[str], lexicon: Lexicon) -> list[str]:
    return lines[1:] if lines and lines[0].casefold() in lexicon.lead_ins else lines


def _is_all(said: list[str], document: PreparedText, section: Section) -> bool:
    """Say whether these lines are all of a section."""
    lines = document.derived(plain_lines)[section.first : section.after]
    return said == _without_lead_in([line for _, line in lines], document.lexicon)


def _may_be_sent(material: Material, document: ContextText, section: Section) -> bool:
    if section.is_nested or section.is_divided or (document.offset and not section.heading):
        return False
    return is_asked_for(material, document, section)


def _is_guide(lines: list[str]) -> bool:
    steps = [number for number in map(line_number, lines) if number is not None]
    return line_number(lines[0]) == 1 and len(steps) >= _FEWEST_STEPS
