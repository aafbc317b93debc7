"""The last blocked answers: each once, with their evidence; without texts no text is kept."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.records import VerdictEvidence
from scoring.assessing.known_rules import KINDS
from scoring.values.opinion import Mistake
from streams.pages.blocked import LastBlocked, excerpt, pieces
from streams.pages.views import EvidenceCount, OpinionTold
from tests.support.pages import blocked_verdict, opinion

FAULT, SEEN = "undefined_component", "defined_component"
ANSWER = "Klik op Verzenden 🎉 en dan op Opslaan."


def test_evidence_is_marked_where_it_lies_also_after_characters_of_two_units() -> None:
    shown = excerpt(blocked_verdict(ANSWER, (FAULT, "Opslaan"), (SEEN, "Verzenden")))
    assert [(piece.text, piece.kinds, piece.at_fault) for piece in shown.answer] == [
        ("Klik op ", (), False),
        ("Verzenden", (SEEN,), False),
        (" 🎉 en dan op ", (), False),
        ("Opslaan", (FAULT,), True),
        (".", (), False),
    ]
    assert (shown.cut_before, shown.cut_after) == (False, False)


def test_a_long_answer_is_cut_around_the_first_span_at_fault() -> None:
    answer = "x" * 50_000 + "Opslaan" + "y" * 50_000
    shown = excerpt(blocked_verdict(answer, (FAULT, "Opslaan")))
    text = "".join(piece.text for piece in shown.answer)
    assert len(text) == 1_500
    assert [piece.text for piece in shown.answer if piece.at_fault] == ["Opslaan"]
    assert shown.cut_before
    assert shown.cut_after


@given(st.text(max_size=30), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=8))
def test_pieces_put_together_are_the_text_whatever_the_spans(text: str, spans: list[tuple[int, int]]) -> None:
    evidence = [VerdictEvidence(SEEN, "", start, end) for start, end in spans]
    divided = list(pieces(text, evidence, 0, len(text)))
    assert "".join(piece.text for piece in divided) == text
    marked = "".join(piece.text for piece in divided if piece.kinds)
    assert len(marked) == len({n for start, end in spans for n in range(start, end) if n < len(text)})


def test_the_newest_are_kept_each_once_and_the_number_grows_when_they_change() -> None:
    last = LastBlocked(texts=True, shown=3)
    for number in (2, 5, 1, 4, 3):
        last.add(blocked_verdict(ANSWER, number=number))
    assert [answer.answer_id for answer in last.document().answers] == ["a-5", "a-4", "a-3"]
    seen = last.number
    last.add(blocked_verdict(ANSWER, number=4))
    last.add(blocked_verdict(ANSWER, number=1))
    assert last.number == seen
    last.add(replace(blocked_verdict(ANSWER, number=4), score=2.0))
    assert last.number == seen + 1
    assert len(last.document().answers) == 3


def test_reasons_are_explained_and_evidence_is_counted_with_what_is_at_fault_first() -> None:
    last = LastBlocked(texts=False)
    verdict = blocked_verdict(ANSWER, (SEEN, "Klik"), (SEEN, "Verzenden"), (FAULT, "Opslaan"))
    last.add(replace(verdict, reasons=("undefined_component", "of_tomorrow")))
    (answer,) = last.document().answers
    assert [(reason.code, bool(reason.meaning)) for reason in answer.reasons] == [
        ("undefined_component", True),
        ("of_tomorrow", False),
    ]
    assert answer.evidence == (EvidenceCount(FAULT, 1, True), EvidenceCount(SEEN, 2, False))
    assert answer.documents == ("d-1", "d-2")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_evidence_and_every_reason_there_is_are_told(kind: str) -> None:
    rule, last = KINDS[kind], LastBlocked(texts=True)
    last.add(replace(blocked_verdict(ANSWER, (kind, "Opslaan")), reasons=(str(rule),)))
    (answer,) = last.document().answers
    at_fault = rule is not None and rule.marks_fault
    assert answer.evidence == (EvidenceCount(kind, 1, at_fault),)
    assert answer.excerpt is not None
    assert [piece.at_fault for piece in answer.excerpt.answer if piece.kinds] == [at_fault]
    assert [reason.meaning for reason in answer.reasons] == [rule.description if rule else ""]


def test_words_that_a_language_model_calls_wrong_are_marked_and_its_opinion_is_told() -> None:
    verdict = blocked_verdict(ANSWER, (SEEN, "Verzenden"))
    said = opinion(ANSWER, ("order", "en dan op Opslaan"))
    last = LastBlocked(texts=True)
    last.add(replace(verdict, opinions=(opinion(ANSWER, label=None), said)))
    (answer,) = last.document().answers
    assert answer.excerpt is not None
    marked = [(piece.text, piece.kinds) for piece in answer.excerpt.answer if piece.at_fault]
    assert marked == [("en dan op Opslaan", ("order",))]
    assert answer.evidence == (EvidenceCount("order", 1, True), EvidenceCount(SEEN, 1, False))
    assert answer.opinions == (
        OpinionTold("single", ("gpt_small",), None, 0.0, "cut_off", (), False),
        OpinionTold("single", ("gpt_small",), "FALSE", 0.93, None, ("order",), False),
    )


def test_a_kind_of_mistake_is_no_kind_of_evidence_of_the_scorer() -> None:
    """One kind with two meanings could be marked as a fault where it is none."""
    assert set(KINDS).isdisjoint(Mistake)


def test_without_texts_nothing_of_question_or_answer_is_kept() -> None:
    last = LastBlocked(texts=False)
    verdict = blocked_verdict("Geheim antwoord", (FAULT, "Geheim"), question="Geheime vraag")
    last.add(replace(verdict, opinions=(opinion("Geheim antwoord", ("number", "Geheim antwoord")),)))
    assert "eheim" not in repr(last.document())
    assert "eheim" not in repr(vars(last))
