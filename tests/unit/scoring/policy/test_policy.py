import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from scoring.features.components_defined import UNDEFINED_COMPONENT_RULE
from scoring.features.error_mismatch import ERROR_MISMATCH_RULE
from scoring.features.quotation import COURTESY_RULE, VERBATIM_DOCUMENT_RULE
from scoring.policy import Doubt, Override, Pauses, PauseScope, Policy
from scoring.scorer.profile import RULES_BY_KIND
from scoring.values.exchange import Decision, Evidence, FeatureValue, MessageType, RefusalKind
from scoring.values.opinion import Label, Mistake, Opinion, UnsureReason
from scoring.values.rules import Reason, Rule, RuleEffect
from scoring.values.scored_answer import ScoredAnswer

DENIED = Rule("denied_request", "A rule for review.", RuleEffect.REVIEW)
REASONS = [None, DENIED, *Reason, *dict.fromkeys(filter(None, RULES_BY_KIND.values()))]
# A courtesy rests on no document.
OF_DOCUMENTS = [each for each in REASONS if each is not COURTESY_RULE]


def decide(policy=Policy(), kind=MessageType.BINARY, language="nl", **answer):  # noqa: B008 - frozen
    decided = policy.decide(ScoredAnswer(answer.pop("score", None), kind, language, **answer))
    return decided.decision, decided.reasons


@pytest.mark.parametrize(
    ("score", "reason_", "decision", "reason"),
    [
        (1.0, UNDEFINED_COMPONENT_RULE, "blocked", "undefined_component"),
        (1.0, None, "review", "middle_score"),
        (1.5, None, "review", "middle_score"),
        (4.49, None, "review", "middle_score"),
        (5.0, None, "review", "middle_score"),
        (5.0, VERBATIM_DOCUMENT_RULE, "auto_send", "verbatim_document"),
        (None, Reason.MESSAGE_TYPE_NOT_SCORED, "review", "message_type_not_scored"),
        (None, Reason.NO_APPLICABLE_FEATURE, "review", "no_applicable_feature"),
        (None, Reason.LANGUAGE_UNSUPPORTED, "review", "language_unsupported"),
    ],
)
def test_the_score_decides_and_the_first_reason_says_why(score, reason_, decision, reason):
    assert decide(score=score, reason=reason_) == (decision, (reason,))


@given(st.none() | st.floats(1, 5), st.sampled_from(REASONS), st.sampled_from(list(Reason)))
def test_nothing_is_sent_by_itself_when_something_could_not_be_checked(score, reason_, gap):
    decision, reasons = decide(score=score, reason=reason_, degraded=(gap,))
    assert decision is not Decision.AUTO_SEND
    assert gap in reasons


_UNDECIDABLE = [
    "context_missing",
    "context_insufficient",
    "retrieval_unavailable",
    "context_language_differs",
    "documents_stale",
]


@given(st.none() | st.floats(1, 5), st.sampled_from(OF_DOCUMENTS))
@pytest.mark.parametrize("gap", _UNDECIDABLE)
def test_where_documents_are_missing_unreadable_or_perhaps_out_of_date_a_person_decides(gap, score, reason_):
    decision, reasons = decide(score=score, reason=reason_, degraded=("other", gap))
    assert decision is Decision.REVIEW
    assert reasons[0] == gap


_THRESHOLDS = st.sampled_from([(1.0, 1.01), (1.5, 5.0), (4.9, 5.0), (1.0, 4.0)])


@given(
    thresholds=_THRESHOLDS,
    kind=st.sampled_from(list(MessageType)),
    language=st.sampled_from(["nl", "en", None]),
    unscored=st.sampled_from(list(Decision)),
    refusal=st.sampled_from([Decision.REVIEW, Decision.AUTO_SEND]),
    score=st.none() | st.floats(1, 5),
    reason_=st.sampled_from(OF_DOCUMENTS),
    refuses=st.sampled_from(list(RefusalKind)),
)
@pytest.mark.parametrize("gap", _UNDECIDABLE)
def test_no_override_refusal_or_score_sends_or_blocks_where_the_context_cannot_be_relied_on(
    gap, thresholds, kind, language, unscored, refusal, score, reason_, refuses
):
    block_below, auto_send_at = thresholds
    override = Override(kind, language, auto_send_at, block_below, unscored, refusal)
    policy = Policy("mine", auto_send_at, block_below, unscored, refusal, (override,))
    decision, reasons = decide(
        policy, kind, language, score=score, reason=reason_, refusal=refuses, degraded=(gap,)
    )
    assert decision is Decision.REVIEW
    assert reasons[0] == gap


