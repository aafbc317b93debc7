"""The paper's tables over small examples that are computed by hand."""

import json
import warnings
from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.evaluation.cases import CaseGroup, EvaluationCase
from scoring.evaluation.comparison import decision_table
from scoring.evaluation.correlation import agreement, correlation, deviation, feature_table, gain
from scoring.evaluation.message_types import type_table
from scoring.evaluation.report import report
from scoring.evaluation.routing import check_table, misrouted, routing, sending_table
from scoring.evaluation.statistics import Share, auroc, spearman
from scoring.values.exchange import Decision, MessageType
from scoring.values.opinion import Label

BINARY, INSTRUCTION, ERROR = MessageType.BINARY, MessageType.INSTRUCTION, MessageType.ERROR


def case(score: float | None = None, rating: int | None = None, **other: object) -> EvaluationCase:
    known = {
        "answer_id": "a-1",
        "recognised": BINARY,
        "language": "nl",
        "decision": Decision.REVIEW,
        "reasons": ("middle_score" if score else "message_type_not_scored",),
    }
    return EvaluationCase(score=score, rating=rating, **{**known, **other})


def types(*pairs: tuple[MessageType | None, MessageType]) -> list[EvaluationCase]:
    return [case(labelled=labelled, recognised=recognised) for labelled, recognised in pairs]


def test_each_type_has_its_f1_accuracy_precision_and_recall_and_all_is_weighed_by_the_labels():
    """Labels b b b i, found b b i i: F1 of b 4/5, of i 2/3, both weighed 3 to 1."""
    table = type_table(types((BINARY, BINARY), (BINARY, BINARY), (BINARY, INSTRUCTION), (INSTRUCTION,) * 2))
    rows = {row.name: row for row in table.rows}
    found = {
        name: [round(each.value, 4) for each in (row.f1, row.accuracy, row.precision, row.recall) if each]
        for name, row in rows.items()
    }
    assert found == {
        "all": [0.7667, 0.75, 0.875, 0.75],
        "all, types equal": [0.7333, 0.75, 0.75, 0.8333],
        "instruction": [0.6667, 0.75, 0.5, 1.0],
        "binary": [0.8, 0.75, 1.0, 0.6667],
        "binary or instruction": [1.0, 1.0, 1.0, 1.0],
    }
    assert (rows["binary"].labelled, rows["binary"].recognised) == (3, 2)
    assert [(each.labelled, each.recognised, each.count) for each in table.confusions] == [
        (INSTRUCTION, INSTRUCTION, 1),
        (BINARY, INSTRUCTION, 1),
        (BINARY, BINARY, 2),
    ]


def test_a_type_that_is_never_recognised_has_precision_0_and_questions_without_a_label_do_not_count():
    table = type_table(types((ERROR, BINARY), (ERROR, BINARY), (BINARY, BINARY), (None, ERROR)))
    error = next(row for row in table.rows if row.name == "error")
    assert (table.answers, error.labelled, error.recognised) == (3, 2, 0)
    assert [each and each.value for each in (error.f1, error.precision, error.recall)] == [0, 0, 0]


def test_without_any_label_table_iii_is_empty():
    assert type_table(types((None, BINARY))).rows == ()


def test_spearman_is_that_of_the_textbook():
    """Ranks 1 2 3 4 5 against 2 1 4 3 5: 1 - 6 * 4 / (5 * 24) = 0.8."""
    found = spearman([1, 2, 3, 4, 5] * 2, [20, 10, 40, 30, 50] * 2)
    assert found
    assert found.value == pytest.approx(0.8)
    assert found.low is not None
    assert found.high is not None
    assert -1 <= found.low <= found.value <= found.high <= 1


def test_fewer_than_ten_answers_of_a_kind_have_no_interval():
    """An AUROC of two against eight is 1 in every resample: [1, 1] would be a lie."""
    few = [spearman(range(9), range(9)), auroc([1.0, 1.5], range(2, 10)), auroc(range(9), range(10))]
    assert [each and (each.low, each.high) for each in few] == [(None, None)] * 3
    assert [each and each.value for each in few[:2]] == [1, 1]
    enough = auroc(range(10), range(5, 15))
    assert enough
    assert enough.low is not None


def test_where_more_than_5_of_100_resamples_are_undefined_there_is_no_interval():
    """One answer of ten differs: a resample lacks it in 35 of 100 cases, of thirty with five in 0.4."""
    rare, common = ([5] * (n - k) + [1] * k for n, k in ((10, 1), (30, 5)))
    found = [spearman(ratings, range(len(ratings))) for ratings in (rare, common)]
    assert [each and each.low is None for each in found] == [True, False]


