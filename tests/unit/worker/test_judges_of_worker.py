"""The judges that a worker opens: shown in its metrics from the start, and none where none is named."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

from prometheus_client import generate_latest

from scoring.policy.asking import AskingOrder
from scoring.policy.certificates import SETTINGS_POLICY, ActivePolicy, FittedThresholds
from scoring.policy.risk import SHIPPED_RISK
from scoring.values.exchange import Exchange, MessageType, Passage
from scoring.values.scored_answer import ScoredAnswer
from streams.observability.stages import Stages
from streams.settings import DocumentSettings, JudgeSettings, Settings
from streams.worker import worker_components
from streams.worker.worker_metrics import WorkerMetrics
from tests.support.ports import NOBODY


def settings(store: Path, **judges: object) -> Settings:
    return Settings(documents=DocumentSettings(store=store), judges=JudgeSettings.model_validate(judges))


async def test_the_breaker_and_the_budget_of_every_judge_are_shown_before_it_is_asked(tmp_path):
    metrics = WorkerMetrics()
    endpoints = {"small": {"base_url": f"http://{NOBODY}/v1", "model": "gpt-small"}}
    named = settings(tmp_path, endpoints=endpoints, budget={"requests_per_day": 40})
    async with worker_components.open_cascade(
        named, metrics, Stages(), lambda: (frozenset({0}), 1)
    ) as advise:
        assert advise is not None
        shown = generate_latest(metrics.registry).decode()
    assert 'truthgate_judge_breaker{judge="small",state="closed"} 1.0' in shown
    assert 'truthgate_judge_budget_left{of="requests",window="day"}' in shown


async def test_a_fitted_policy_of_the_topic_says_at_once_whom_judges_are_asked_about_first(tmp_path):
    named = settings(
        tmp_path,
        endpoints={"small": {"base_url": f"http://{NOBODY}/v1", "model": "gpt-small"}},
        budget={"tokens_per_day": 1},
    )
    policies, metrics = SimpleNamespace(active=SETTINGS_POLICY), WorkerMetrics()
    exchange = Exchange("How?", "So it goes.", (Passage("d-1", "It goes so."),), "en")
    doubtful = ScoredAnswer(1.0, MessageType.BINARY, "en")

    def refused(priority: str) -> bool:
        labels = {"priority": priority}
        return metrics.registry.get_sample_value("truthgate_judge_budget_refusals_total", labels) == 1

    async with worker_components.open_cascade(
        named, metrics, Stages(), lambda: (frozenset({0}), 1), policies
    ) as advise:
        await advise(exchange, doubtful, 10.0)
        assert refused("first")
        assert not refused("last")
        order = AskingOrder(SHIPPED_RISK, threshold=0.25)
        policies.active = ActivePolicy("fitted", FittedThresholds(SHIPPED_RISK, (), order))
        await advise(replace(exchange, question="How else?"), doubtful, 10.0)
        assert refused("last")


async def test_where_nobody_is_named_nothing_is_opened(tmp_path):
    async with worker_components.open_cascade(
        settings(tmp_path), WorkerMetrics(), Stages(), lambda: (frozenset({0}), 1)
    ) as advise:
        assert advise is None