def test_a_gap_does_not_lift_a_block():
    assert decide(score=1.0, reason=UNDEFINED_COMPONENT_RULE, degraded=("x",)) == (
        "blocked",
        ("undefined_component", "x"),
    )


def test_the_later_override_that_covers_an_answer_wins():
    policy = Policy(
        overrides=(
            Override(language="nl", auto_send_at=4.0),
            Override(message_type=MessageType.BINARY, auto_send_at=4.8),
            Override(message_type=MessageType.GENERAL, unscored=Decision.BLOCKED),
        )
    )
    unscored = Reason.MESSAGE_TYPE_NOT_SCORED
    assert decide(policy, MessageType.BINARY, "nl", score=4.5)[0] == "review"
    assert decide(policy, MessageType.INSTRUCTION, "nl", score=4.0)[0] == "auto_send"
    assert decide(policy, MessageType.INSTRUCTION, "en", score=4.0)[0] == "review"
    assert decide(policy, MessageType.GENERAL, "en", reason=unscored)[0] == "blocked"
    assert decide(policy, MessageType.ERROR, "en", reason=unscored)[0] == "review"


INVALID = [
    (
        {"block_below": 1.5, "auto_send_at": 1.2},
        "policy for all answers: needs 1 <= block_below < auto_send_at <= 5",
    ),
    ({"auto_send_at": 5.1}, "auto_send_at is 5.1"),
    ({"block_below": 0.5}, "block_below is 0.5"),
    ({"auto_send_at": float("nan")}, "auto_send_at is nan"),
    ({"block_below": 2.0, "auto_send_at": 2.0}, "policy for all answers: needs 1 <= "),
    ({"overrides": (Override(language="nl", auto_send_at=1.0),)}, "policy for nl: needs"),
    (
        {"overrides": (Override(None, "nl", 2.0), Override(MessageType.BINARY, block_below=3.0))},
        "policy for binary nl: needs",
    ),
    ({"refusal": Decision.BLOCKED}, "refusal and declined must be review or auto_send"),
    ({"declined": Decision.BLOCKED}, "refusal and declined must be review or auto_send"),
    ({"overrides": (Override(MessageType.BINARY, refusal=Decision.BLOCKED),)}, "policy for binary: refusal"),
    ({"ask": ("dunno",)}, "'dunno' is neither a decision nor the code of a reason"),
    ({"send_confidence": 0.0}, "above 0 and at most 1"),
    ({"block_confidence": 1.1}, "above 0 and at most 1"),
    ({"overrides": (Override(language="nl", send_confidence=2.0),)}, "policy for nl"),
    ({"overrides": (Override(language="nl", block_confidence=0.0),)}, "policy for nl"),
    ({"overrides": (Override(language="nl", ask=("dunno",)),)}, "policy for nl"),
    ({"overrides": (Override(language="nl", ask_never=("dunno",)),)}, "policy for nl"),
]


@pytest.mark.parametrize(("values", "message"), INVALID)
def test_invalid_thresholds_are_refused_in_one_line(values, message):
    with pytest.raises(ValueError, match="policy for") as refused:
        Policy(**values)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("values", [{}, {"language": "dutch"}, {"language": "NL"}])
def test_an_override_that_can_never_apply_or_always_does_is_refused(values):
    with pytest.raises(ValueError, match="override"):
        Override(**values)


def test_the_identity_has_a_hash_of_any_changed_content():
    assert Policy().identity == "shipped-3"
    changed = [
        *(Policy(auto_send_at=4.6), Policy(block_below=1.6), Policy(overrides=(Override(language="nl"),))),
        *(Policy("mine"), Policy("mine", pause=True)),
    ]
    assert len({policy.identity for policy in changed}) == 5
    assert all(re.fullmatch(rf"{each.version}\+[0-9a-f]{{8}}", each.identity) for each in changed)
    assert Policy(auto_send_at=4.6).identity == Policy(auto_send_at=4.6).identity
    assert Policy(auto_send_at=5).identity == Policy(auto_send_at=5.0).identity


