"""A verdict tells what its answer claims, with passages that can be followed, and always fits a record."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import Codec, Verdict, to_json
from schemas.records import ChatbotAnswer, VerdictClaim, VerdictClaimSource
from scoring.values.checked_claims import CheckedClaim, ClaimSource, ClaimStatus
from scoring.values.exchange import Decision, Evidence, MessageType, Passage
from scoring.values.opinion import Label, Mistake, Opinion, UnsureReason
from scoring.values.scored_answer import PolicyDecision, ScoredAnswer
from streams.cli.command_output import json_line
from streams.kafka.topics import message_limits
from streams.llm.cascade import PricedOpinion
from streams.pipeline.context import ContextSource, ResolvedContext
from streams.pipeline.verdict import (
    MAX_CLAIMS_BYTES,
    MAX_TEXT_CHARACTERS,
    claims_after_opinion,
    make_verdict,
    verdict_claims,
)
from streams.settings import EncodingSettings, Settings
from tests.support.claims import Texts, astray, claim_of, source_of

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
HELP = "Open **Sales**. Click **New invoice**. It costs 5 euros."
ANSWER = "Hello! Open **Sales**. It costs 50 euros."
GREETING = claim_of(ANSWER, "Hello!", ClaimStatus.NOT_CHECKABLE)
TRUE = replace(
    claim_of(
        ANSWER, "Open **Sales**.", ClaimStatus.SUPPORTED, source_of("d-1", HELP, "Open **Sales**.", "v1")
    ),
    support=1.0,
)
WRONG = claim_of(
    ANSWER,
    "It costs 50 euros.",
    ClaimStatus.CONTRADICTED,
    source_of("d-1", HELP, "It costs 5 euros.", "v1"),
    mistake="number",
)


def verdict_of(answer: str, claims: tuple[CheckedClaim, ...]) -> Verdict:
    assessment = ScoredAnswer(1.0, MessageType.GENERAL, "en", claims=claims, support=0.5, contradiction=0.9)
    context = ResolvedContext((Passage("d-1", HELP, version="v1"),), source=ContextSource.BY_ID)
    asked = ChatbotAnswer("a-1", "c-1", "What does it cost?", answer, NOW)
    return make_verdict(asked, assessment, PolicyDecision(Decision.BLOCKED, (), "p1"), context, NOW)


def test_a_verdict_tells_every_claim_with_its_passage_and_what_is_true_of_all():
    verdict = verdict_of(ANSWER, (GREETING, TRUE, WRONG))
    assert verdict.claims == (
        VerdictClaim("Hello!", 0, 6, "not_checkable", "words"),
        VerdictClaim(
            "Open **Sales**.",
            7,
            22,
            "supported",
            "words",
            support=1.0,
            source=VerdictClaimSource("d-1", "v1", "Open **Sales**.", 0, 15),
        ),
        VerdictClaim(
            "It costs 50 euros.",
            23,
            41,
            "contradicted",
            "words",
            "number",
            source=VerdictClaimSource("d-1", "v1", "It costs 5 euros.", 39, 56),
        ),
    )
    assert (verdict.support, verdict.contradiction, verdict.faithfulness) == (0.5, 0.9, 0.5)
    assert {type(claim.status) for claim in verdict.claims} == {str}
    assert astray(verdict, {"d-1": [HELP]}) == []


def test_a_profile_that_checks_no_claims_tells_none():
    verdict = make_verdict(
        ChatbotAnswer("a-1", "c-1", "", ANSWER, NOW),
        ScoredAnswer(1.0, MessageType.GENERAL, "en"),
        PolicyDecision(Decision.BLOCKED, (), "p1"),
        ResolvedContext(()),
        NOW,
    )
    assert verdict.claims == ()
    assert (verdict.support, verdict.contradiction, verdict.faithfulness) == (None, None, None)


@pytest.mark.parametrize(
    "broken",
    [
        replace(WRONG, start=22, end=40),
        replace(WRONG, source=replace(WRONG.source, start=38, end=55)),
        replace(WRONG, source=replace(WRONG.source, document_id="d-2")),
        replace(WRONG, source=replace(WRONG.source, text="It costs 6 euros.")),
        replace(WRONG, source=replace(WRONG.source, text="", start=3, end=3)),
    ],
    ids=["place of the answer", "place of the document", "document", "text", "nothing"],
)
def test_a_claim_or_passage_that_does_not_stand_where_it_says_is_found(broken):
    verdict = verdict_of(ANSWER, (TRUE, broken))
    assert astray(verdict, {"d-1": [HELP], "d-2": [ANSWER]}) == [verdict.claims[1]]


texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60).map(lambda text: text * 40)


@st.composite
def _spans(draw: st.DrawFn, text: str) -> tuple[int, int]:
    start = draw(st.integers(0, len(text) - 1))
    return start, draw(st.integers(start + 1, len(text)))


@st.composite
def _answers(draw: st.DrawFn) -> tuple[str, Texts, tuple[CheckedClaim, ...]]:
    """Draw an answer, documents of which two texts share an id, and claims that stand in them."""
    answer, documents = (
        draw(texts),
        {"d-1": draw(st.lists(texts, min_size=2, max_size=2)), "d-2": [draw(texts)]},
    )
    claims = []
    for start, end in sorted(draw(st.lists(_spans(answer), max_size=30))):
        source = None
        if draw(st.booleans()):
            document_id = draw(st.sampled_from(sorted(documents)))
            text = draw(st.sampled_from(documents[document_id]))
            first, last = draw(_spans(text))
            source = ClaimSource(document_id, draw(st.none() | st.just("v1")), text[first:last], first, last)
        status = draw(st.sampled_from(list(ClaimStatus)))
        lacking = tuple(
            sorted((first + start, last + start) for first, last in draw(st.lists(_spans(answer[start:end]))))
        )
        claims.append(CheckedClaim(answer[start:end], start, end, status, None, None, source, None, lacking))
    return answer, documents, tuple(claims)


@given(_answers())
def test_every_claim_of_a_verdict_can_be_followed_whatever_was_cut_or_left_out(case):
    answer, documents, claims = case
    written = verdict_of(answer, claims)
    verdict = Codec().decode(Codec().encode(written), Verdict)
    assert verdict == written
    assert Codec(json_input=True).decode(json_line(to_json(written)).encode(), Verdict) == written
    assert astray(verdict, documents) == []
    starts = [claim.start for claim in verdict.claims]
    assert starts == sorted(starts)
    kept = len(Codec().encode(verdict)) - len(Codec().encode(replace(verdict, claims=())))
    assert kept <= MAX_CLAIMS_BYTES


def _many(number: int, status: ClaimStatus, size: int = 1) -> list[CheckedClaim]:
    source = ClaimSource("\U0001f600" * 256, "v" * 16, "\U0001f600" * size, 0, size)
    return [CheckedClaim("\U0001f600" * size, 0, size, status, None, 0.5, source) for _ in range(number)]


@pytest.mark.parametrize("size", [1, 100_000])
def test_a_verdict_fits_the_smallest_record_however_many_and_long_its_claims_are(size):
    claims = _many(3_000, ClaimStatus.CONTRADICTED, size)
    verdict = replace(verdict_of(ANSWER, ()), claims=verdict_claims(claims))
    limits = message_limits(Settings(encoding=EncodingSettings(max_value_bytes=1024)))
    assert verdict.claims
    assert all(len(claim.text) <= MAX_TEXT_CHARACTERS for claim in verdict.claims)
    assert len(Codec().encode(verdict)) < limits.verdict / 2


def test_what_speaks_against_an_answer_is_left_out_last():
    order = (
        ClaimStatus.NOT_CHECKABLE,
        ClaimStatus.SUPPORTED,
        ClaimStatus.SIMILAR,
        ClaimStatus.NOT_FOUND,
        ClaimStatus.CONTRADICTED,
    )
    each = [_many(10, status) for status in order]
    told = verdict_claims([claim for five in zip(*each, strict=True) for claim in five])
    statuses = [claim.status for claim in told]
    assert 20 <= len(told) < 30, "a claim of these takes 1.1 KiB"
    assert (statuses.count("contradicted"), statuses.count("not_found")) == (10, 10)
    assert statuses.count("not_checkable") == 0


def test_a_claim_too_large_for_the_room_that_is_left_makes_way_for_smaller_ones():
    claims = [*_many(4, ClaimStatus.CONTRADICTED, MAX_TEXT_CHARACTERS), *_many(1, ClaimStatus.NOT_CHECKABLE)]
    assert [claim.status for claim in verdict_claims(claims)] == ["contradicted"] * 3 + ["not_checkable"]


OPEN = claim_of(ANSWER, "It costs 50 euros.", ClaimStatus.SIMILAR)
MISSING = replace(OPEN, status=ClaimStatus.NOT_FOUND, mistake="non_appearing_statement")
UNKNOWN = replace(OPEN, status=ClaimStatus.NOT_FOUND, mistake="unspecified_components")
SENT = PolicyDecision(Decision.AUTO_SEND, ("judged_true",), "p1")
REVIEW = PolicyDecision(Decision.REVIEW, ("judge_unsure",), "p1")


def says(label: Label | None, *wrong: Evidence, shortened: bool = False) -> Opinion:
    unsure = None if label else UnsureReason.NO_REPLY
    return Opinion(
        "single", ("m",), "1", label, 0.95 * bool(label), wrong=wrong, unsure=unsure, shortened=shortened
    )


def fifty(kind: Mistake) -> Evidence:
    return Evidence(kind, "50", ANSWER.index("50"), ANSWER.index("50") + 2)


@pytest.mark.parametrize(
    ("claim", "opinion", "decided", "expected"),
    [
        (OPEN, says(Label.TRUE), SENT, ("supported", "judge")),
        (MISSING, says(Label.TRUE), SENT, ("supported", "judge")),
        (UNKNOWN, says(Label.TRUE), SENT, ("not_found", "words")),
        (WRONG, says(Label.TRUE), SENT, ("contradicted", "words")),
        (GREETING, says(Label.TRUE), SENT, ("not_checkable", "words")),
        (TRUE, says(Label.TRUE), SENT, ("supported", "words")),
        (OPEN, says(Label.TRUE), REVIEW, ("similar", "words")),
        (OPEN, says(Label.TRUE, shortened=True), SENT, ("similar", "words")),
        (OPEN, says(None), REVIEW, ("similar", "words")),
        (OPEN, None, SENT, ("similar", "words")),
        (OPEN, says(Label.FALSE, fifty(Mistake.NUMBER)), REVIEW, ("contradicted", "judge")),
        (
            replace(OPEN, status=ClaimStatus.SUPPORTED),
            says(Label.FALSE, fifty(Mistake.HALLUCINATION)),
            REVIEW,
            ("similar", "judge"),
        ),
        (replace(OPEN, status=ClaimStatus.SUPPORTED), says(Label.FALSE), REVIEW, ("supported", "words")),
    ],
)
def test_a_judge_takes_ticks_away_by_words_and_gives_them_where_its_true_decided(
    claim, opinion, decided, expected
):
    (found,) = claims_after_opinion([claim], opinion, decided)
    assert (found.status, found.decided_by) == expected


def test_words_that_a_judge_calls_wrong_are_marked_in_the_claim_and_faithfulness_follows():
    right = replace(OPEN, status=ClaimStatus.SUPPORTED)
    assessment = ScoredAnswer(3.0, MessageType.GENERAL, "en", claims=(TRUE, right))
    asked = [PricedOpinion(says(Label.FALSE, fifty(Mistake.NUMBER)))]
    answer = ChatbotAnswer("a-1", "c-1", "What does it cost?", ANSWER, NOW)
    verdict = make_verdict(answer, assessment, REVIEW, ResolvedContext(()), NOW, asked)
    assert [(each.status, each.mistake) for each in verdict.claims] == [
        ("supported", None),
        ("contradicted", "number"),
    ]
    assert [ANSWER[each.start : each.end] for each in verdict.claims[1].lacking] == ["50"]
    assert verdict.faithfulness == 0.5
