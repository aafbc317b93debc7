"""The preparation of a case: its texts cleaned and masked together, its documents no longer than allowed."""

from __future__ import annotations

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
    # The title is part of the text now.
    pairs = zip(reference, others, strict=False)
    passages = tuple(replace(passage, text=text.text, title=None) for passage, text in pairs)
    kept = passages
    if has_documents := isinstance(case.reference, Documents):
        kept = shortened(passages, f"{question.text}\n{answer.text}", options.longest)
        parts = tuple(Part(f"document {number}", each.text) for number, each in enumerate(kept, start=1))
    else:
        parts = (Part("expected answer", passages[0].text),)
    examples = "\n".join(each.text for each in others[len(reference) :])
    brief = Brief(
        question=question.text,
        answer=answer.text,
        kind="documents" if has_documents else "expected",
        reference=parts,
        passages=passages,
        options=options,
        examples=(Part("examples", examples),) if examples else (),
        shortened=kept != passages,
    )
    return Prepared(brief, answer)


def _reference(case: Case) -> tuple[Passage, ...]:
    if isinstance(case.reference, Documents):
        return case.reference.passages
    return (Passage("", case.reference.text),)