def test_pydantic_reads_and_checks_a_policy():
    class Settings(BaseModel):
        policy: Policy = Policy()

    raw = {
        "auto_send_at": "4.0",
        "overrides": [{"message_type": "binary", "language": "nl", "unscored": "blocked"}],
    }
    policy = Settings.model_validate({"policy": raw}).policy
    assert policy.overrides == (Override(MessageType.BINARY, "nl", unscored=Decision.BLOCKED),)
    with pytest.raises(ValidationError, match="needs 1 <= block_below"):
        Settings.model_validate({"policy": {"auto_send_at": 1}})


@pytest.mark.parametrize("score", [None, 1.0, 3.0, 5.0])
def test_a_pure_refusal_is_reviewed_whatever_its_score_and_never_blocked(score):
    reason_ = Reason.MESSAGE_TYPE_NOT_SCORED if score is None else None
    decision, reasons = decide(score=score, reason=reason_, refusal=RefusalKind.FULL)
    assert (decision, reasons[0]) == ("review", "refusal")


def test_refusals_are_sent_where_that_is_configured_and_everything_could_be_checked():
    policy = Policy(overrides=(Override(language="nl", refusal=Decision.AUTO_SEND),))
    assert decide(policy, refusal=RefusalKind.FULL, score=1.0)[0] == "auto_send"
    assert decide(policy, language="en", refusal=RefusalKind.FULL, score=1.0)[0] == "review"
    assert decide(policy, refusal=RefusalKind.FULL, score=1.0, degraded=("x",)) == ("review", ("x",))
    assert decide(policy, refusal=RefusalKind.FULL, degraded=("context_missing",))[0] == "review"


def test_an_answer_that_refuses_and_then_answers_is_judged_but_not_blocked_for_its_mean():
    refuses = {"refusal": RefusalKind.PARTIAL}
    assert decide(Policy(block_below=1.5), score=1.2, **refuses) == ("review", ("refusal",))
    assert decide(Policy(block_below=1.5), score=1.2) == ("blocked", ("low_score",))
    assert decide(score=1.0, reason=UNDEFINED_COMPONENT_RULE, **refuses)[0] == "blocked"
    assert decide(score=1.0, reason=ERROR_MISMATCH_RULE, **refuses)[0] == "blocked"
    assert decide(score=3.0, **refuses) == ("review", ("middle_score",))


@pytest.mark.parametrize("kind", [MessageType.UNSPECIFIED, MessageType.ACTION])
@pytest.mark.parametrize("route", list(Decision))
def test_unscored_types_go_where_the_policy_says_by_type_and_language(kind, route):
    policy = Policy(overrides=(Override(kind, "nl", unscored=route),))
    unscored = Reason.MESSAGE_TYPE_NOT_SCORED
    assert decide(policy, kind, "nl", reason=unscored) == (route, ("message_type_not_scored",))
    assert decide(policy, kind, "en", reason=unscored)[0] == "review"
    assert decide(policy, kind, "nl", reason=unscored, degraded=("x",))[0] == "review"
    assert policy.identity != Policy().identity


@pytest.mark.parametrize("reason_", [DENIED, replace(DENIED, contradiction=0.5)])
@pytest.mark.parametrize("policy", [Policy(), Policy(auto_send_at=1.01, block_below=1.0)])
def test_rules_that_often_take_a_true_answer_for_untrue_never_block_or_send_it(policy, reason_):
    decision, reasons = decide(policy, score=1.0, reason=reason_, refusal=RefusalKind.PARTIAL)
    assert (decision, reasons) == ("review", (reason_.reason,))
    assert decide(score=1.0, reason=reason_, degraded=("x",)) == ("review", (reason_.reason, "x"))


@pytest.mark.parametrize("policy", [Policy(), Policy(block_below=1.0)])
def test_a_contradiction_blocks_whatever_the_thresholds(policy):
    assert decide(policy, score=1.0, reason=ERROR_MISMATCH_RULE) == ("blocked", ("error_mismatch",))


SCORES = {Label.TRUE: 5.0, Label.FALSE: 1.0, Label.NOT_GIVEN: 2.0, None: None}
NAMED = (Evidence("number", "30", 0, 2),)


def opinion(label=Label.TRUE, confidence=0.95, **answer):
    unsure = UnsureReason.MALFORMED if label is None else None
    answer = {"score": SCORES[label], **answer}
    return Opinion("single", ("m",), "1", label, confidence if label else 0.0, unsure=unsure, **answer)