def test_a_type_with_few_labels_has_no_interval_nor_has_the_mean_over_types():
    rows = type_table(types(*[(BINARY, BINARY)] * 12, *[(ERROR, ERROR)] * 2)).rows
    shown = {row.name: row.f1 is not None and row.f1.low is not None for row in rows}
    assert shown == {"all": True, "all, types equal": False, "binary": True, "error": False} | {
        name: True for name in shown if name.startswith("binary or")
    }


@pytest.mark.parametrize(
    ("scores", "ratings"),
    [([], []), ([1.0, 2.0], [1, 2]), ([1.0, 2.0, 3.0], [5, 5, 5]), ([2.0] * 4, [1] * 4)],
)
def test_where_nothing_differs_or_there_are_too_few_there_is_no_correlation_and_no_warning(scores, ratings):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = correlation([case(*pair) for pair in zip(scores, ratings, strict=True)])
    assert (found.answers, found.spearman, found.p) == (len(scores), None, None)


def test_what_is_counted_out_has_its_reason():
    cases = [
        case(3.0, 3),
        case(None, 1),
        case(4.0, None),
        case(2.0, 2, degraded=("translation_unavailable",)),
        case(None, 5, reasons=("context_missing",)),
        case(None, 4),
    ]
    found = correlation(cases)
    assert found.answers == 1
    assert {each.reason: each.count for each in found.counted_out} == {
        "message_type_not_scored": 2,
        "unrated": 1,
        "translation_unavailable": 1,
        "context_missing": 1,
    }


def test_the_gain_of_a_second_way_is_over_the_answers_that_both_ways_scored():
    first = [case(score, rating) for score, rating in ((4, 1), (3, 2), (2, 3), (1, 4), (None, 5))]
    second = [case(score, rating) for score, rating in ((1, 1), (2, 2), (3, 3), (4, 4), (5, 5))]
    found = gain(first, second)
    assert found.answers == 4
    assert found.difference
    assert found.difference.value == pytest.approx(2)


def test_table_v_counts_what_is_near_the_rating_and_on_which_side_of_3():
    scores = (1.0, 2.0, 2.2, 3.0, 5.0)
    worst = deviation([case(score, 1) for score in scores]).ratings[0]
    shares = (worst.within_margin, worst.score_1, worst.below_3, worst.above_3, worst.score_5)
    assert [share.count for share in shares if share] == [2, 1, 3, 1, 1]
    assert deviation([]).overall.within_margin is None


def test_decisions_are_counted_for_every_rated_answer_scored_or_not():
    cases = [
        case(5.0, 1, decision=Decision.AUTO_SEND),
        case(None, 1),
        case(1.0, 1, decision=Decision.BLOCKED),
        case(1.0, None, decision=Decision.BLOCKED),
    ]
    row = routing(cases).ratings[0]
    assert row.answers == 3
    assert [share.count for share in (row.auto_send, row.review, row.blocked) if share] == [1, 1, 1]


def test_the_auroc_is_how_often_the_true_answer_has_the_larger_value_and_a_tie_is_half():
    """Of the pairs (1,1) (1,3) (2,1) (2,3) two are larger and one is a tie."""
    found = auroc([1, 2], [1, 3])
    assert found
    assert found.value == pytest.approx(2.5 / 4)
    assert auroc([], [1.0]) is None


def test_a_feature_is_measured_where_it_applies():
    values = ((0.1, 1), (0.4, 1), (None, 1), (0.9, 5), (0.8, 5))
    cases = [case(3.0, rating, features={"hal": value}) for value, rating in values]
    score, hal = feature_table(cases).rows
    assert (score.name, score.answers, score.spearman) == ("score", 5, None)
    assert (hal.name, hal.answers, hal.untrue, hal.true) == ("hal", 4, 2, 2)
    assert hal.auroc
    assert hal.auroc.value == 1


def test_raters_agree_by_exact_rating_and_by_quadratic_kappa():
    """Apart by 0 0 0 2, squares' mean 1; chance: variances 2.6875 and 2.75, means 0.5 apart."""
    pairs = ((1, 1), (5, 5), (4, 4), (2, 4))
    found = agreement([case(None, rating, rating_second=second) for rating, second in pairs])
    assert found
    assert found.exact
    assert (found.exact.count, found.within_1 and found.within_1.count) == (3, 3)
    firsts, seconds = zip(*pairs, strict=True)
    chance = sum((one - other) ** 2 for one in firsts for other in seconds) / 16
    assert found.kappa
    assert found.kappa.value == pytest.approx(1 - 1 / chance)


def test_the_ratings_of_two_raters_are_compared_and_not_the_one_that_they_settled_on():
    cases = [case(None, 4, rating_first=5, rating_second=4), case(None, 2, rating_second=2)]
    found = agreement(cases)
    assert found
    assert (found.answers, found.exact and found.exact.count) == (2, 1)


