"""The tables of opinions over small examples that are computed by hand."""

import json
import math
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.evaluation.cases import EvaluationCase
from scoring.evaluation.opinion_accuracy import JudgedCase, dimensions, flag_rows, label_table
from scoring.evaluation.opinion_report import (
    Confidence,
    LabelFlipping,
    Simulation,
    evaluate_judges,
    flip_opinion,
    simulate,
    unflipped_result,
)
from scoring.evaluation.opinion_routing import (
    costs,
    curve,
    decide_by_both,
    decide_by_opinion,
    rankings,
    sending_rows,
)
from scoring.policy import Policy
from scoring.scorer.profile import RULES_BY_KIND
from scoring.values.exchange import Decision, MessageType, RefusalKind
from scoring.values.opinion import Label, Opinion, UnsureReason, Usage
from scoring.values.rules import Reason
from scoring.values.scored_answer import ScoredAnswer

TRUE, FALSE, NOT_GIVEN = Label.TRUE, Label.FALSE, Label.NOT_GIVEN
SENT, REVIEW, BLOCKED = Decision.AUTO_SEND, Decision.REVIEW, Decision.BLOCKED


SCORES = {TRUE: 5.0, FALSE: 1.0}


def opinion(label: Label | None = TRUE, confidence: float = 0.9, **other: object) -> Opinion:
    known = {"score": SCORES.get(label), "unsure": None if label else UnsureReason.NO_REPLY, **other}
    return Opinion("single", ("m",), "p", label, confidence if label else 0.0, **known)


def judged(rating: int | None, given: Opinion, score: float | None = None, **other: object) -> JudgedCase:
    known = {
        "answer_id": "a-1",
        "recognised": MessageType.BINARY,
        "language": "nl",
        "decision": REVIEW,
        "reasons": ("middle_score",),
    }
    return JudgedCase(EvaluationCase(score=score, rating=rating, **{**known, **other}), given)


def percent(*shares: object) -> list[str | None]:
    return [f"{each.count}/{each.total}" if each else None for each in shares]


@pytest.mark.parametrize(
    ("rating", "label", "truth", "consistent"),
    [
        (5, None, TRUE, True),
        (4, None, TRUE, None),
        (3, None, None, False),
        (2, None, FALSE, False),
        (1, None, FALSE, False),
        (None, None, None, None),
        (4, NOT_GIVEN, NOT_GIVEN, None),
        (3, FALSE, FALSE, False),
    ],
)
def test_a_rating_tells_the_label_unless_people_have_given_one(rating, label, truth, consistent):
    found = judged(rating, opinion(), label=label)
    assert (found.truth, found.consistent) == (truth, consistent)
    assert judged(rating, opinion(), consistent=False).consistent is False


def test_table_1_is_the_share_right_of_each_label_and_their_mean():
    """TRUE 2 of 3, FALSE 1 of 2 with one unsure, NOT_GIVEN 1 of 1: (2/3 + 1/2 + 1) / 3; a 3 is left out."""
    table = label_table(
        [
            judged(5, opinion(TRUE)),
            judged(4, opinion(TRUE)),
            judged(5, opinion(FALSE)),
            judged(1, opinion(FALSE)),
            judged(2, opinion(None)),
            judged(3, opinion(TRUE)),
            judged(4, opinion(NOT_GIVEN), label=NOT_GIVEN),
        ]
        * 10
    )
    assert (table.answers, table.left_out, table.unsure) == (60, 10, 10)
    assert [(row.label, *percent(row.accuracy)) for row in table.rows] == [
        (TRUE, "20/30"),
        (FALSE, "10/20"),
        (NOT_GIVEN, "10/10"),
    ]
    assert table.macro
    assert table.macro.value == pytest.approx((2 / 3 + 1 / 2 + 1) / 3)
    assert table.macro.low is not None
    assert table.macro.low < table.macro.value
    assert {(each.truth, each.label): each.count for each in table.confusions}[FALSE, None] == 10


def test_the_mean_is_over_the_labels_that_there_are():
    table = label_table([judged(5, opinion(TRUE)), judged(5, opinion(FALSE)), judged(5, opinion(TRUE))])
    assert table.macro
    assert table.macro.value == pytest.approx(2 / 3)
    assert label_table([]).macro is None