def judged(asked, policy=Policy(), **answer):  # noqa: B008 - frozen
    kind, language = answer.pop("kind", MessageType.BINARY), answer.pop("language", "nl")
    opinions = asked if isinstance(asked, tuple) else (asked,)
    decided = policy.decide(ScoredAnswer(answer.pop("score", None), kind, language, **answer), opinions)
    return decided.decision, decided.reasons


@pytest.mark.parametrize(
    ("asked", "decision", "reason"),
    [
        (opinion(), "auto_send", "judged_true"),
        (opinion(confidence=0.9), "auto_send", "judged_true"),
        (opinion(score=4.0), "auto_send", "judged_true"),
        (opinion(confidence=0.89), "review", "judge_not_confident"),
        (opinion(score=3.9), "review", "judged_partly_untrue"),
        (opinion(score=None), "review", "judged_partly_untrue"),
        (opinion(wrong=NAMED), "review", "judged_partly_untrue"),
        (opinion(mistakes=(Mistake.NUMBER,)), "review", "judged_partly_untrue"),
        (opinion(shortened=True), "review", "judge_unsure"),
        (opinion(Label.FALSE), "blocked", "judged_untrue"),
        (opinion(Label.FALSE, score=2.0, wrong=NAMED), "blocked", "judged_untrue"),
        (opinion(Label.FALSE, score=2.1), "review", "judged_partly_untrue"),
        (opinion(Label.FALSE, score=None), "review", "judged_partly_untrue"),
        (opinion(Label.FALSE, 0.89), "review", "judge_not_confident"),
        (opinion(Label.FALSE, shortened=True), "review", "judge_unsure"),
        (opinion(Label.NOT_GIVEN), "review", "judged_not_given"),
        (opinion(Label.NOT_GIVEN, score=5.0), "review", "judged_not_given"),
        (opinion(None), "review", "judge_malformed"),
        (replace(opinion(None), unsure=UnsureReason.CUT_OFF), "review", "judge_malformed"),
        (replace(opinion(None), unsure=UnsureReason.DISAGREEMENT), "review", "judge_unsure"),
        (replace(opinion(None), unsure=UnsureReason.REFUSED), "review", "judge_unsure"),
    ],
)
def test_an_opinion_decides_only_where_it_is_sure_and_whole_and_what_else_it_says_agrees(
    asked, decision, reason
):
    assert judged(asked, score=3.0) == (decision, (reason, "middle_score"))


@pytest.mark.parametrize("last", [opinion(), opinion(Label.FALSE)])
def test_two_opinions_that_contradict_each_other_decide_nothing_however_sure_the_last_is(last):
    other = opinion(Label.FALSE if last.label is Label.TRUE else Label.TRUE, 0.3)
    assert judged((other, last), score=3.0) == ("review", ("judges_disagree", "middle_score"))
    assert judged((opinion(None), opinion(Label.NOT_GIVEN, 0.3), last), score=3.0)[0] != "review"
    reviewed = ScoredAnswer(3.0, MessageType.BINARY, "nl")
    assert Policy().is_settled(reviewed, (other, replace(last, confidence=0.3)))


def test_that_an_answer_rightly_says_that_it_has_none_is_a_reason_of_its_own_that_a_policy_may_send():
    sending = Policy(declined=Decision.AUTO_SEND)
    declines = {"score": 3.0, "refusal": RefusalKind.PARTIAL}
    rightly = opinion(Label.NOT_GIVEN, score=5.0)
    assert judged(rightly, **declines) == ("review", ("judged_declined", "middle_score"))
    assert judged(rightly, sending, **declines) == ("auto_send", ("judged_declined", "middle_score"))
    assert judged(rightly, sending, score=3.0)[1][0] == "judged_not_given"
    assert judged(rightly, sending, reason=DENIED, **declines | {"score": 1.0})[0] == "review"
    for wrongly in (opinion(Label.NOT_GIVEN, score=3.9), replace(rightly, wrong=NAMED)):
        assert judged(wrongly, sending, **declines)[1][0] == "judged_not_given"