@pytest.mark.parametrize(
    ("rating", "rounded", "truth"),
    [
        (4.67, 5, Label.TRUE),
        (4.5, 4, Label.TRUE),
        (3.5, 4, Label.TRUE),
        (3.33, 3, None),
        (2.67, 3, None),
        (2.5, 2, Label.FALSE),
        (1.33, 1, Label.FALSE),
    ],
)
def test_a_mean_of_ratings_counts_as_the_rating_it_is_next_to_and_is_correlated_as_it_is(
    rating, rounded, truth
):
    cases = [case(float(score), mean) for score, mean in ((1, 1), (2, 1.4), (3, 1.67), (4, rating))]
    assert (cases[-1].rounded_rating, cases[-1].truth) == (rounded, truth)
    assert deviation(cases).ratings[rounded - 1].answers == routing(cases).ratings[rounded - 1].answers > 0
    found = correlation(cases).spearman
    assert found
    assert found.value == pytest.approx(1 if rating > 1.67 else 0.4)


def test_a_share_has_wilsons_interval():
    """Newcombe (1998): 81 of 263 is 0.2553 to 0.3662."""
    share = Share.of(81, 263)
    assert share
    assert (round(share.low, 4), round(share.high, 4)) == (0.2553, 0.3662)


RATING = st.none() | st.integers(1, 5)
CASES = st.lists(
    st.builds(
        EvaluationCase,
        answer_id=st.sampled_from(["a-1", "a-2", "a-3"]),
        recognised=st.sampled_from(MessageType),
        language=st.sampled_from(["nl", "en", None]),
        score=st.none() | st.floats(1, 5),
        decision=st.sampled_from(Decision),
        reasons=st.just(("message_type_not_scored", "context_missing")),
        rating=RATING,
        rating_second=RATING,
        labelled=st.none() | st.sampled_from(MessageType),
        features=st.fixed_dictionaries({"hal": st.none() | st.floats(0, 1)}),
        checks=st.fixed_dictionaries({"unknown_number": st.booleans()}),
    ),
    max_size=6,
)


@settings(deadline=None, max_examples=5)
@given(CASES)
def test_any_answers_give_a_report_that_is_json_and_the_same_each_time(cases):
    first, again = (json.dumps(asdict(report({"off": cases})), allow_nan=False) for _ in range(2))
    assert first == again


@given(CASES)
def test_languages_share_the_answers_out(cases):
    shares = [CaseGroup(language).select(cases) for language in ("nl", "en", "und")]
    assert sum(map(len, shares)) == len(CaseGroup().select(cases)) == len(cases)


SENT, REVIEW, BLOCKED = Decision.AUTO_SEND, Decision.REVIEW, Decision.BLOCKED


def decided(*decisions: Decision, **other: object) -> list[EvaluationCase]:
    return [case(decision=each, **other) for each in decisions]


def test_two_ways_are_compared_by_what_each_decided_about_every_answer():
    """Both review 1 of 5 and block 1; of the sent one is blocked, of the blocked one reviewed, one sent."""
    first = decided(REVIEW, BLOCKED, SENT, BLOCKED, BLOCKED)
    table = decision_table(first, decided(REVIEW, BLOCKED, BLOCKED, REVIEW, SENT))
    assert table.same
    assert (table.answers, table.counted_out, table.same.count, table.same.total) == (5, 0, 2, 5)
    assert [(row.decision, row.answers, row.auto_send, row.review, row.blocked) for row in table.rows] == [
        (SENT, 1, 0, 0, 1),
        (REVIEW, 1, 0, 1, 0),
        (BLOCKED, 3, 1, 1, 1),
    ]
    assert [row.changed and row.changed.count for row in table.rows] == [1, 0, 2]


def test_without_answers_there_is_no_agreement():
    table = decision_table([], [])
    assert (table.answers, table.same, {row.changed for row in table.rows}) == (0, None, {None})


@given(st.lists(st.tuples(st.sampled_from(Decision), st.sampled_from(Decision), st.booleans())))
def test_every_answer_of_a_group_is_in_one_cell_or_counted_out(pairs):
    gap = ("translation_unavailable",)
    first = [case(decision=one) for one, _, _ in pairs]
    second = [case(decision=other, degraded=gap if wrong else ()) for _, other, wrong in pairs]
    table = decision_table(first, second)
    assert sum(row.auto_send + row.review + row.blocked for row in table.rows) == table.answers
    assert table.answers + table.counted_out == len(pairs)
    assert decision_table(first, second, CaseGroup("en")).answers == 0


