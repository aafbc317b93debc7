"""A leader that cannot count tries again after growing pauses, and ends when it is asked to."""

import asyncio

from streams.observability.tracing import Tracing
from streams.rates.rate_leader import RateLeader
from streams.settings import KafkaSettings, Settings
from streams.worker.worker_metrics import WorkerMetrics
from tests.support.ports import NOBODY
from tests.support.records import eventually

NOWHERE = Settings(kafka=KafkaSettings(bootstrap_servers=NOBODY, connect_timeout_seconds=1))


def _failures(metrics: WorkerMetrics) -> float:
    labels = {"error_type": "ServiceUnreachable"}
    return metrics.registry.get_sample_value("truthgate_rates_failures_total", labels) or 0


async def test_failures_are_counted_and_tried_again_until_it_is_asked_to_stop():
    metrics, stopping = WorkerMetrics(), asyncio.Event()
    leader = RateLeader(NOWHERE, metrics.rates, Tracing(), lambda: True, stopping)
    task = asyncio.create_task(leader.run())
    await eventually(lambda: _failures(metrics) >= 2, "it tries again")
    assert _failures(metrics) < 5  # after 0.5 s and then 1 s
    assert metrics.registry.get_sample_value("truthgate_rates_leader") == 0
    stopping.set()
    await asyncio.wait_for(task, 20)


async def test_who_does_not_lead_does_nothing():
    metrics, stopping, asked = WorkerMetrics(), asyncio.Event(), 0

    def leads() -> bool:
        nonlocal asked
        asked += 1
        return False

    leader = RateLeader(NOWHERE, metrics.rates, Tracing(), leads, stopping)
    task = asyncio.create_task(leader.run())
    await eventually(lambda: asked > 2, "it looks whether it leads")
    stopping.set()
    await asyncio.wait_for(task, 30)
    assert _failures(metrics) == 0