@pytest.mark.parametrize(
    ("asked", "decision", "reason"),
    [
        (opinion(), "auto_send", "judged_true"),
        (opinion(confidence=0.8), "review", "judge_not_confident"),
        (opinion(wrong=NAMED), "review", "judged_partly_untrue"),
        (opinion(Label.FALSE), "review", "judged_untrue"),
        (opinion(Label.NOT_GIVEN), "review", "judged_not_given"),
        (opinion(None), "review", "judge_malformed"),
    ],
)
def test_what_the_checks_would_send_is_sent_only_where_the_judge_that_is_asked_says_so_too(
    asked, decision, reason
):
    quoted = {"score": 5.0, "reason": VERBATIM_DOCUMENT_RULE}
    assert judged(asked, **quoted) == (decision, (reason, "verbatim_document"))
    # A judge that is away, and a policy by which none is asked about such answers.
    assert judged((), **quoted, degraded=("judge_unavailable",))[0] == "review"
    assert judged(asked, Policy(ask=("review",)), **quoted) == ("auto_send", ("verbatim_document",))


def test_an_opinion_alone_sends_no_type_that_the_profile_does_not_score():
    unscored = {"reason": Reason.MESSAGE_TYPE_NOT_SCORED}
    assert judged(opinion(), **unscored) == ("review", ("judged_true", "message_type_not_scored"))
    assert judged(opinion(Label.FALSE), **unscored)[0] == "blocked"
    assert judged(opinion(), Policy(unscored=Decision.AUTO_SEND), **unscored)[0] == "auto_send"


def test_an_opinion_sends_nothing_that_a_check_objects_to_or_of_which_something_was_not_checked():
    assert judged(opinion(), score=1.0, reason=DENIED) == ("review", ("judged_true", "denied_request"))
    assert judged(opinion(), score=3.0, degraded=("translation_unavailable",)) == (
        "review",
        ("judged_true", "middle_score", "translation_unavailable"),
    )
    reviewed = ScoredAnswer(1.0, MessageType.BINARY, "nl", DENIED)
    assert Policy().doubt(reviewed) is Doubt.ONE_WAY
    assert judged(opinion(Label.FALSE), score=1.0, reason=DENIED)[0] is Decision.BLOCKED


@given(
    st.none() | st.floats(1, 5),
    st.sampled_from(REASONS),
    st.sampled_from([*_UNDECIDABLE, "scoring_timeout", "scoring_disabled"]),
    st.sampled_from([None, *Label]),
    st.floats(0.01, 1),
)
def test_an_opinion_counts_for_nothing_where_the_context_cannot_be_relied_on_or_nothing_was_assessed(
    score, reason_, gap, label, confidence
):
    everything = Policy(ask=(*Decision,), ask_never=())
    answer = {"score": score, "reason": reason_, "degraded": (gap,)}
    assert judged(opinion(label, confidence), everything, **answer) == judged((), everything, **answer)


@pytest.mark.parametrize(
    ("reason_", "score", "doubt"),
    [
        (None, 3.0, Doubt.BOTH_WAYS),
        (None, 1.0, Doubt.BOTH_WAYS),
        (UNDEFINED_COMPONENT_RULE, 1.0, None),
        (VERBATIM_DOCUMENT_RULE, 5.0, Doubt.BOTH_WAYS),
        (Reason.MESSAGE_TYPE_NOT_SCORED, None, Doubt.ONE_WAY),
        (Reason.NO_APPLICABLE_FEATURE, None, Doubt.ONE_WAY),
    ],
)
def test_in_doubt_is_what_the_checks_alone_would_review_or_send(reason_, score, doubt):
    assert Policy().doubt(ScoredAnswer(score, MessageType.BINARY, "nl", reason_)) is doubt


def test_a_refusal_is_in_doubt_only_where_it_is_named():
    refusal = ScoredAnswer(3.0, MessageType.BINARY, "nl", refusal=RefusalKind.FULL)
    assert Policy().doubt(refusal) is None
    assert Policy(ask=("refusal",), ask_never=()).doubt(refusal) is Doubt.BOTH_WAYS


def test_an_answer_that_two_checks_block_is_in_doubt_only_where_both_are_named():
    kinds = "undefined_component", "unknown_number"
    evidence = tuple(Evidence(kind, "?", 0, 1) for kind in kinds)
    blocked = ScoredAnswer(
        1.0,
        MessageType.ERROR,
        "nl",
        UNDEFINED_COMPONENT_RULE,
        features=(FeatureValue("components_defined", 0.0, evidence),),
        profile="truthgate",
    )
    assert Policy(ask=("undefined_component",)).doubt(blocked) is None
    assert Policy(ask=kinds).doubt(blocked) is Doubt.ONE_WAY
    assert Policy(ask=("blocked",)).doubt(blocked) is Doubt.ONE_WAY


