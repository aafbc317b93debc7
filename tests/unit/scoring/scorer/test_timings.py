"""A judgement says how long its parts took, in order, as a note that makes no difference to it."""

import pickle
import time
from dataclasses import replace
from itertools import pairwise

import pytest

from scoring import Exchange, Passage, Scorer, ScorerOptions
from scoring.scorer.profile import get_profile
from scoring.scorer.scorer import Stopwatch

GUIDE = Passage("leave", "1. Open the **Leave** tab of the employee.\n2. Click **Save**.")
SCORER = Scorer(options=ScorerOptions(timed=True))


def test_every_part_of_a_scored_answer_is_timed_once_and_in_order():
    began = time.time_ns()
    judgement = SCORER.score(Exchange("How do I enter leave?", "Click **Save**.", (GUIDE,), "en"))
    groups = [f"features {group.name}" for group in get_profile("truthgate").groups]
    names = [timing.name for timing in judgement.timings]
    assert names == ["language", "message type", "refusal", "prepare", "parse", *groups, "claims"]
    assert all(before.end_ns <= after.start_ns for before, after in pairwise(judgement.timings))
    assert began <= judgement.timings[0].start_ns
    assert judgement.timings[-1].end_ns <= time.time_ns() + 1_000_000


@pytest.mark.parametrize(
    "exchange", [Exchange("", ""), Exchange("Why?", "So."), Exchange("如何?", "点击保存。", (GUIDE,), "zh")]
)
def test_what_is_not_scored_has_the_times_of_what_was_done(exchange):
    names = [timing.name for timing in SCORER.score(exchange).timings]
    assert names in (["language", "message type"], ["language", "message type", "refusal"])


def test_timings_take_no_part_in_comparing_and_come_over_a_pipe():
    judgement = SCORER.score(Exchange("How do I enter leave?", "Click **Save**.", (GUIDE,), "en"))
    assert judgement == replace(judgement, timings=())
    assert pickle.loads(pickle.dumps(judgement)).timings == judgement.timings


def test_nothing_is_timed_unless_asked_for():
    assert Scorer().score(Exchange("How?", "So.", (GUIDE,), "en")).timings == ()


def test_a_stopwatch_takes_the_time_of_what_fails_too():
    watch = Stopwatch()
    with pytest.raises(ValueError, match="inside"), watch.part("failing"):
        raise ValueError("inside")
    assert [timing.name for timing in watch.timings] == ["failing"]
