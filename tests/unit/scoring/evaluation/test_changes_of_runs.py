"""Two runs are compared answer by answer: what changes is told, and true and untrue answers are counted."""

from dataclasses import replace

import pytest

from scoring.evaluation.cases import EvaluationCase
from scoring.evaluation.comparison import ReasonShift, compare_runs
from scoring.values.exchange import Decision, MessageType
from scoring.values.rules import Reason

SENT, REVIEW, BLOCKED = Decision.AUTO_SEND, Decision.REVIEW, Decision.BLOCKED
BASE = EvaluationCase("a", MessageType.BINARY, "nl", 3.0, REVIEW, ("middle_score",))


def case(
    name: str, decision: Decision, reason: str, rating: int | None = None, score: float | None = 3.0
) -> EvaluationCase:
    return replace(BASE, answer_id=name, decision=decision, reasons=(reason,), rating=rating, score=score)


def test_what_is_decided_otherwise_is_told_the_worst_first():
    first = [case(f"a-{n}", REVIEW, "middle_score", rating) for n, rating in enumerate((5, 5, 1, None, 3, 1))]
    second = [
        first[0],
        case("a-1", BLOCKED, "low_score"),
        case("a-2", SENT, "high_score"),
        case("a-3", SENT, "high_score"),
        case("a-4", BLOCKED, "low_score"),
        replace(first[5], reasons=("middle_score", "documents_stale")),
    ]
    found = compare_runs(first, second)
    told = [
        (each.answer_id, each.rating, each.before.decision, each.after.decision) for each in found.changes
    ]
    assert told == [
        ("a-2", 1, REVIEW, SENT),
        ("a-1", 5, REVIEW, BLOCKED),
        ("a-3", None, REVIEW, SENT),
        ("a-4", 3, REVIEW, BLOCKED),
        ("a-5", 1, REVIEW, REVIEW),
    ]
    assert (found.answers, found.rated) == (6, 5)
    assert found.decided is not None
    assert (found.decided.count, found.decided.total) == (4, 6)
    assert found.shifts == (
        ReasonShift("middle_score", "low_score", 2),
        ReasonShift("middle_score", "high_score", 2),
    )
    assert found.reasoned is not None
    assert found.reasoned.count == 5


def test_true_and_untrue_answers_are_counted_in_both_runs_with_intervals():
    first = [case(f"a-{n}", REVIEW, "middle_score", rating) for n, rating in enumerate((5, 4, 1, 2, 3))]
    second = [case(each.answer_id, SENT, "high_score", each.rating) for each in first]
    found = compare_runs(first, second)
    before, after = found.before.sending, found.after.sending
    assert (before.true.auto_send.count, before.untrue.auto_send.count) == (0, 0)  # type: ignore[union-attr]
    assert after.untrue.auto_send is not None
    assert (after.untrue.auto_send.count, after.untrue.auto_send.total) == (2, 2)
    assert 0.3 < after.untrue.auto_send.low < after.untrue.auto_send.high == pytest.approx(1)
    assert before.untrue_of_sent is None
    assert after.untrue_of_sent is not None
    assert (after.untrue_of_sent.count, after.untrue_of_sent.total) == (2, 5)


def test_scores_that_differ_are_counted_with_those_that_only_one_run_has():
    scores = ((3.0, 3.0 + 1e-12), (3.0, 4.0), (3.0, 1.0), (3.0, None), (None, 2.0), (None, None), (2.0, 2.0))
    first, second = (
        [case(f"a-{n}", REVIEW, "middle_score", None, pair[side]) for n, pair in enumerate(scores)]
        for side in (0, 1)
    )
    found = compare_runs(first, second)
    assert found.scored is not None
    assert (found.scored.count, found.higher, found.lower) == (4, 1, 1)
    assert [each.answer_id for each in found.changes] == ["a-1", "a-2", "a-3", "a-4"]
    assert found.change is not None
    assert found.change.value == pytest.approx(-1 / 4)


def test_the_same_run_twice_changes_nothing_and_nothing_at_all_is_no_comparison():
    run = [case("a-1", REVIEW, "middle_score", 5)]
    same = compare_runs(run, run)
    assert (same.changes, same.shifts, same.decisions.same.value) == ((), (), 1.0)  # type: ignore[union-attr]
    nothing = compare_runs([], [])
    assert (nothing.answers, nothing.decided, nothing.change) == (0, None, None)


def test_what_could_not_be_translated_is_in_no_table():
    first = [case("a-1", REVIEW, "middle_score", 1)]
    second = [replace(first[0], decision=SENT, degraded=(Reason.TRANSLATION_UNAVAILABLE,))]
    found = compare_runs(first, second)
    assert (found.decisions.counted_out, found.after.counted_out) == (1, 1)