def test_who_is_asked_about_can_be_named_by_decision_and_reason_for_a_type_and_language():
    blocked = ScoredAnswer(1.0, MessageType.ERROR, "nl", UNDEFINED_COMPONENT_RULE)
    assert Policy(ask=("undefined_component",)).doubt(blocked) is Doubt.ONE_WAY
    assert Policy(ask=("blocked",), ask_never=("undefined_component",)).doubt(blocked) is None
    middling = ScoredAnswer(3.0, MessageType.ERROR, "nl")
    in_dutch = Override(language="nl", ask=())
    assert Policy(overrides=(in_dutch,)).doubt(middling) is None
    assert Policy(overrides=(in_dutch,)).doubt(ScoredAnswer(3.0, MessageType.ERROR, "en")) is Doubt.BOTH_WAYS


@pytest.mark.parametrize(("reason_", "score"), [(UNDEFINED_COMPONENT_RULE, 1.0), (None, 1.2)])
def test_what_the_checks_block_is_taken_back_to_a_person_alone_and_only_by_a_sure_opinion(reason_, score):
    asking = Policy(ask=("blocked",), block_below=1.5)
    blocked = {"score": score, "reason": reason_, "refusal": RefusalKind.NONE}
    assert asking.doubt(ScoredAnswer(score, MessageType.BINARY, "nl", reason_)) is Doubt.ONE_WAY
    assert judged(opinion(), asking, **blocked)[0] is Decision.REVIEW
    for other in (opinion(confidence=0.5), opinion(wrong=NAMED), *map(opinion, (None, *Label))):
        if other != opinion():
            assert judged(other, asking, **blocked)[0] is Decision.BLOCKED


ALL = Pauses(frozenset({PauseScope()}))
UNREAD = Pauses(known=False)
SENDING = Policy("mine", 4.0, 1.5, Decision.AUTO_SEND, Decision.AUTO_SEND)


def under(pauses, policy=SENDING, kind=MessageType.BINARY, language="nl", asked=(), **answer):
    assessment = ScoredAnswer(answer.pop("score", None), kind, language, **answer)
    return policy.decide(assessment, asked, pauses)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"score": 4.5}, "high_score"),
        ({"score": 5.0, "reason": VERBATIM_DOCUMENT_RULE}, "verbatim_document"),
        ({"reason": Reason.MESSAGE_TYPE_NOT_SCORED}, "message_type_not_scored"),
        ({"score": 3.0, "refusal": RefusalKind.FULL}, "refusal"),
    ],
)
@pytest.mark.parametrize(("pauses", "code"), [(ALL, "sending_paused"), (UNREAD, "pauses_unknown")])
def test_what_would_be_sent_is_reviewed_and_its_first_reason_is_the_pause(pauses, code, answer, reason):
    assert under(Pauses(), **answer).decision is Decision.AUTO_SEND
    decided = under(pauses, **answer)
    assert (decided.decision, decided.reasons) == (Decision.REVIEW, (code, reason))
    assert decided.policy_version == SENDING.identity


def test_a_pause_covers_what_a_judge_would_send():
    decided = under(ALL, Policy(), asked=(opinion(),), score=3.0)
    assert decided.decision is Decision.REVIEW
    assert decided.reasons == ("sending_paused", "judged_true", "middle_score")


_MEASURED = [each for each in REASONS if each not in (Reason.SENDING_PAUSED, Reason.PAUSES_UNKNOWN)]


@given(
    score=st.none() | st.floats(1, 5),
    reason_=st.sampled_from(_MEASURED),
    refuses=st.sampled_from(list(RefusalKind)),
    gaps=st.lists(st.sampled_from(_UNDECIDABLE), max_size=1),
    label=st.sampled_from([None, *Label]),
    kind=st.sampled_from(list(MessageType)),
    language=st.sampled_from(["nl", "en", None]),
)
@pytest.mark.parametrize("pauses", [ALL, UNREAD])
def test_a_pause_sends_nothing_and_changes_nothing_else(
    pauses, score, reason_, refuses, gaps, label, kind, language
):
    answer = {"score": score, "reason": reason_, "refusal": refuses, "degraded": tuple(gaps)}
    without = under(Pauses(), SENDING, kind, language, (opinion(label),), **answer)
    decided = under(pauses, SENDING, kind, language, (opinion(label),), **answer)
    if without.decision is Decision.AUTO_SEND:
        assert decided.decision is Decision.REVIEW
        assert decided.reasons[1:] == without.reasons
    else:
        assert decided == without


