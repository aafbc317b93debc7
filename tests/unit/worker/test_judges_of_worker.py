"""The judges that a worker opens: shown in its metrics from the start, and none where none is named."""

from pathlib import Path

from prometheus_client import generate_latest

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


async def test_where_nobody_is_named_nothing_is_opened(tmp_path):
    async with worker_components.open_cascade(
        settings(tmp_path), WorkerMetrics(), Stages(), lambda: (frozenset({0}), 1)
    ) as advise:
        assert advise is None
