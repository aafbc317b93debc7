"""The preparation of a case: its texts cleaned and masked together, its documents no longer than allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scoring.judges.brief import Brief
from scoring.judges.case import Case, Documents
from scoring.judges.examples import shown
from scoring.judges.options import JudgeOptions
from scoring.judges.texts.cleaning import cleaned
from scoring.judges.texts.edited import Edited
from scoring.judges.texts.fencing import Part
from scoring.judges.texts.masking import masked
from scoring.judges.texts.shortening import shortened
from scoring.values.opinion import Unsure
from scoring.values.types import Passage


@dataclass(frozen=True, slots=True)
class Prepared:
    """The brief, and the answer with the way back from what the model sees to what the chatbot wrote."""

    brief: Brief
    answer: Edited


def prepare(case: Case, options: JudgeOptions) -> Prepared | Unsure:
    """Return the case ready to be shown, or why it cannot be judged."""
    reference = _reference(case)
    if not any(passage.read.strip() for passage in reference):
        return Unsure.NO_REFERENCE
    texts = [case.question, case.answer, *(passage.read for passage in reference)]
    ready = [cleaned(text) for text in (*texts, *map(shown, options.examples))]
    question, answer, *others = masked(ready) if options.mask else ready
    if len(question.text) + len(answer.text) > options.longest:
        return Unsure.TOO_LONG
    passages = _with_texts(reference, others)
    examples = "\n".join(each.text for each in others[len(reference) :])
    brief = Brief(
        question=question.text,
        answer=answer.text,
        kind="documents" if isinstance(case.reference, Documents) else "expected",
        reference=(),
        passages=passages,
        options=options,
        examples=(Part("examples", examples),) if examples else (),
    )
    return Prepared(_with_reference(brief), answer)


def _reference(case: Case) -> tuple[Passage, ...]:
    if isinstance(case.reference, Documents):
        return case.reference.passages
    return (Passage("", case.reference.text),)


def _with_texts(passages: Sequence[Passage], texts: Sequence[Edited]) -> tuple[Passage, ...]:
    """Return the passages with what may be read of them; the title is part of the text now."""
    pairs = zip(passages, texts, strict=False)
    return tuple(replace(passage, text=text.text, title=None) for passage, text in pairs)


def _with_reference(brief: Brief) -> Brief:
    if brief.kind == "expected":
        return replace(brief, reference=(Part("expected answer", brief.passages[0].text),))
    kept = shortened(brief.passages, f"{brief.question}\n{brief.answer}", brief.options.longest)
    parts = tuple(Part(f"document {number}", each.text) for number, each in enumerate(kept, start=1))
    return replace(brief, reference=parts, shortened=kept != brief.passages)