@pytest.mark.parametrize(
    ("scope", "covered"),
    [
        (PauseScope(), {("binary", "nl"), ("binary", "en"), ("error", "nl"), ("binary", None)}),
        (PauseScope(MessageType.BINARY), {("binary", "nl"), ("binary", "en"), ("binary", None)}),
        (PauseScope(language="nl"), {("binary", "nl"), ("error", "nl"), ("binary", None)}),
        (PauseScope(MessageType.BINARY, "nl"), {("binary", "nl"), ("binary", None)}),
    ],
)
def test_a_pause_covers_its_type_and_language_and_what_may_be_in_that_language(scope, covered):
    pauses = Pauses(frozenset({scope}))
    for kind, language in (("binary", "nl"), ("binary", "en"), ("error", "nl"), ("binary", None)):
        decided = under(pauses, kind=MessageType(kind), language=language, score=4.5)
        assert (decided.decision is Decision.REVIEW) is ((kind, language) in covered)


def test_every_pause_counts():
    pauses = Pauses(frozenset({PauseScope(MessageType.ERROR), PauseScope(language="en")}))
    answers = [{"language": "en"}, {"kind": MessageType.ERROR}, {}]
    decisions = [under(pauses, score=4.5, **answer).decision for answer in answers]
    assert decisions == [Decision.REVIEW, Decision.REVIEW, Decision.AUTO_SEND]


def test_a_known_pause_is_the_reason_where_another_could_not_be_read():
    unread = Pauses(frozenset({PauseScope(MessageType.ERROR)}), known=False)
    assert under(unread, kind=MessageType.ERROR, score=4.5).reasons[0] == "sending_paused"
    assert under(unread, score=4.5).reasons[0] == "pauses_unknown"


def test_a_policy_can_pause_from_the_start_by_type_and_language():
    nothing, dutch = Policy(pause=True), Policy(overrides=(Override(language="nl", pause=True),))
    quoted = {"score": 5.0, "reason": VERBATIM_DOCUMENT_RULE}
    assert under(Pauses(), nothing, **quoted).reasons == ("sending_paused", "verbatim_document")
    assert under(Pauses(), dutch, **quoted).decision is Decision.REVIEW
    assert under(Pauses(), dutch, language="en", **quoted).decision is Decision.AUTO_SEND
    assert (nothing.paused_scopes, dutch.paused_scopes) == ({PauseScope()}, {PauseScope(language="nl")})
    but_english = Policy(pause=True, overrides=(Override(language="en", pause=False),))
    assert under(Pauses(), but_english, language="en", **quoted).decision is Decision.AUTO_SEND
    assert under(ALL, but_english, language="en", **quoted).decision is Decision.REVIEW
    assert Policy(pause=True).identity != Policy().identity


@pytest.mark.parametrize("language", ["dutch", "NL", "*", ""])
def test_a_pause_of_what_can_be_no_language_is_refused(language):
    with pytest.raises(ValueError, match="two lowercase letters"):
        PauseScope(language=language)


def test_what_could_not_be_checked_comes_after_the_refusal_that_is_reviewed_all_the_same():
    assert decide(refusal=RefusalKind.FULL, degraded=("x", "y")) == ("review", ("refusal", "x", "y"))
    assert decide(refusal=RefusalKind.FULL, degraded=("x", "context_missing")) == (
        "review",
        ("context_missing", "x"),
    )


def test_the_most_informative_gap_leads_the_reasons():
    ranked = "context_insufficient", "retrieval_unavailable", "context_missing", "context_language_differs"
    for first, second in pairwise((*ranked, "documents_stale")):
        assert decide(score=3.0, degraded=(second, first))[1] == (first, second)


