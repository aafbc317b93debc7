"""A release and the one after it on the same topics under load, forth and back: the rates stay exact."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from schemas import Codec, Verdict
from schemas.catalogue import current_schema
from streams.kafka.schema_topic import create_codec
from streams.kafka.topics import Topics, create_topics
from streams.pipeline.verdict import verdict_id
from streams.settings import Settings
from tests.support.newer_release import NEWER_VERDICT, NewerWorker
from tests.support.rates import committed_records, sample_verdict, until_exact, with_rates
from tests.support.records import eventually, produce
from tests.support.releases import written_with
from tests.support.steady_answers import publish_steadily
from tests.support.workers import Worker, changed

pytestmark = pytest.mark.timeout(600)

PER_SECOND = 40
#: So many verdicts each release writes in a round.
ENOUGH = 100
#: Longer than a leader goes on that has lost the first partition.
SETTLED_SECONDS = 4.0
#: So many verdicts with scores come besides for each leader.
SCORED = 30
COUNTED = re.compile(r'^truthgate_rates_verdicts_total{outcome="(\w+)"} (\d+)', re.MULTILINE)


@pytest.fixture
async def counted(settings: Settings) -> Settings:
    """Give settings of workers that are soon missed and do not score, and make their topics."""
    windows = [{"size_seconds": 10}, {"size_seconds": 60, "hop_seconds": 30}]
    quick = with_rates(
        settings, windows=windows, allowed_lateness_seconds=5, retention_seconds=1800, idle_after_seconds=2
    )
    await create_topics(quick)
    return changed(quick, flow={"session_timeout_seconds": 6}, scoring={"enabled": False})


async def _fingerprints(settings: Settings) -> list[bytes]:
    """Give the fingerprint of every verdict so far."""
    topics = Topics(settings.kafka.topic_prefix).outputs
    return [r.value[2:10] for topic in topics for r in await committed_records(settings.kafka, topic)]


async def _answered(settings: Settings) -> set[str]:
    codec, topics, ids = create_codec(settings), Topics(settings.kafka.topic_prefix).outputs, set()
    for record in [r for topic in topics for r in await committed_records(settings.kafka, topic)]:
        await codec.lookup(record.value)
        ids.add(codec.decode(record.value, Verdict).verdict_id)
    return ids


async def _counts(worker: Worker) -> dict[str, int]:
    page = (await asyncio.to_thread(worker.get, "/metrics"))[1]
    return {outcome: int(float(number)) for outcome, number in COUNTED.findall(page)}


async def _leads(worker: Worker) -> bool:
    return "\ntruthgate_rates_leader 1" in (await asyncio.to_thread(worker.get, "/metrics"))[1]


async def _leader_of(workers: dict[str, Worker]) -> str:
    """Give the release that leads and goes on to: who has just joined may get the first partition."""
    found: list[str] = []

    async def one_leads() -> bool:
        before = found[:]
        found[:] = [name for name, each in workers.items() if each.running and await _leads(each)]
        await asyncio.sleep(SETTLED_SECONDS)
        return len(found) == 1 and found == before

    await eventually(one_leads, "one worker leads", 90)
    return found[0]


async def _lead_beside(settings: Settings, workers: dict[str, Worker], part: int) -> str:
    """Return which release leads, once both have written and it has counted the verdicts of both."""
    name = await _leader_of(workers)
    await _both_write(settings)
    await _count_both(settings, workers[name], part)
    return name


async def _lead_alone(settings: Settings, workers: dict[str, Worker], part: int) -> str:
    """Return which release leads, the only one that runs, once it has counted the verdicts of both."""
    name = await _leader_of(workers)
    await _count_both(settings, workers[name], part)
    return name


async def _start_again(worker: Worker) -> None:
    worker.start()
    await asyncio.to_thread(worker.wait_ready)


async def _count_both(settings: Settings, leader: Worker, part: int) -> None:
    """Publish verdicts with scores, half of them as each release does, until this leader has counted them."""
    before = await _counts(leader)
    verdicts = [sample_verdict(part * SCORED + number, datetime.now(UTC)) for number in range(SCORED)]
    topics, codec = Topics(settings.kafka.topic_prefix), Codec()
    for number, each in enumerate(verdicts):
        value = codec.encode(each) if number % 2 else written_with(NEWER_VERDICT, each, added="x")
        await produce(settings.kafka, topics.verdict_topic(each.decision), [value])

    async def counted() -> bool:
        now = await _counts(leader)
        assert now["unreadable"] == 0
        return now["counted"] + now["late"] >= before["counted"] + before["late"] + SCORED

    await eventually(counted, "the leader counts the verdicts of both")


async def _both_write(settings: Settings) -> None:
    """Wait until each release has written enough verdicts more."""
    releases = (current_schema(Verdict).fingerprint, NEWER_VERDICT.fingerprint)
    before = Counter(await _fingerprints(settings))

    async def wrote() -> bool:
        now = Counter(await _fingerprints(settings))
        return all(now[each] - before[each] >= ENOUGH for each in releases)

    await eventually(wrote, "both releases write", 120)


async def test_rates_equal_a_recount_while_releases_replace_each_other_forth_and_back(
    counted: Settings, tmp_path: Path, tell: Callable[[str], None]
) -> None:
    """The leader is ended again and again, stopped or killed; the other release goes on from its state."""
    loaded = True
    workers = {"older": Worker(counted, tmp_path, "older"), "newer": NewerWorker(counted, tmp_path, "newer")}
    with workers["older"], workers["newer"]:
        for worker in workers.values():
            await asyncio.to_thread(worker.wait_ready)
        load = asyncio.create_task(publish_steadily(counted, PER_SECOND, lambda: loaded))
        led = [await _lead_beside(counted, workers, 0)]
        assert await asyncio.to_thread(workers[led[0]].terminate) == 0
        led.append(await _lead_alone(counted, workers, 1))
        await _start_again(workers[led[0]])
        led.append(await _lead_beside(counted, workers, 2))
        workers[led[2]].kill()
        led.append(await _lead_alone(counted, workers, 3))
        await _start_again(workers[led[2]])
        led.append(await _lead_beside(counted, workers, 4))
        loaded = False
        wanted = {verdict_id(each) for each in await load}

        async def all_answered() -> bool:
            return wanted <= await _answered(counted)

        await eventually(all_answered, "every answer has a verdict", 120)
        published = await until_exact(counted, 120)
    untrue = sum(state.hallucinated for state in published.final.values())
    assert untrue > 0
    assert set(led) == {"older", "newer"}
    logs = workers["older"].log + workers["newer"].log
    assert "rates_stepped_down" not in logs
    assert "unreadable_verdict" not in logs
    written = Counter(await _fingerprints(counted))
    tell(
        f"leaders, beside the other and alone in turn: {', '.join(led)}; {len(wanted)} answers, "
        f"{written[NEWER_VERDICT.fingerprint]} of "
        f"{written.total()} verdicts by the newer release; {len(published.final)} windows equal a recount"
    )