def test_figure_6_counts_wrong_labels_below_a_confidence_and_all_that_a_person_sees():
    """Wrong are .5 and .8; without a label is no wrong label, but seen; a 3 cannot be wrong."""
    opinions = [
        judged(5, opinion(FALSE, 0.5)),
        judged(1, opinion(TRUE, 0.8)),
        judged(5, opinion(TRUE, 0.6)),
        judged(5, opinion(None)),
        judged(3, opinion(TRUE, 0.7)),
    ]
    rows = flag_rows(opinions, (0.5, 0.6, 0.8, 0.81))
    assert [percent(row.flagged, row.reviewed) for row in rows] == [
        ["0/2", "1/5"],
        ["1/2", "2/5"],
        ["1/2", "4/5"],
        ["2/2", "5/5"],
    ]
    assert flag_rows([judged(5, opinion())])[0].flagged is None


def test_table_ii_compares_the_dimensions_where_opinion_and_people_have_them():
    """All of it must be there; half of the questions are enough. 4 says nothing of consistency."""
    found = dimensions(
        [
            judged(5, opinion(consistency=1.0, relevance=0.5), relevant=True),
            judged(5, opinion(consistency=0.9, relevance=0.4), relevant=False),
            judged(1, opinion(FALSE, consistency=0.0, relevance=1.0), relevant=False),
            judged(4, opinion(consistency=1.0, relevance=1.0)),
            judged(1, opinion(FALSE)),
        ]
    )
    assert percent(found.consistency, found.relevance) == ["2/3", "2/3"]
    assert dimensions([judged(1, opinion())]).relevance is None


def test_table_v_has_means_and_nothing_of_what_no_reply_told():
    """Tokens 120 and 280, seconds 1 and 3: 200 tokens, 2 seconds, a hundredth a token."""
    used = [Usage(1, 100, 20, 1.0), Usage(3, 200, 80, 3.0)]
    found = costs([opinion(usage=each) for each in used])
    means = [each and each.value for each in (found.requests, found.tokens, found.tokens_out, found.seconds)]
    assert means == [2, 200, 50, 2]
    assert found.seconds_per_token == pytest.approx(0.01)
    untimed = costs([opinion(usage=replace(each, seconds=0.0)) for each in used])
    assert (untimed.seconds, untimed.seconds_per_token) == (None, None)
    assert costs([]).requests is None


def test_rankings_put_the_judges_scores_in_the_place_of_the_checks():
    """By the checks 3 4 1 (one has none) against 1 3 5: ranks 2 3 1, so -.5; by the judge in full order."""
    found = rankings(
        [
            judged(1, opinion(FALSE, score=1.0)),
            judged(3, opinion(TRUE, score=3.0), score=4.0),
            judged(5, opinion(TRUE, score=5.0), score=1.0),
            judged(None, opinion(), score=2.0),
        ]
    )
    assert found.answers == 3
    values = [each and round(each.value, 6) for each in (found.checks.spearman, found.judge.spearman)]
    assert values == [-0.5, 1]
    assert found.gain
    assert found.gain.value == pytest.approx(1.5)
    assert [each.auroc and each.auroc.value for each in (found.checks, found.judge)] == [0, 1]


def test_an_opinion_without_a_score_leaves_that_of_the_checks():
    answers = [judged(rating, opinion(None), score=float(rating)) for rating in (1, 2, 5)]
    found = rankings(answers)
    assert found.judge == found.checks


@pytest.mark.parametrize(
    ("given", "known", "alone", "both"),
    [
        (opinion(TRUE), {}, SENT, SENT),
        (opinion(FALSE), {}, BLOCKED, BLOCKED),
        (opinion(NOT_GIVEN), {}, REVIEW, REVIEW),
        (opinion(None), {}, REVIEW, REVIEW),
        (opinion(TRUE, 0.89), {}, REVIEW, REVIEW),
        (opinion(FALSE, 0.89), {}, REVIEW, REVIEW),
        (opinion(TRUE), {"reasons": ("denied_request",)}, SENT, REVIEW),
        (opinion(FALSE), {"reasons": ("denied_request",)}, BLOCKED, BLOCKED),
        (opinion(TRUE, score=3.9), {}, REVIEW, REVIEW),
        (opinion(FALSE, score=2.1), {}, REVIEW, REVIEW),
        (opinion(FALSE, shortened=True), {}, REVIEW, REVIEW),
        (opinion(TRUE), {"reasons": ("message_type_not_scored",)}, SENT, REVIEW),
        (opinion(TRUE), {"degraded": ("context_missing",)}, SENT, REVIEW),
        (opinion(FALSE), {"reasons": ("refusal",)}, BLOCKED, REVIEW),
        (opinion(TRUE), {"decision": BLOCKED, "reasons": ("undefined_component",)}, SENT, BLOCKED),
        (opinion(TRUE), {"decision": SENT, "reasons": ("verbatim_document",)}, SENT, SENT),
        (opinion(FALSE), {"decision": SENT, "reasons": ("verbatim_document",)}, BLOCKED, REVIEW),
        (opinion(TRUE, 0.89), {"decision": SENT, "reasons": ("verbatim_document",)}, REVIEW, REVIEW),
    ],
)
def test_the_checks_decide_first_and_the_opinion_on_what_they_leave(given, known, alone, both):
    answer = judged(5, given, **known)
    assert (decide_by_opinion(answer, 0.9), decide_by_both(answer, 0.9)) == (alone, both)


