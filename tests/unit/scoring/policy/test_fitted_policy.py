"""A fitted policy decides what score and opinion would send, and nothing else changes."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.features.components_defined import UNDEFINED_COMPONENT_RULE
from scoring.features.quotation import COURTESY_RULE, VERBATIM_DOCUMENT_RULE
from scoring.policy import SETTINGS_POLICY, ActivePolicy, Pauses, PauseScope, Policy
from scoring.policy.risk import SHIPPED_RISK, RiskModel, rating_group, rating_versions, risk_inputs
from scoring.scorer.profile import RULES_BY_KIND
from scoring.values.exchange import Decision, Evidence, FeatureValue, MessageType, RefusalKind
from scoring.values.opinion import Label, Mistake, Opinion
from scoring.values.rules import Reason
from scoring.values.scored_answer import PolicyDecision, ScoredAnswer
from tests.support.policies import a_certificate, a_fitted_policy

SENDING = Policy(auto_send_at=4.5, known_answers=True)
GOOD = ScoredAnswer(4.6, MessageType.INSTRUCTION, "nl", profile="truthgate")
MIDDLE = replace(GOOD, score=3.2)
VERSIONS = tuple(rating_versions("truthgate", GOOD.scorer_version, "m-9", ()))
NAME = "fitted-1"


def opinion(label: Label = Label.TRUE, confidence: float = 0.95, **values: object) -> Opinion:
    score = {Label.TRUE: 5.0, Label.FALSE: 1.0, Label.NOT_GIVEN: 5.0}[label]
    return Opinion("single", ("m-1",), "v1", label, confidence, **{"score": score, **values})


ASKED = tuple(rating_versions("truthgate", GOOD.scorer_version, "m-9", [opinion()]))


def active(threshold: float = 0.4, **certificate: object) -> ActivePolicy:
    values = {"threshold": threshold, "versions": (*VERSIONS, *ASKED), **certificate}
    return ActivePolicy(NAME, a_fitted_policy(a_certificate(**values)))


COVERED, NOT_COVERED = active(), active(0.01)
WITHDRAWN = replace(COVERED, objection=Reason.POLICY_WITHDRAWN)
UNKNOWN = replace(COVERED, objection=Reason.POLICY_UNKNOWN)
OF_GROUP = replace(COVERED, withdrawn_groups=frozenset({"instruction nl"}))


def decided(
    policy: ActivePolicy,
    answer: ScoredAnswer = GOOD,
    opinions: tuple[Opinion, ...] = (),
    settings: Policy = SENDING,
    pauses: Pauses = Pauses(),  # noqa: B008 - frozen
    known: Reason | None = None,
) -> PolicyDecision:
    return settings.decide(answer, opinions, pauses, known, policy, characters=256, model="m-9")


def outcome(*arguments: object, **named: object) -> tuple[str, tuple[str, ...]]:
    found = decided(*arguments, **named)  # type: ignore[arg-type]
    return found.decision, found.reasons


def test_the_inputs_of_these_tests_are_on_the_sides_of_the_threshold_that_they_claim():
    risks = [SHIPPED_RISK.risk(risk_inputs(each, (), 256)) for each in (GOOD, MIDDLE)]
    assert risks == pytest.approx([0.310, 0.475], abs=0.001)
    assert SHIPPED_RISK.risk(risk_inputs(MIDDLE, [opinion()], 256)) == pytest.approx(0.0198, abs=0.001)


@pytest.mark.parametrize(
    ("policy", "decision", "reasons"),
    [
        (SETTINGS_POLICY, "auto_send", ("high_score",)),
        (COVERED, "auto_send", ("low_risk", "high_score")),
        (NOT_COVERED, "review", ("risk_not_covered", "high_score")),
        (WITHDRAWN, "review", ("policy_withdrawn", "high_score")),
        (OF_GROUP, "review", ("policy_withdrawn", "high_score")),
        (UNKNOWN, "review", ("policy_unknown", "high_score")),
        (ActivePolicy(NAME, None, Reason.POLICY_UNKNOWN), "review", ("policy_unknown", "high_score")),
        (ActivePolicy(objection=Reason.POLICY_UNKNOWN), "review", ("policy_unknown", "high_score")),
        (ActivePolicy(objection=Reason.POLICY_WITHDRAWN), "review", ("policy_withdrawn", "high_score")),
        (ActivePolicy(NAME, a_fitted_policy()), "review", ("risk_not_covered", "high_score")),
    ],
)
def test_what_a_score_would_send_is_sent_as_the_policy_says(policy, decision, reasons):
    found = decided(policy)
    assert (found.decision, found.reasons) == (decision, reasons)
    assert found.policy_version == (policy.version or SENDING.identity)


@pytest.mark.parametrize(
    ("policy", "decision", "reasons"),
    [
        (COVERED, "auto_send", ("low_risk", "judged_true", "middle_score")),
        (NOT_COVERED, "review", ("risk_not_covered", "judged_true", "middle_score")),
        (WITHDRAWN, "review", ("policy_withdrawn", "judged_true", "middle_score")),
    ],
)
def test_so_is_what_an_opinion_would_send(policy, decision, reasons):
    assert outcome(policy, MIDDLE, (opinion(),)) == (decision, reasons)


def test_a_certificate_sends_what_the_settings_leave_to_a_person_too():
    both = active(0.48)
    assert outcome(both, MIDDLE) == ("auto_send", ("low_risk", "middle_score"))
    assert outcome(COVERED, MIDDLE) == ("review", ("middle_score",))
    for objection, reason in ((WITHDRAWN, "policy_withdrawn"), (UNKNOWN, "policy_unknown")):
        withdrawn = replace(both, objection=objection.objection)
        assert outcome(withdrawn, MIDDLE) == ("review", (reason, "middle_score"))
    assert outcome(WITHDRAWN, MIDDLE) == ("review", ("middle_score",))


@pytest.mark.parametrize(
    "change",
    [
        {"groups": ("binary nl",)},
        {"versions": tuple(each for each in VERSIONS if not each.startswith("model="))},
        {"versions": tuple(each for each in VERSIONS if not each.startswith("judge="))},
    ],
)
def test_another_group_or_version_is_not_covered(change):
    assert outcome(active(**change))[1][0] == "risk_not_covered"


def test_a_withdrawn_group_leaves_the_others():
    english = replace(GOOD, language="en")
    assert outcome(OF_GROUP, english) == ("auto_send", ("low_risk", "high_score"))


OBJECTING = next(kind for kind, rule in RULES_BY_KIND.items() if rule == UNDEFINED_COMPONENT_RULE)


@pytest.mark.parametrize(
    "answer",
    [
        replace(GOOD, degraded=("verifier_timeout",)),
        replace(GOOD, score=None, reason=Reason.MESSAGE_TYPE_NOT_SCORED),
        replace(GOOD, refusal=RefusalKind.FULL),
        replace(GOOD, features=(FeatureValue("x", 0.0, (Evidence(OBJECTING, "Open", 0, 4),)),)),
    ],
)
def test_no_certificate_sends_what_checks_object_to_could_not_check_or_see_refuse(answer):
    everything = active(1.0)
    assert outcome(everything, replace(answer, reason=answer.reason))[0] == "review"


def test_unscored_types_and_declining_answers_need_a_certificate_that_no_fit_gives():
    keen = replace(SENDING, unscored=Decision.AUTO_SEND, declined=Decision.AUTO_SEND, ask_never=())
    unscored = replace(GOOD, score=None, reason=Reason.MESSAGE_TYPE_NOT_SCORED)
    assert outcome(SETTINGS_POLICY, unscored, settings=keen)[0] == "auto_send"
    assert outcome(active(1.0), unscored, settings=keen)[1][0] == "risk_not_covered"
    declining, asked = replace(MIDDLE, refusal=RefusalKind.FULL), (opinion(Label.NOT_GIVEN),)
    assert outcome(SETTINGS_POLICY, declining, asked, keen) == ("auto_send", ("judged_declined", "refusal"))
    assert outcome(active(1.0), declining, asked, keen)[1][0] == "risk_not_covered"


BLOCKING = active(0.3, decision=Decision.BLOCKED)


def test_a_certificate_blocks_what_it_covers_unless_the_answer_refuses_or_a_document_is_missing():
    doubtful = replace(MIDDLE, score=1.5)
    assert outcome(BLOCKING, doubtful) == ("blocked", ("high_risk", "middle_score"))
    assert outcome(BLOCKING, GOOD) == ("blocked", ("high_risk", "high_score"))
    assert outcome(BLOCKING, replace(doubtful, refusal=RefusalKind.FULL)) == ("review", ("refusal",))
    missing = replace(doubtful, degraded=("context_missing",))
    assert outcome(BLOCKING, missing) == ("review", ("context_missing",))
    for objection in (Reason.POLICY_WITHDRAWN, Reason.POLICY_UNKNOWN):
        withdrawn = replace(BLOCKING, objection=objection)
        assert outcome(withdrawn, doubtful) == ("review", ("middle_score",))


ANY_POLICY = st.sampled_from([COVERED, NOT_COVERED, WITHDRAWN, UNKNOWN, OF_GROUP, BLOCKING, active(1.0)])


@given(
    ANY_POLICY,
    st.sampled_from(
        [
            {"score": 5.0, "reason": VERBATIM_DOCUMENT_RULE},
            {"score": 5.0, "reason": COURTESY_RULE},
            {"score": 5.0, "reason": COURTESY_RULE, "degraded": ("context_missing",)},
            {"score": 1.0, "reason": UNDEFINED_COMPONENT_RULE},
            {"score": 1.5},
            {"degraded": ("context_missing",)},
            {"degraded": ("documents_stale", "verifier_timeout")},
        ]
    ),
)
def test_rules_that_send_or_block_and_missing_documents_come_before_every_policy(policy, change):
    answer, strict = replace(GOOD, **change), replace(SENDING, block_below=2.0)
    assert outcome(policy, answer, settings=strict) == outcome(SETTINGS_POLICY, answer, settings=strict)


@given(ANY_POLICY)
def test_so_do_known_answers_opinions_that_block_and_refusals_that_are_sent(policy):
    known = outcome(policy, known=Reason.KNOWN_TRUE)
    assert known == ("auto_send", ("known_true", "high_score"))
    assert outcome(policy, known=Reason.KNOWN_UNTRUE)[0] == "blocked"
    blocked = outcome(policy, MIDDLE, (opinion(Label.FALSE),))
    assert blocked == ("blocked", ("judged_untrue", "middle_score"))
    refusing, sends = replace(GOOD, refusal=RefusalKind.FULL), replace(SENDING, refusal=Decision.AUTO_SEND)
    assert outcome(policy, refusing, settings=sends) == ("auto_send", ("refusal",))


def test_a_pause_comes_before_the_risk():
    paused = Pauses(frozenset({PauseScope()}))
    assert outcome(COVERED, pauses=paused) == ("review", ("sending_paused", "low_risk", "high_score"))
    assert outcome(WITHDRAWN, pauses=paused) == ("review", ("policy_withdrawn", "high_score"))


def test_the_risk_is_of_the_length_and_the_last_opinion():
    long = RiskModel("long", -1.0, (("length", 10.0),))
    certificate = a_certificate(long, threshold=0.3, versions=VERSIONS)
    policy = ActivePolicy(NAME, a_fitted_policy(certificate, model=long))
    sent = [
        SENDING.decide(GOOD, (), Pauses(), None, policy, characters=length, model="m-9").decision
        for length in (256, 512)
    ]
    assert sent == ["auto_send", "review"]
    reserved = opinion(mistakes=(Mistake.NUMBER,))
    assert outcome(COVERED, MIDDLE, (reserved,))[0] == "review"


labels = st.sampled_from(list(Label))


@given(
    st.floats(1, 5),
    st.floats(0, 1),
    st.lists(st.tuples(labels, st.floats(0.01, 1)), max_size=2),
    st.sampled_from([(), ("verifier_timeout",), ("context_missing",)]),
    st.sampled_from(list(RefusalKind)),
    st.sampled_from(["nl", "de", None]),
)
def test_what_is_sent_by_risk_is_what_the_thresholds_send(score, threshold, said, gaps, refusal, language):
    answer = replace(GOOD, score=score, degraded=gaps, refusal=refusal, language=language)
    opinions = tuple(opinion(label, confidence) for label, confidence in said)
    policy = active(threshold)
    found = decided(policy, answer, opinions)
    without = decided(SETTINGS_POLICY, answer, opinions)
    assert policy.fitted is not None
    covered = policy.fitted.decide(
        risk_inputs(answer, opinions, 256),
        rating_group(answer.message_type, language),
        rating_versions("truthgate", answer.scorer_version, "m-9", opinions),
        may_be_sent=not gaps and "refusal" not in without.reasons,
    )
    if without.decision is Decision.BLOCKED:
        assert found.decision is Decision.BLOCKED
    else:
        assert (found.decision is Decision.AUTO_SEND) is (covered is not None)
        assert (found.reasons[0] == "low_risk") is (covered is not None)
    assert found.reasons[-len(without.reasons) :] == without.reasons
