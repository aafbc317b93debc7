"""What a run is compared by, and what other thresholds would have sent."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.evaluation.cases import EvaluationCase
from scoring.evaluation.measures import MEASURES, RunSummary
from scoring.evaluation.report import report
from scoring.evaluation.sweep import sweep
from scoring.values.exchange import Decision, MessageType
from scoring.values.opinion import Label

SENT, REVIEW, BLOCKED = Decision


def case(score: float | None, rating: float | None, decision: Decision = REVIEW, **other) -> EvaluationCase:
    return EvaluationCase("a-1", MessageType.BINARY, "nl", score, decision, ("r",), rating, **other)


def summary(*cases: EvaluationCase) -> RunSummary:
    return report({"truthgate": cases}).runs[0].summary


def test_each_measure_is_the_share_that_its_name_says():
    found = summary(
        case(5.0, 5, SENT),
        case(4.5, 4.67, SENT),
        case(4.0, 1, SENT),
        case(3.0, 3, SENT),
        case(3.0, 4),
        case(1.0, 4, BLOCKED),
        case(1.0, 1, BLOCKED),
        case(2.0, 2),
        case(None, 2),
        case(None, 4, degraded=("translation_unavailable",)),
        case(5.0, None, SENT, label=Label.TRUE),
    )
    assert (found.rated, found.neither) == (9, 1)
    assert found.measures == pytest.approx(
        {
            "sent": 4 / 9,
            "review": 3 / 9,
            "blocked": 2 / 9,
            "untrue": 1 / 4,
            "sent_true": 2 / 4,
            "sent_untrue": 1 / 4,
            "blocked_true": 1 / 4,
            "blocked_untrue": 1 / 4,
            "spearman": found.spearman and found.spearman.value,
            # Rated 5: 5.0 and 4.5, rated 1: 4.0 and 1.0.
            "auroc": 1.0,
        }
    )
    assert list(found.measures) == list(MEASURES)


def test_where_nothing_was_sent_nothing_untrue_was_and_what_has_no_answers_is_undefined():
    found = summary(case(5.0, 5)).measures
    assert found["untrue"] == found["sent"] == found["sent_true"] == 0
    assert {name for name, value in found.items() if value is None} == {
        "sent_untrue",
        "blocked_untrue",
        "spearman",
        "auroc",
    }
    assert set(summary(case(5.0, None)).measures.values()) == {None}


SCORES = st.none() | st.integers(10, 50).map(lambda score: score / 10)
CASES = st.builds(case, SCORES, st.none() | st.integers(1, 5))


@settings(max_examples=25, deadline=None)
@given(st.lists(CASES, max_size=12))
def test_each_threshold_sends_the_rated_answers_with_at_least_that_score(cases):
    points, rated = sweep(cases), [each for each in cases if each.rating is not None]
    assert len(points) == (41 if rated else 0)
    for point in points:
        sent = [each for each in rated if each.score is not None and each.score >= point.threshold]
        assert (point.coverage.count, point.coverage.total) == (len(sent), len(rated))
        assert (point.risk and (point.risk.count, point.risk.total)) == (
            (sum(each.rating < 3 for each in sent), len(sent)) if sent else None
        )
        true = sum(each.rating > 3 for each in rated)
        assert (point.true_sent and (point.true_sent.count, point.true_sent.total)) == (
            (sum(each.rating > 3 for each in sent), true) if true else None
        )
    assert all(one.coverage.count >= other.coverage.count for one, other in pairwise(points))
    assert [point.threshold for point in points[:1] + points[-1:]] == ([1.0, 5.0] if points else [])