@given(
    score=st.none() | st.floats(1, 5),
    because=st.sampled_from([None, *Reason, *dict.fromkeys(filter(None, RULES_BY_KIND.values()))]),
    refuses=st.sampled_from(list(RefusalKind)),
    gap=st.sampled_from([(), (Reason.CONTEXT_MISSING,), (Reason.TRANSLATION_UNAVAILABLE,)]),
    label=st.sampled_from([None, *Label]),
    confidence=st.floats(0, 1),
    shortened=st.booleans(),
    tau=st.sampled_from([0.1, 0.5, 0.9]),
)
def test_checks_and_opinion_together_decide_as_the_shipped_policy_does(
    score, because, refuses, gap, label, confidence, shortened, tau
):
    """But that a worker may still block what could not be checked whole, which is left to people here."""
    assessment = ScoredAnswer(score, MessageType.BINARY, "nl", because, gap, refuses)
    given_ = opinion(label, confidence, shortened=shortened)
    alone = Policy().decide(assessment)
    answer = judged(5, given_, decision=alone.decision, reasons=alone.reasons, degraded=gap)
    policy = Policy(send_confidence=tau, block_confidence=tau)
    expected = policy.decide(assessment, [given_]).decision
    found = decide_by_both(answer, tau)
    assert found is expected or (gap and (found, expected) == (REVIEW, BLOCKED))


def test_sending_counts_true_and_untrue_answers_and_what_is_untrue_among_the_sent():
    """At .8 three are sent: a 5, a 3 and a 1; at .95 none."""
    answers = [
        judged(5, opinion(TRUE)),
        judged(4, opinion(FALSE)),
        judged(3, opinion(TRUE)),
        judged(1, opinion(TRUE, 0.8)),
        judged(2, opinion(FALSE)),
        judged(None, opinion(TRUE)),
    ]
    low, high = sending_rows(answers, decide_by_both, (0.8, 0.95))
    assert percent(low.true_sent, low.untrue_sent, low.untrue_of_sent) == ["1/2", "1/2", "1/3"]
    assert percent(low.untrue_blocked, low.true_blocked, low.reviewed) == ["1/2", "1/2", "0/5"]
    assert [percent(row.auto_send) for row in low.routing.ratings] == [
        ["1/1"],
        ["0/1"],
        ["1/1"],
        ["0/1"],
        ["1/1"],
    ]
    assert percent(high.true_sent, high.untrue_of_sent, high.reviewed) == ["0/2", None, "5/5"]


def test_the_cascade_asks_first_about_no_score_and_then_about_scores_near_the_middle():
    """In order: none, 3, 3.5, 1; each has a true opinion that sends it, but the checks have blocked one."""
    scores = (1.0, 3.5, None, 3.0)
    answers = [
        judged(5, opinion(TRUE, score=5.0), score=score, decision=BLOCKED if score == 1.0 else REVIEW)
        for score in scores
    ]
    points = curve(answers, 0.9, (0.0, 0.25, 0.5, 1.0))
    assert [point.asked for point in points] == [0, 1, 2, 4]
    assert [percent(point.sending.true_sent) for point in points] == [["0/4"], ["1/4"], ["2/4"], ["3/4"]]
    assert curve([judged(None, opinion())], 0.9) == ()


def test_the_curve_ends_where_every_answer_is_asked_about():
    pairs = ((1, 4.0), (2, None), (4, 2.0), (5, 1.0))
    answers = [judged(rating, opinion(TRUE, score=float(rating)), score=score) for rating, score in pairs]
    first, last = curve(answers, 0.9, (0.0, 1.0))
    found = rankings(answers)
    values = [each.spearman and each.spearman.value for each in (first.ranking, last.ranking)]
    assert values == [each.spearman and each.spearman.value for each in (found.checks, found.judge)]


class Chance:
    """Chance that always comes out the same."""

    def __init__(self, number: float, confidence: float = 0.5) -> None:
        self.number, self.confidence = number, confidence

    def random(self) -> float:
        return self.number

    def beta(self, first: float, second: float) -> float:
        assert first / (first + second) == pytest.approx(0.9)
        return self.confidence


