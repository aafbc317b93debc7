"""What `truthgate policy fit` says of the answers to ask about."""

from types import SimpleNamespace

import pytest

from scoring.guarantees.asking_fit import (
    AskedGroup,
    AskingBudget,
    AskingPlan,
    FittedAsking,
    OpinionsMissing,
    Told,
)
from scoring.policy.asking import AskingOrder
from scoring.policy.risk import SHIPPED_RISK
from streams.cli.policy.policy_fit import asking_budget
from streams.cli.policy.policy_rendering import print_asking
from streams.settings import JudgeSettings, Settings

ORDER = AskingOrder(SHIPPED_RISK, threshold=0.125)
PLAN = AskingPlan(ORDER, 0.4, 10, 4, 0.62, (AskedGroup("binary nl", 6, 3), AskedGroup("general en", 4, 1)))


def printed(capsys, asking, judges=None, reviewers=None) -> str:
    print_asking(SimpleNamespace(asking=asking, judges=judges, reviewers=reviewers))
    return capsys.readouterr().out


def test_it_says_what_the_order_tells_and_which_answers_come_first(capsys):
    text = printed(capsys, FittedAsking(ORDER, 200, (Told(0.4, 0.55),), 0.001), PLAN)
    assert "200 opinions not fitted to: 40% tell 55%" in text
    assert "judges first: 4 of 10 answers, value at least 0.125, 62% of the value of all" in text
    assert "3 of 6" in text
    assert "chance" not in text
    assert "reviewers first" in printed(capsys, OpinionsMissing(3), reviewers=PLAN)


@pytest.mark.parametrize(
    ("asking", "words"),
    [
        (OpinionsMissing(3), "3 more opinions needed"),
        (OpinionsMissing(0), "the risk does not depend on opinions"),
        (FittedAsking(ORDER, 200, (), 0.5), "no more than chance may give"),
    ],
)
def test_it_says_why_there_is_no_order(capsys, asking, words):
    assert words in printed(capsys, asking)


def settings(method: str = "single", **budget: int) -> Settings:
    judges = {
        "endpoints": {"a": {"base_url": "http://a/v1", "model": "m"}},
        "chain": [{"judges": ["a"], "method": method}],
        "budget": budget,
    }
    return Settings(judges=JudgeSettings.model_validate(judges))


def test_requests_and_minutes_become_opinions_and_reviews():
    assert asking_budget(settings(), None, None, 2.0) == AskingBudget(None, None)
    assert asking_budget(settings(requests_per_day=100), None, 90, 1.5) == AskingBudget(100, 60)
    assert asking_budget(settings("sequential", requests_per_day=100), 30, None, 2.0).opinions_per_day < 30
    assert asking_budget(Settings(), 30, None, 2.0) == AskingBudget(30, None)
