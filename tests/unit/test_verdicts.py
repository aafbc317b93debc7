"""The verdict record holds what the scorer said, under an id that repeats with the answer."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from schemas.records import ChatbotAnswer, VerdictEvidence, VerdictFeature
from scoring.types import Decision, Evidence, FeatureValue, Judgement, MessageType, Passage
from streams.verdicts import exchange_of, make_verdict, verdict_id

PRODUCED = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
SCORED = datetime(2026, 3, 2, 9, 16, tzinfo=UTC)
ANSWER = ChatbotAnswer("a-1", "c-1", "Can I?", "Click **Go**.", PRODUCED, language="en")
JUDGEMENT = Judgement(
    decision=Decision.BLOCKED,
    reasons=("undefined_component",),
    score=1.0,
    profile="paper",
    message_type=MessageType.BINARY,
    language="en",
    translated=False,
    features=(
        FeatureValue("components_defined", 0.0, (Evidence("undefined_component", "Go", 8, 10, "d-1"),)),
        FeatureValue("verbatim_guide", None),
    ),
    policy_version="p1",
    scorer_version="s1",
    degraded=("context_missing",),
)


def test_the_verdict_id_is_pinned_because_consumers_drop_repeats_by_it() -> None:
    assert verdict_id("a-1") == "0542538a-5719-52ca-9d8a-e9080c736038"


@given(st.text(), st.text())
def test_two_answers_share_a_verdict_id_only_when_they_share_their_id(one: str, other: str) -> None:
    assert (verdict_id(one) == verdict_id(other)) == (one == other)


def test_a_verdict_carries_the_answer_and_the_judgement_field_by_field() -> None:
    verdict = make_verdict(ANSWER, JUDGEMENT, ["d-1"], SCORED)
    assert (verdict.verdict_id, verdict.answer_id) == (verdict_id("a-1"), "a-1")
    assert (verdict.decision, verdict.message_type) == ("blocked", "binary")
    assert (verdict.reasons, verdict.degraded) == (("undefined_component",), ("context_missing",))
    assert (verdict.context_ids, verdict.produced_at, verdict.scored_at) == (("d-1",), PRODUCED, SCORED)
    assert verdict.features == (
        VerdictFeature(
            "components_defined", 0.0, (VerdictEvidence("undefined_component", "Go", 8, 10, "d-1"),)
        ),
        VerdictFeature("verbatim_guide", None),
    )


def test_decision_and_message_type_are_plain_strings_so_that_any_encoder_takes_them() -> None:
    verdict = make_verdict(ANSWER, JUDGEMENT, [], SCORED)
    assert type(verdict.decision) is str
    assert type(verdict.message_type) is str


def test_the_exchange_is_the_answer_with_its_resolved_context() -> None:
    passage = Passage("d-1", "Click **Go**.")
    exchange = exchange_of(ANSWER, [passage])
    assert (exchange.question, exchange.answer, exchange.context) == (
        ANSWER.question,
        ANSWER.answer,
        (passage,),
    )
    assert exchange.language == "en"