@pytest.mark.parametrize(("label", "other"), [(TRUE, FALSE), (FALSE, TRUE), (NOT_GIVEN, TRUE)])
def test_an_overconfident_model_is_turned_round_and_as_sure_as_before(label, other):
    flipping = LabelFlipping(0.1, Confidence.OVERCONFIDENT)
    given = opinion(label, 0.8, score=4.5)
    wrong = flip_opinion(given, flipping, Chance(0.09))
    assert (wrong.label, wrong.score, wrong.confidence) == (other, 1.5, 0.8)
    assert flip_opinion(given, flipping, Chance(0.1)) == given


def test_an_honest_model_is_wrong_as_often_as_its_confidence_leaves_room_for():
    flipping = LabelFlipping(0.1, Confidence.HONEST)
    wrong, right = (flip_opinion(opinion(), flipping, Chance(number, 0.7)) for number in (0.29, 0.31))
    assert [(each.label, each.confidence) for each in (wrong, right)] == [(FALSE, 0.7), (TRUE, 0.7)]
    unsure = opinion(None)
    assert flip_opinion(unsure, flipping, Chance(0.0)) is unsure


@pytest.mark.parametrize("kind", Confidence)
def test_about_so_many_opinions_are_turned_round_as_was_asked_for(kind):
    chance = np.random.default_rng(1)
    flipping = LabelFlipping(0.2, kind)
    drawn = [flip_opinion(opinion(), flipping, chance) for _ in range(4_000)]
    share = sum(each.label is FALSE for each in drawn) / len(drawn)
    assert abs(share - 0.2) < 4 * math.sqrt(0.16 / 4_000)
    sure = [each for each in drawn if each.confidence >= 0.9]
    wrong = sum(each.label is FALSE for each in sure) / len(sure)
    assert wrong < 0.05 if kind is Confidence.HONEST else wrong == share


def answers_of(*ratings: int) -> list[JudgedCase]:
    labels = {rating: TRUE if rating > 3 else FALSE for rating in ratings}
    return [judged(rating, opinion(labels[rating], score=float(rating))) for rating in ratings]


def test_a_model_that_is_never_wrong_is_the_one_there_is_and_one_that_always_is_the_opposite():
    answers = answers_of(1, 2, 4, 5)
    never, always = (
        simulate(answers, LabelFlipping(share, Confidence.OVERCONFIDENT), 0.9, draws=3)
        for share in (0.0, 1.0)
    )
    real = unflipped_result(answers, 0.9)
    names = ("spearman", "auroc", "true_sent", "untrue_sent", "untrue_of_sent", "untrue_blocked")
    means = [[getattr(each, name).value for name in names] for each in (real, never, always)]
    assert means == [[1, 1, 1, 0, 0, 1], [1, 1, 1, 0, 0, 1], [-1, 0, 0, 1, 1, 0]]
    assert real.true_sent
    assert real.true_sent.low is None


def test_the_same_seed_gives_the_same_figures_and_another_seed_others():
    answers = answers_of(1, 1, 2, 2, 4, 4, 5, 5)
    flipping = LabelFlipping(0.3, Confidence.HONEST)
    first, again, other = (simulate(answers, flipping, 0.9, seed, draws=20) for seed in (1, 1, 2))
    assert first == again != other


OPINIONS = st.builds(
    opinion,
    st.none() | st.sampled_from(Label),
    st.floats(0, 1),
    consistency=st.none() | st.floats(0, 1),
    relevance=st.none() | st.floats(0, 1),
    usage=st.builds(Usage, st.integers(0, 9), st.integers(0, 99), st.integers(0, 99), st.floats(0, 9)),
)
JUDGED = st.lists(
    st.builds(
        judged,
        st.none() | st.integers(1, 5),
        OPINIONS,
        st.none() | st.floats(1, 5),
        decision=st.sampled_from(Decision),
        label=st.none() | st.sampled_from(Label),
        relevant=st.none() | st.booleans(),
    ),
    min_size=1,
    max_size=6,
)


@settings(deadline=None, max_examples=5)
@given(JUDGED)
def test_any_opinions_give_figures_that_are_json_and_the_same_each_time(answers):
    pairs = {"judge": [(each.case, each.opinion) for each in answers]}
    simulation = Simulation(tuple(LabelFlipping(0.1, kind) for kind in Confidence))
    first, again = (
        json.dumps([asdict(run) for run in evaluate_judges(pairs, 0.9, simulation)], allow_nan=False)
        for _ in range(2)
    )
    assert first == again