def test_answers_that_could_not_be_translated_are_counted_out_of_the_routing_of_translated_ones():
    """Each was judged the other way; one without a rating is in no table."""
    untranslated = {"degraded": ("translation_unavailable",)}
    cases = [case(4.0, 1), case(4.0, 1, **untranslated), case(4.0, None, **untranslated)]
    found = routing(cases)
    assert (found.ratings[0].answers, found.counted_out) == (1, 1)
    whole = report({"off": [case(4.0, 1)] * 3, "always": cases})
    assert [(each.answers, each.counted_out) for each in whole.decisions[:1]] == [(1, 2)]


UNTRANSLATED = {"degraded": ("translation_unavailable",)}


def test_true_and_untrue_answers_are_counted_by_where_they_went():
    """3 is neither, and counts among the sent; without a rating or a translation nothing counts."""
    cases = [
        *(case(None, rating, decision=SENT) for rating in (5, 4, 4, 3, 2, None)),
        *(case(None, rating, decision=BLOCKED) for rating in (5, 1, 1, 2)),
        *(case(None, rating, decision=REVIEW) for rating in (4, 1)),
        case(None, 5, decision=SENT, **UNTRANSLATED),
    ]
    table = sending_table(cases)
    true, untrue = (
        [each and each.count for each in (row.auto_send, row.review, row.blocked)]
        for row in (table.sending.true, table.sending.untrue)
    )
    assert (true, table.sending.true.answers) == ([3, 1, 1], 5)
    assert (untrue, table.sending.untrue.answers) == ([1, 1, 3], 5)
    of_sent = table.sending.untrue_of_sent
    assert of_sent
    assert (of_sent.count, of_sent.total, table.counted_out) == (1, 5, 1)


def test_what_people_call_an_answer_says_more_than_its_rating():
    refusing = case(None, 5, decision=SENT, label=Label.NOT_GIVEN)
    found = sending_table([refusing, case(None, 4, decision=SENT, label=Label.FALSE)]).sending
    assert (found.true.answers, found.untrue.answers) == (0, 1)


def test_without_answers_nothing_was_sent_and_no_check_found_anything():
    found = sending_table([]).sending
    assert (found.true.answers, found.true.auto_send, found.untrue_of_sent) == (0, None, None)
    assert check_table([]).rows == ()


def test_each_check_has_its_hits_on_untrue_true_and_other_answers_of_the_language():
    """Found in 2 of 3 untrue ones, 1 of 4 true ones, 0 of 1 others; a rule without hits has its row."""
    hits = ((1, True), (2, True), (2, False), (4, True), (4, False), (5, False), (5, False), (3, False))
    cases = [case(None, rating, checks={"number": hit, "order": False}) for rating, hit in hits]
    cases += [
        case(None, None, checks={"number": True}),
        case(None, 1, checks={"number": True}, **UNTRANSLATED),
    ]
    english = case(None, 5, language="en", checks={"number": True})
    number, order = check_table([*cases, english], CaseGroup("nl")).rows
    assert [each and (each.count, each.total) for each in (number.untrue, number.true, number.others)] == [
        (2, 3),
        (1, 4),
        (0, 1),
    ]
    assert (order.reason, order.untrue and order.untrue.count) == ("order", 0)
    assert check_table([*cases, english], CaseGroup("en")).rows[0].untrue is None


def test_untrue_answers_that_were_sent_and_true_ones_that_were_blocked_are_named_the_sent_first():
    reasons = ("low_score", "context_missing")
    cases = [
        case(1.0, 5, answer_id="lost", decision=BLOCKED, reasons=reasons),
        case(5.0, 2, answer_id="sent", decision=SENT),
        case(5.0, 5, answer_id="right", decision=SENT),
        case(1.0, 1, answer_id="caught", decision=BLOCKED),
        case(1.0, 1, answer_id="review"),
        case(5.0, 3, answer_id="neither", decision=SENT),
        case(5.0, None, answer_id="unrated", decision=SENT, label=Label.FALSE),
        case(5.0, 1, answer_id="untranslated", decision=SENT, **UNTRANSLATED),
    ]
    sent, lost = misrouted(cases)
    assert (sent.answer_id, sent.rating, sent.decision) == ("sent", 2, SENT)
    assert (lost.answer_id, lost.score, lost.reasons) == ("lost", 1.0, reasons)


@given(CASES)
def test_as_many_answers_are_named_as_the_table_has_untrue_ones_sent_and_true_ones_blocked(cases):
    found = sending_table(cases).sending
    shares = (found.untrue.auto_send, found.true.blocked)
    assert len(misrouted(cases)) == sum(share.count for share in shares if share)


@given(CASES)
def test_languages_share_the_hits_of_a_check_out(cases):
    def hits(group: CaseGroup) -> int:
        rows = check_table(cases, group).rows
        return sum(each.count for row in rows for each in (row.untrue, row.true, row.others) if each)

    assert sum(hits(CaseGroup(language)) for language in ("nl", "en", "und")) == hits(CaseGroup())
