"""The last answers: each once within bounds, with their evidence; without texts no text is kept."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from schemas.records import VerdictClaim, VerdictEvidence, VerdictPassage, VerdictSpan
from scoring.policy import Policy
from scoring.scorer.profile import RULES_BY_KIND
from scoring.values.checked_claims import ClaimStatus
from scoring.values.exchange import MessageType
from scoring.values.opinion import Mistake
from streams.explaining.verdict_explainer import VerdictFilter
from streams.web.excerpt import make_excerpt, markdown_style, segments, summarize_answer
from streams.web.live_data import RecentAnswers
from streams.web.page_data import (
    ClaimCount,
    EvidenceCount,
    FilterChoices,
    VerdictDetails,
)
from tests.support.pages import arrived, blocked_verdict, opinion, with_claims

FAULT, SEEN = "undefined_component", "defined_component"
ANSWER = "Klik op Verzenden 🎉 en dan op Opslaan."


def test_evidence_is_marked_where_it_lies_also_after_characters_of_two_units():
    shown = make_excerpt(blocked_verdict(ANSWER, (FAULT, "Opslaan"), (SEEN, "Verzenden")))
    assert [(piece.text, piece.kinds, piece.at_fault) for piece in shown.answer] == [
        ("Klik op ", (), False),
        ("Verzenden", (SEEN,), False),
        (" 🎉 en dan op ", (), False),
        ("Opslaan", (FAULT,), True),
        (".", (), False),
    ]
    assert (shown.cut_before, shown.cut_after) == (False, False)


def test_marks_of_markdown_are_not_shown_and_evidence_lies_where_it_lay():
    answer = "## Invoice\n\nClick **Save** and `F2`, not *[New](x)*."
    shown = make_excerpt(blocked_verdict(answer, (FAULT, "Save"), (SEEN, "Click **Save**")))
    assert [(piece.text, piece.strong, piece.at_fault) for piece in shown.answer] == [
        ("Invoice", True, False),
        ("\n\n", False, False),
        ("Click ", False, False),
        ("Save", True, True),
        (" and ", False, False),
        ("F2", True, False),
        (", not ", False, False),
        ("[New](x)", True, False),
        (".", False, False),
    ]


@pytest.mark.parametrize(
    "answer", ["2 * 3 * 4", "a_b_c **open", "* item\n* item", "snake_case_name", "# ", "**", "\0 **a", ""]
)
def test_what_only_looks_like_markdown_is_shown_as_it_is(answer):
    assert "".join(piece.text for piece in make_excerpt(blocked_verdict(answer)).answer) == answer


@given(st.text("*_`# a\n\r\0b\\[]", max_size=40))
def test_of_any_text_nothing_but_marks_is_left_out(text):
    divided = segments(text, [], 0, len(text), style=markdown_style(text, 0, len(text)))
    shown = "".join(piece.text for piece in divided)
    kept = str.maketrans("", "", "*_`# \n\r")
    assert shown.translate(kept) == text.translate(kept)
    if not set(text) & set("*_`#"):
        assert shown == text


def test_a_long_answer_is_cut_around_the_first_span_at_fault():
    answer = "x" * 50_000 + "Opslaan" + "y" * 50_000
    shown = make_excerpt(blocked_verdict(answer, (FAULT, "Opslaan")))
    text = "".join(piece.text for piece in shown.answer)
    assert len(text) == 1_500
    assert [piece.text for piece in shown.answer if piece.at_fault] == ["Opslaan"]
    assert shown.cut_before
    assert shown.cut_after


@given(st.text(max_size=30), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=8))
def test_pieces_put_together_are_the_text_whatever_the_spans(text, spans):
    evidence = [VerdictEvidence(SEEN, "", start, end) for start, end in spans]
    divided = list(segments(text, evidence, 0, len(text)))
    assert "".join(piece.text for piece in divided) == text
    marked = "".join(piece.text for piece in divided if piece.kinds)
    assert len(marked) == len({n for start, end in spans for n in range(start, end) if n < len(text)})


ALL = VerdictFilter()


def kept(last: RecentAnswers, chosen: VerdictFilter = ALL, most: int = 100) -> list[str]:
    """Give the answers that are kept, by their ids, the newest first."""
    return [answer.answer_id for answer in last.select(chosen, most).answers]


def test_the_newest_are_kept_each_once_and_the_number_grows_when_they_change():
    last = RecentAnswers(texts=True, per_decision=3)
    for number in (2, 5, 1, 4, 3):
        last.add([arrived(blocked_verdict(ANSWER, number=number))])
    assert kept(last) == ["a-5", "a-4", "a-3"]
    seen = last.number
    last.add([arrived(blocked_verdict(ANSWER, number=number)) for number in (4, 1)])
    assert last.number == seen
    last.add([arrived(replace(blocked_verdict(ANSWER, number=4), score=2.0))])
    assert last.number == seen + 1
    assert kept(last) == ["a-5", "a-4", "a-3"]


def test_of_each_decision_so_many_are_kept_and_of_all_so_many_bytes():
    last = RecentAnswers(texts=True, per_decision=2, max_bytes=500)
    blocked = [blocked_verdict(ANSWER, number=number) for number in range(4)]
    sent = replace(blocked[0], decision="auto_send")
    last.add(arrived(each, size=100) for each in (*blocked, sent))
    assert kept(last) == ["a-3", "a-2", "a-0"]
    last.add([arrived(replace(blocked[3], decision="review"), size=350)])
    assert kept(last) == ["a-3", "a-3"]


def test_they_are_chosen_by_what_they_are_and_the_choices_are_those_there_are():
    last = RecentAnswers(texts=True)
    verdicts = [blocked_verdict(ANSWER, number=number) for number in range(3)]
    last.add(map(arrived, (verdicts[0], replace(verdicts[1], language=None, degraded=("documents_stale",)))))
    last.add([arrived(replace(verdicts[2], decision="auto_send", message_type="binary"))])
    assert kept(last, VerdictFilter(decisions=frozenset({"auto_send"}))) == ["a-2"]
    assert kept(last, VerdictFilter(languages=frozenset({"und"}))) == ["a-1"]
    assert kept(last, VerdictFilter(reasons=frozenset({"documents_stale"}))) == ["a-1"]
    assert kept(last, most=1) == ["a-2"]
    document = last.select(VerdictFilter(), 1)
    assert (document.matching, len(document.answers)) == (3, 1)
    assert document.choices == FilterChoices(
        ("binary", "instruction"), ("nl", "und"), ("documents_stale", "undefined_component")
    )


def test_one_is_explained_with_the_other_decisions_on_it():
    last = RecentAnswers(texts=True, policies=[Policy()])
    verdict = replace(blocked_verdict(ANSWER, (FAULT, "Opslaan")), policy_version=Policy().identity)
    last.add(map(arrived, (verdict, replace(verdict, decision="review"), blocked_verdict(ANSWER, number=2))))
    found = last.details("v-1", "blocked")
    assert found is not None
    assert found.explanation.verdict == replace(verdict, answer="")
    assert [repeat.differs for repeat in found.explanation.repeats] == [("decision",)]
    assert found.explanation.policy.thresholds == Policy().thresholds(MessageType.INSTRUCTION, "nl")
    assert found.excerpt is not None
    assert "".join(piece.text for piece in found.excerpt.answer) == ANSWER
    assert last.details("v-1", "auto_send") is None


def test_an_explanation_is_cut_however_long_the_verdict_is():
    last = RecentAnswers(texts=True)
    long = "Opslaan " * 50_000
    verdict = with_claims(
        blocked_verdict(long, *[(FAULT, "Opslaan")] * 500, question=long),
        *[("contradicted", long)] * 500,
        passage=long,
    )
    last.add([arrived(replace(verdict, context_ids=("d",) * 1_000, reasons=("r",) * 1_000))])
    found = last.details("v-1", "blocked")
    assert found is not None
    assert len(TypeAdapter(VerdictDetails).dump_json(found)) < 500_000


def test_reasons_are_explained_and_evidence_is_counted_with_what_is_at_fault_first():
    verdict = blocked_verdict(ANSWER, (SEEN, "Klik"), (SEEN, "Verzenden"), (FAULT, "Opslaan"))
    answer = summarize_answer(replace(verdict, reasons=("undefined_component", "of_tomorrow")), texts=False)
    assert [(reason.code, bool(reason.meaning)) for reason in answer.reasons] == [
        ("undefined_component", True),
        ("of_tomorrow", False),
    ]
    assert answer.evidence == (EvidenceCount(FAULT, 1, True), EvidenceCount(SEEN, 2, False))
    assert answer.documents == ("d-1", "d-2")


@pytest.mark.parametrize("kind", RULES_BY_KIND)
def test_every_kind_of_evidence_and_every_reason_there_is_are_told(kind):
    rule = RULES_BY_KIND[kind]
    answer = summarize_answer(
        replace(blocked_verdict(ANSWER, (kind, "Opslaan")), reasons=(str(rule),)), texts=True
    )
    at_fault = rule is not None and rule.counts_against_answer
    assert answer.evidence == (EvidenceCount(kind, 1, at_fault),)
    assert answer.excerpt is not None
    assert [piece.at_fault for piece in answer.excerpt.answer if piece.kinds] == [at_fault]
    assert [reason.meaning for reason in answer.reasons] == [rule.description if rule else ""]


def test_words_that_a_language_model_calls_wrong_are_marked_and_its_opinion_is_told():
    verdict = blocked_verdict(ANSWER, (SEEN, "Verzenden"))
    said = opinion(ANSWER, ("order", "en dan op Opslaan"))
    answer = summarize_answer(replace(verdict, opinions=(opinion(ANSWER, label=None), said)), texts=True)
    assert answer.excerpt is not None
    marked = [(piece.text, piece.kinds) for piece in answer.excerpt.answer if piece.at_fault]
    assert marked == [("en dan op Opslaan", ("order",))]
    assert answer.evidence == (EvidenceCount("order", 1, True), EvidenceCount(SEEN, 1, False))
    assert [(each.label, each.unsure, each.mistakes) for each in answer.opinions] == [
        (None, "cut_off", ()),
        ("FALSE", None, ("order",)),
    ]
    assert [each.evidence for each in answer.opinions] == [(), ()]


def test_a_kind_of_mistake_is_no_kind_of_evidence_of_the_scorer():
    """One kind with two meanings could be marked as a fault where it is none."""
    assert set(RULES_BY_KIND).isdisjoint(Mistake)


PRICED = "Hallo! 🎉 Klik op Opslaan. Het kost 50 euro. Het is blauw."
CLAIMS = (
    ("not_checkable", "Hallo!"),
    ("supported", "Klik op Opslaan."),
    ("contradicted", "Het kost 50 euro."),
    ("not_found", "Het is blauw."),
    ("of_tomorrow", "euro"),
)


def test_claims_are_marked_where_they_lie_with_what_the_documents_say():
    shown = make_excerpt(with_claims(blocked_verdict(PRICED), *CLAIMS, passage="Het kost 5 euro."))
    assert [(piece.text, piece.claim) for piece in shown.answer] == [
        ("Hallo! 🎉 ", None),
        ("Klik op Opslaan.", 0),
        (" ", None),
        ("Het kost 50 euro.", 1),
        (" ", None),
        ("Het is blauw.", 2),
    ]
    assert [claim.status for claim in shown.claims] == ["supported", "contradicted", "not_found"]
    claim = shown.claims[1]
    assert (claim.status, claim.mistake, claim.text) == ("contradicted", "number", "Het kost 50 euro.")
    assert claim.source is not None
    assert claim.source.text == "Het kost 5 euro."


def test_words_of_a_similar_claim_that_its_passage_lacks_are_marked():
    verdict = with_claims(
        blocked_verdict(PRICED), ("similar", "Het kost 50 euro."), passage="Het kost 5 euro."
    )
    start = PRICED.index("50")
    claims = (replace(verdict.claims[0], lacking=(VerdictSpan(start, start + 2),)),)
    shown = make_excerpt(replace(verdict, claims=claims))
    assert [(piece.text, piece.kinds, piece.at_fault) for piece in shown.answer if piece.claim == 0] == [
        ("Het kost ", (), False),
        ("50", ("lacking",), False),
        (" euro.", (), False),
    ]


def test_evidence_within_a_claim_is_marked_as_well():
    faulty = blocked_verdict(PRICED, (FAULT, "Opslaan"))
    shown = make_excerpt(replace(faulty, claims=with_claims(blocked_verdict(PRICED), *CLAIMS).claims))
    marked = [(piece.text, piece.at_fault, piece.claim) for piece in shown.answer if piece.claim is not None]
    assert marked[:3] == [("Klik op ", False, 0), ("Opslaan", True, 0), (".", False, 0)]


def test_a_long_answer_is_cut_around_what_contradicts_the_documents():
    answer = "Klik hier. " + "x" * 50_000 + PRICED + "y" * 50_000
    verdict = with_claims(blocked_verdict(answer), ("not_found", "Klik hier."), *CLAIMS, passage="p" * 50_000)
    shown = make_excerpt(verdict)
    assert [claim.status for claim in shown.claims] == ["supported", "contradicted", "not_found"]
    assert sum(len(piece.text) for piece in shown.answer) == 1_500
    assert max(len(claim.source.text) for claim in shown.claims if claim.source) == 600


def test_of_very_many_claims_those_that_speak_against_the_answer_are_told():
    many = with_claims(blocked_verdict(PRICED), *CLAIMS)
    supported = [claim for claim in many.claims if claim.status == "supported"]
    shown = make_excerpt(replace(many, claims=(*supported * 500, *many.claims)))
    assert len(shown.claims) == 50
    assert {claim.status for claim in shown.claims} == {"supported", "contradicted", "not_found"}


@given(
    st.text(max_size=30),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.sampled_from(ClaimStatus)), max_size=6),
)
def test_claims_that_others_wrote_leave_the_answer_whole(text, spans):
    claims = tuple(VerdictClaim("", start, end, status, "words") for start, end, status in spans)
    shown = make_excerpt(replace(blocked_verdict(text), claims=claims))
    assert "".join(piece.text for piece in shown.answer) == text
    assert {piece.claim for piece in shown.answer} <= {None, *range(len(shown.claims))}


def test_how_many_claims_of_each_status_there_are_is_told_and_how_faithful_the_answer_is():
    answer = summarize_answer(with_claims(blocked_verdict(PRICED), *CLAIMS), texts=False)
    assert answer.claims == (
        ClaimCount("contradicted", 1),
        ClaimCount("not_found", 1),
        ClaimCount("supported", 1),
    )
    assert answer.faithfulness == 0.5


def test_an_answer_without_claims_is_told_as_before():
    answer = summarize_answer(blocked_verdict(ANSWER, (FAULT, "Opslaan")), texts=True)
    assert (answer.claims, answer.faithfulness) == ((), None)
    assert answer.excerpt is not None
    assert answer.excerpt.claims == ()
    assert {piece.claim for piece in answer.excerpt.answer} == {None}


def test_without_texts_nothing_of_question_or_answer_is_kept():
    last = RecentAnswers(texts=False)
    verdict = blocked_verdict("Geheim antwoord", (FAULT, "Geheim"), question="Geheime vraag")
    verdict = replace(
        verdict,
        metadata={"tenant": "Geheim"},
        context=(VerdictPassage("d-1", title="Geheim", url="https://host/geheim"),),
    )
    judged = replace(verdict, opinions=(opinion("Geheim antwoord", ("number", "Geheim antwoord")),))
    claimed = with_claims(
        replace(verdict, verdict_id="v-2"), ("contradicted", "Geheim"), passage="Geheime passage"
    )
    last.add(map(arrived, (judged, claimed)))
    assert len(kept(last)) == 2
    assert "eheim" not in repr(last.select(VerdictFilter(), 10))
    assert "eheim" not in repr((last.details("v-1", "blocked"), last.details("v-2", "blocked")))
    assert "eheim" not in repr(vars(last))


def test_with_texts_the_documents_have_their_titles_and_metadata_stays_where_it_is():
    last = RecentAnswers(texts=True)
    passage = VerdictPassage("d-1", title="Opslaan", url="https://host/opslaan")
    verdict = replace(blocked_verdict(ANSWER), context=(passage,), model="gpt-7", metadata={"tenant": "eu"})
    last.add([arrived(verdict)])
    told = last.details("v-1", "blocked")
    assert told is not None
    assert told.explanation.verdict.context == (passage,)
    assert (told.explanation.verdict.model, told.explanation.verdict.metadata) == ("gpt-7", {})