def test_an_answer_without_a_score_of_which_something_was_not_checked_is_reviewed_for_that():
    reason = Reason.NO_APPLICABLE_FEATURE
    assert decide(reason=reason, degraded=("x",)) == ("review", ("x", "no_applicable_feature"))
    assert decide(score=3.0, degraded=("x",)) == ("review", ("middle_score", "x"))
    assert decide() == ("review", ("no_applicable_feature",))


def test_what_is_sent_from_a_score_on_and_blocked_below_one_holds_for_that_score_itself():
    policy = Policy(auto_send_at=4.0, block_below=2.0)
    assert [decide(policy, score=each)[0] for each in (1.99, 2.0, 3.99, 4.0)] == [
        *("blocked", "review", "review", "auto_send")
    ]


def test_an_opinion_that_is_exactly_as_sure_as_is_asked_for_decides():
    policy = Policy(send_confidence=0.7, block_confidence=0.8)
    assessment = ScoredAnswer(3.0, MessageType.BINARY, "nl")
    sure = {0.69: False, 0.7: True, 0.8: True}
    assert {each: policy.is_settled(assessment, [opinion(Label.TRUE, each)]) for each in sure} == sure
    sure = {0.7: False, 0.79: False, 0.8: True}
    assert {each: policy.is_settled(assessment, [opinion(Label.FALSE, each)]) for each in sure} == sure
    assert policy.is_settled(assessment, [opinion(Label.NOT_GIVEN, 0.7)])
    assert not policy.is_settled(assessment, [])


def test_thresholds_may_be_at_the_ends_of_their_range():
    Policy(block_below=1.0, auto_send_at=5.0)
    Policy(send_confidence=1.0, block_confidence=1.0)


def test_a_reason_that_several_give_is_told_once():
    stale = {"degraded": ("documents_stale", "x"), "reason": Reason.DOCUMENTS_STALE}
    assert decide(score=3.0, **stale)[1] == ("documents_stale", "x")


def test_thanks_are_sent_although_nothing_was_found_for_them_and_guides_are_not():
    for gap in (Reason.CONTEXT_INSUFFICIENT, Reason.RETRIEVAL_UNAVAILABLE, Reason.DOCUMENTS_STALE):
        assert decide(score=5.0, reason=COURTESY_RULE, degraded=(gap,)) == ("auto_send", ("courtesy", gap))
        assert decide(score=5.0, reason=VERBATIM_DOCUMENT_RULE, degraded=(gap,))[0] == "review"
    assert decide(score=5.0, reason=COURTESY_RULE, degraded=(Reason.SCORING_TIMEOUT,))[0] == "review"


KNOWING = Policy(known_answers=True, auto_send_at=4.0)


def known(
    of: Reason | None, policy: Policy = KNOWING, pauses: Pauses | None = None, **fields: object
) -> tuple[str, tuple[str, ...]]:
    scored = ScoredAnswer(**{"score": 3.0, "message_type": MessageType.BINARY, "language": "nl", **fields})
    decided = policy.decide(scored, [opinion(Label.FALSE, 1.0)], pauses or Pauses(), of)
    return decided.decision, decided.reasons


def test_a_person_comes_before_checks_and_judges():
    assert known(None) == ("blocked", ("judged_untrue", "middle_score"))
    assert known(Reason.KNOWN_TRUE) == ("auto_send", ("known_true", "judged_untrue", "middle_score"))
    assert known(Reason.KNOWN_TRUE, score=1.0, reason=UNDEFINED_COMPONENT_RULE)[0] == "auto_send"
    assert known(Reason.KNOWN_UNTRUE, score=5.0, reason=VERBATIM_DOCUMENT_RULE)[0] == "blocked"


def test_a_pause_comes_before_what_a_person_said():
    for pauses, reason in (
        (Pauses(known=False), "pauses_unknown"),
        (Pauses(frozenset({PauseScope()})), "sending_paused"),
    ):
        assert known(Reason.KNOWN_TRUE, pauses=pauses)[1][:2] == (reason, "known_true")
        assert known(Reason.KNOWN_UNTRUE, pauses=pauses)[0] == "blocked"
    paused = known(Reason.KNOWN_TRUE, replace(KNOWING, pause=True))
    assert (paused[0], paused[1][0]) == ("review", "sending_paused")


def test_while_it_is_off_what_is_known_counts_for_nothing():
    assert known(Reason.KNOWN_TRUE, Policy()) == known(None, Policy())
