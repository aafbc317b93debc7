"""A worker as it is shipped under a steady load for an hour: nothing is lost, and its memory stops growing.

``TRUTHGATE_TEST_SOAK_SECONDS`` and ``TRUTHGATE_TEST_SOAK_PER_SECOND`` try another duration and rate.
"""

import asyncio
import os
import time
from collections.abc import Callable

import pytest

from streams.kafka.topics import Topics, create_topics
from streams.settings import Settings
from tests.faults.conftest import Scale
from tests.support.documents import sample_documents
from tests.support.figures import Tell
from tests.support.footprint import Footprint, as_table, footprint, growth, second_half
from tests.support.records import produce
from tests.support.steady_answers import publish_steadily
from tests.support.verdict_count import VerdictCount, counting_verdicts
from tests.support.workers import Worker, changed

_SECONDS_VARIABLE, _RATE_VARIABLE = "TRUTHGATE_TEST_SOAK_SECONDS", "TRUTHGATE_TEST_SOAK_PER_SECOND"
_PER_SECOND = 45.0
_PROCESSES = 2
#: So many times in all it is looked at what is in memory.
_LOOKS = 60
#: A machine that is busy with other things catches up within so long.
_CATCH_UP_SECONDS = 600.0
#: A soak of this length fills what the scoring processes keep of documents within its first half.
_LEAST_SECONDS = 2_400.0
#: A slope needs so many looks, and one.
_FEWEST = 3
#: Megabytes a minute, in the second half. Allocators make a process a few MB larger now and then; a main
#: process that remembers every verdict for good grows by 0.4 at 45 answers a second.
_MOST_MAIN, _MOST_SCORING = 0.25, 0.5


@pytest.fixture
def seconds(scale: Scale) -> float:
    """Give how long to go on."""
    return float(os.environ.get(_SECONDS_VARIABLE, scale.soak_seconds))


@pytest.fixture
def shipped(settings: Settings, seconds: float) -> Settings:
    """Give settings with all parts of a worker, as shipped but for the windows of the rates.

    Verdicts are remembered for the longest window and as long again as it takes corrections, two hours as
    shipped: here for a quarter of the soak, so that it shows whether they are forgotten.
    """
    eighth = max(10, int(seconds / 8))
    windows = [{"size_seconds": eighth}]
    times = {"allowed_lateness_seconds": 5, "retention_seconds": eighth}
    return changed(
        settings,
        scoring={"processes": _PROCESSES},
        retrieval={"embedder": "use"},
        rates={"enabled": True, "windows": windows, **times},
    )


@pytest.mark.timeout(6 * 3600)
async def test_under_a_steady_load_nothing_is_lost_and_memory_stops_growing(shipped, tmp_path, seconds, tell):
    rate = float(os.environ.get(_RATE_VARIABLE, _PER_SECOND))
    await create_topics(shipped)
    await produce(shipped.kafka, Topics(shipped.kafka.topic_prefix).documents, sample_documents())
    footprints: list[Footprint] = []
    with Worker(shipped, tmp_path) as worker:
        worker.wait_ready()
        async with counting_verdicts(shipped) as verdicts:
            end = time.monotonic() + seconds
            publishing = asyncio.create_task(publish_steadily(shipped, rate, lambda: time.monotonic() < end))
            try:
                await _watch(worker, verdicts, publishing, seconds, footprints)
            finally:
                _tell(tell, footprints, rate)
            answer_ids = await publishing
            await verdicts.reached(answer_ids, _CATCH_UP_SECONDS)
            assert worker.terminate() == 0
    verdicts.assert_each_once(answer_ids)
    if seconds >= _LEAST_SECONDS:
        assert _growth(footprints, _main) < _MOST_MAIN
        assert _growth(footprints, _largest_scoring) < _MOST_SCORING


async def _watch(
    worker: Worker,
    verdicts: VerdictCount,
    publishing: asyncio.Task[list[str]],
    seconds: float,
    footprints: list[Footprint],
) -> None:
    """Look at the worker's memory again and again while answers are published."""
    began = time.monotonic()
    while not publishing.done():
        assert worker.running, f"the worker has ended; its log ends:\n{worker.log[-3000:]}"
        footprints.append(footprint(worker.pid, time.monotonic() - began, len(verdicts.times)))
        await asyncio.to_thread(worker.get, "/metrics")  # as Prometheus does
        await asyncio.wait([publishing], timeout=seconds / _LOOKS)


def _main(one: Footprint) -> float:
    return one.main


def _largest_scoring(one: Footprint) -> float:
    return max(one.scoring)


def _growth(footprints: list[Footprint], of: Callable[[Footprint], float]) -> float:
    """Give the megabytes a minute in the second half."""
    late = second_half(footprints)
    return growth(late, map(of, late))


def _tell(tell: Tell, footprints: list[Footprint], rate: float) -> None:
    tell(f"a worker at {rate:g} answers a second, in MB")
    for line in as_table(footprints):
        tell(line)
    if len(footprints) > _FEWEST:
        main, scoring = _growth(footprints, _main), _growth(footprints, _largest_scoring)
        tell(f"second half, MB a minute: main {main:+.2f}, the largest scoring process {scoring:+.2f}")
