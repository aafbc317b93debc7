"""Counting in a thread of its own never holds the worker up, and nothing that fails there comes out."""

import asyncio
import subprocess
import sys
import threading
import time
from contextvars import ContextVar

import pytest
from structlog.testing import capture_logs

from streams.observability.tracing import Tracing
from streams.rates.leader_thread import LoopThread, rate_leader_thread
from streams.settings import KafkaSettings, Settings
from streams.worker.worker_metrics import WorkerMetrics
from tests.support.ports import NOBODY
from tests.support.records import eventually

_place: ContextVar[str] = ContextVar("_place")

_HANGS = """
import asyncio, time
from streams.rates.leader_thread import LoopThread

async def hang(stopping):
    time.sleep(600)

async def main():
    thread = LoopThread(hang, "rates")
    thread.cancel()
    print(await thread.wait_until_ended(0.1))

asyncio.run(main())
"""


async def _until_asked(stopping: asyncio.Event) -> None:
    await stopping.wait()


async def test_the_worker_goes_on_while_the_thread_computes():
    def compute(until: float) -> None:
        while time.monotonic() < until:
            sum(range(1_000))

    async def job(_: asyncio.Event) -> None:
        compute(time.monotonic() + 1)

    thread = LoopThread(job, "rates")
    longest, before = 0.0, time.monotonic()
    while not await thread.wait_until_ended(0.01):
        longest, before = max(longest, time.monotonic() - before), time.monotonic()
    assert longest < 0.5


@pytest.mark.parametrize("end", [LoopThread.request_stop, LoopThread.cancel])
async def test_it_ends_when_it_is_asked_to_at_any_time(end):
    thread = LoopThread(_until_asked, "rates")
    end(thread)
    assert await thread.wait_until_ended(5)
    end(thread)  # once more changes nothing


@pytest.mark.parametrize("error", [RuntimeError("private"), SystemExit(3), asyncio.CancelledError()])
async def test_what_fails_does_not_come_out(error):
    async def fail(_: asyncio.Event) -> None:
        raise error

    with capture_logs() as lines:
        assert await LoopThread(fail, "rates").wait_until_ended(5)
    assert "private" not in str(lines)
    told = [] if isinstance(error, asyncio.CancelledError) else [type(error).__name__]
    assert [line["error_type"] for line in lines] == told


async def test_it_has_the_context_of_who_started_it_and_a_daemon_thread():
    found: list[object] = []

    async def look(_: asyncio.Event) -> None:
        found.extend((_place.get(), threading.current_thread().daemon, threading.current_thread().name))

    _place.set("here")
    assert await LoopThread(look, "rates").wait_until_ended(5)
    assert found == ["here", True, "rates"]


def test_one_that_hangs_does_not_keep_the_process():
    ended = subprocess.run(
        [sys.executable, "-c", _HANGS], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, "False\n"), ended.stderr


async def test_a_worker_that_leads_counts_aside_until_it_stops():
    metrics, stopping, threads = WorkerMetrics(), asyncio.Event(), set()

    def leads() -> bool:
        threads.add(threading.get_ident())
        return True

    def failures() -> float:
        labels = {"error_type": "ServiceUnreachable"}
        return metrics.registry.get_sample_value("truthgate_rates_failures_total", labels) or 0

    nowhere = Settings(kafka=KafkaSettings(bootstrap_servers=NOBODY, connect_timeout_seconds=1))
    async with rate_leader_thread(nowhere, metrics.rates, Tracing(), leads, stopping):
        await eventually(lambda: failures() >= 1, "it leads, and finds no broker")
        stopping.set()
        began = time.monotonic()
    assert time.monotonic() - began < 20
    assert threads == {threading.get_ident()}  # what the application has is read in its own thread
    await eventually(lambda: all(one.name != "rates" for one in threading.enumerate()), "it has ended")
