"""Two desks of a deployment: one is active, and the other takes over when it dies."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas import Review
from streams.kafka.topics import Topics
from streams.settings import Settings
from tests.support.desk import DeskProcess, Reviewer, held, publish, reviews

#: A session of the group, a rebalance, and what a loaded machine takes.
TAKEOVER_SECONDS = 20


@pytest.fixture
def desks(topics: Topics, settings: Settings, tmp_path: Path) -> Iterator[tuple[DeskProcess, DeskProcess]]:
    (tmp_path / "two").mkdir()
    first, second = (
        DeskProcess(settings, folder, standby=True, undo_seconds=2) for folder in (tmp_path, tmp_path / "two")
    )
    with first:
        first.wait_ready()
        with second:
            yield first, second


def readiness(desk: DeskProcess) -> str:
    status, text = desk.get("/readyz")
    return f"{status} {text}"


async def until_readiness(desk: DeskProcess, begin: str) -> float:
    """Return how many seconds it took."""
    started = time.monotonic()
    while not readiness(desk).startswith(begin):
        assert time.monotonic() - started < TAKEOVER_SECONDS, readiness(desk)
        await asyncio.sleep(0.05)
    return time.monotonic() - started


def effective(log: list[Review]) -> dict[str, str]:
    """Count the first outcome of each verdict."""
    outcomes: dict[str, str] = {}
    for each in log:
        if each.is_final:
            outcomes.setdefault(each.verdict_id, each.outcome)
    return outcomes


async def test_a_standby_takes_over_from_a_killed_desk_and_each_answer_has_one_outcome(
    desks: tuple[DeskProcess, DeskProcess], settings: Settings
) -> None:
    first, second = desks
    await until_readiness(second, "503 waiting for its turn: another desk is active")
    await publish(settings, [held(n) for n in range(6)])
    with Reviewer(first.address) as kim, Reviewer(second.address, "alex") as alex:
        async with asyncio.timeout(20):
            while not (kim.look() and kim.shown):  # noqa: ASYNC110 - another process reads
                await asyncio.sleep(0.05)
        assert "This desk stands by" in alex.look()
        assert "stands by" in alex.look("/?answer=v-5")
        for _ in range(2):
            kim.decide("send")
        async with asyncio.timeout(20):
            while len(await reviews(settings)) < 2:  # noqa: ASYNC110 - another process publishes
                await asyncio.sleep(0.05)
        kim.decide("send")  # the third one: only on the disk of the first desk
        first.kill()
        killed = await until_readiness(second, "200")
        for _ in range(4):
            alex.look()
            assert alex.shown
            alex.decide("reject")
        assert "No answer waits." in alex.look()
        async with asyncio.timeout(20):
            while len(await reviews(settings)) < 6:  # noqa: ASYNC110 - another process publishes
                await asyncio.sleep(0.05)
        first.start()
        await until_readiness(first, "503 waiting for its turn: another desk is active")
        with Reviewer(first.address) as kim_again:
            assert "This desk stands by" in kim_again.look()
    assert readiness(second).startswith("200")
    assert second.terminate() == 0
    stopped = await until_readiness(first, "200")
    with Reviewer(first.address) as kim:
        assert "No answer waits." in kim.look()
    assert first.terminate() == 0
    log = await reviews(settings)
    assert effective(log) == {f"v-{n}": "send" if n < 2 else "reject" for n in range(6)}
    assert len({each.review_id for each in log}) == len(log)
    assert stopped < killed < TAKEOVER_SECONDS
