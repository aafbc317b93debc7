"""The verdict record holds what the scorer said, under an id that repeats with the answer."""

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from schemas.records import ChatbotAnswer, VerdictEvidence, VerdictFeature, VerdictPassage
from scoring.values.exchange import Decision, Evidence, FeatureValue, MessageType, Passage
from scoring.values.scored_answer import PolicyDecision, ScoredAnswer
from streams.pipeline.context import ContextSource, PassageSpan, ResolvedContext
from streams.pipeline.verdict import MAX_TITLES_BYTES, make_exchange, make_verdict, verdict_id

PRODUCED = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
SCORED = datetime(2026, 3, 2, 9, 16, tzinfo=UTC)
ANSWER = ChatbotAnswer("a-1", "c-1", "Can I?", "Click **Go**.", PRODUCED, language="en")
DECIDED = PolicyDecision(Decision.BLOCKED, ("undefined_component",), "p1")
ASSESSMENT = ScoredAnswer(
    score=1.0,
    profile="paper",
    message_type=MessageType.BINARY,
    language="en",
    translated=False,
    features=(
        FeatureValue("components_defined", 0.0, (Evidence("undefined_component", "Go", 8, 10, "d-1"),)),
        FeatureValue("verbatim_guide", None),
    ),
    scorer_version="s1",
    degraded=("context_missing",),
)
CONTEXT = ResolvedContext(
    (Passage("d-1", "Click **Go**.", version="0123456789abcdef"),), source=ContextSource.BY_ID
)


def test_the_verdict_id_is_pinned_because_consumers_drop_repeats_by_it():
    assert verdict_id("a-1") == "0542538a-5719-52ca-9d8a-e9080c736038"


@given(st.text(), st.text())
def test_two_answers_share_a_verdict_id_only_when_they_share_their_id(one, other):
    assert (verdict_id(one) == verdict_id(other)) == (one == other)


def test_a_verdict_carries_the_answer_and_what_was_assessed_and_decided_field_by_field():
    verdict = make_verdict(ANSWER, ASSESSMENT, DECIDED, CONTEXT, SCORED)
    assert (verdict.verdict_id, verdict.answer_id) == (verdict_id("a-1"), "a-1")
    assert (verdict.decision, verdict.message_type) == ("blocked", "binary")
    assert (verdict.policy_version, verdict.scorer_version) == ("p1", "s1")
    assert (verdict.reasons, verdict.degraded) == (("undefined_component",), ("context_missing",))
    assert (verdict.context_ids, verdict.produced_at, verdict.scored_at) == (("d-1",), PRODUCED, SCORED)
    assert verdict.features == (
        VerdictFeature(
            "components_defined", 0.0, (VerdictEvidence("undefined_component", "Go", 8, 10, "d-1"),)
        ),
        VerdictFeature("verbatim_guide", None),
    )


def test_decision_and_message_type_are_plain_strings_so_that_any_encoder_takes_them():
    verdict = make_verdict(ANSWER, ASSESSMENT, DECIDED, ResolvedContext(()), SCORED)
    assert type(verdict.decision) is str
    assert type(verdict.message_type) is str
    assert type(verdict.context_source) is str


def test_a_verdict_says_where_its_context_came_from_and_which_versions_it_was():
    verdict = make_verdict(ANSWER, ASSESSMENT, DECIDED, CONTEXT, SCORED)
    assert (verdict.context_source, verdict.context_ids) == ("by_id", ("d-1",))
    assert verdict.context == (VerdictPassage("d-1", "0123456789abcdef"),)
    nothing = make_verdict(ANSWER, ASSESSMENT, DECIDED, ResolvedContext(()), SCORED)
    assert (nothing.context_source, nothing.context_ids, nothing.context) == ("none", (), ())


def test_a_verdict_names_documents_that_are_not_there_and_no_more_than_twenty():
    missing = tuple(f"d-{number}" for number in range(25))
    verdict = make_verdict(ANSWER, ASSESSMENT, DECIDED, replace(CONTEXT, missing_ids=missing), SCORED)
    assert verdict.missing_context_ids == missing[:20]


def test_retrieved_passages_tell_their_score_and_where_in_the_document_they_stand():
    passages = (Passage("d-1", "one", "t", 0.5, "v1"), Passage("d-1", "two", "t", 0.25, "v1"))
    found = ResolvedContext(
        passages, source=ContextSource.RETRIEVED, spans=(PassageSpan(0, 3, 0.4, 0.2), PassageSpan(10, 13))
    )
    verdict = make_verdict(ANSWER, ASSESSMENT, DECIDED, found, SCORED)
    assert verdict.context == (
        VerdictPassage("d-1", "v1", 0.5, 0, 3, "t", relevance=0.4, relevance_floor=0.2),
        VerdictPassage("d-1", "v1", 0.25, 10, 13, "t"),
    )
    assert verdict.context_ids == ("d-1", "d-1")


def test_model_and_metadata_of_the_answer_are_carried_through_as_they_came():
    answer = replace(ANSWER, model="gpt-7", metadata={"tenant": "eu", "": ""})
    verdict = make_verdict(answer, ASSESSMENT, DECIDED, CONTEXT, SCORED)
    assert (verdict.model, verdict.metadata) == ("gpt-7", {"tenant": "eu", "": ""})
    assert make_verdict(ANSWER, ASSESSMENT, DECIDED, CONTEXT, SCORED).model is None


def _told(*passages: Passage) -> list[tuple[str | None, str | None]]:
    context = ResolvedContext(passages, source=ContextSource.BY_ID)
    verdict = make_verdict(ANSWER, ASSESSMENT, DECIDED, context, SCORED)
    return [(passage.title, passage.url) for passage in verdict.context]


def test_documents_have_their_title_and_address_and_what_is_none_is_null():
    told = _told(Passage("d-1", "", "Saving", url="https://h/1"), Passage("d-2", "", "", url=""))
    assert told == [("Saving", "https://h/1"), (None, None)]


def test_of_a_long_title_its_beginning_is_told_and_of_a_long_address_nothing():
    assert _told(Passage("d", "", "x" * 999, url="https://h/" + "x" * 2_048)) == [("x" * 256, None)]


@given(st.lists(st.tuples(st.text(max_size=300), st.text(max_size=300)), max_size=40))
def test_titles_and_addresses_take_no_more_than_their_room(named):
    told = _told(*(Passage("d", "", title * 9, url=url * 9) for title, url in named))
    size = sum(len((each or "").encode("utf-8", "surrogatepass")) for pair in told for each in pair)
    assert size <= MAX_TITLES_BYTES
    assert len(told) == len(named), "the passages themselves are all there"


def test_the_exchange_is_the_answer_with_its_resolved_context():
    passage = Passage("d-1", "Click **Go**.")
    exchange = make_exchange(ANSWER, [passage])
    assert (exchange.question, exchange.answer, exchange.context) == (
        ANSWER.question,
        ANSWER.answer,
        (passage,),
    )
    assert exchange.language == "en"
