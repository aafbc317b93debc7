"""Scoring processes: they judge as the scorer does, and no answer can hang them or bring them down."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import deque
from itertools import repeat
from pathlib import Path

import psutil
import pytest

from scoring import Scorer
from scoring.policy import Assessment, Policy
from scoring.types import Decision, Exchange, Judgement, Passage
from streams.errors import EXIT_SOFTWARE, BadAnswer, InfrastructureFailure, Stage
from streams.pool import ScoringPool
from tests.support.records import eventually

HARMLESS = Exchange(
    "Hoe maak ik een factuur?",
    "Klik op **Nieuw**.",
    (Passage("d-1", "Klik op **Nieuw** om een factuur te maken."),),
    "nl",
)
SECRET = "the customer's own words"

# Languages without a lexicon reach the policy below unscored, so they can tell it what to do.
DEAF, DEADLY, DEADLY_ONCE, GREEDY, BROKEN = "fr", "de", "es", "it", "pt"


class HostilePolicy(Policy):
    """Does to its scoring process what a hostile answer might; ``version`` is a folder for notes."""

    __slots__ = ()

    def decide(self, assessment: Assessment) -> tuple[Decision, tuple[str, ...]]:
        match assessment.language:
            case "fr":
                deque(repeat(None), maxlen=0)  # for ever, inside C, where no signal handler runs
            case "de":
                os.kill(os.getpid(), signal.SIGKILL)
            case "es" if not (note := Path(self.version) / "died").exists():
                note.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            case "it":
                raise MemoryError
            case "pt":
                raise LookupError(SECRET)
        return Policy().decide(assessment)


def hostile(language: str) -> Exchange:
    return Exchange(SECRET, SECRET, (), language)


def scoring_processes() -> set[psutil.Process]:
    """Give the processes that the fork server made; its own and its helper's have no such parent."""
    return {
        grandchild
        for child in psutil.Process().children()
        for grandchild in child.children(recursive=True)
        if grandchild.is_running() and grandchild.status() != psutil.STATUS_ZOMBIE
    }


@pytest.fixture
def policy(tmp_path: Path) -> HostilePolicy:
    return HostilePolicy(version=str(tmp_path))


async def assert_still_judges(pool: ScoringPool) -> None:
    judgement = await asyncio.wait_for(pool.judge(HARMLESS, ()), 20)
    assert judgement.score is not None


async def test_the_pool_judges_as_the_scorer_does_and_leaves_no_process_behind() -> None:
    exchanges = [HARMLESS, Exchange("", ""), Exchange("Can I?", "Click **Gone**.", HARMLESS.context, "en")]
    async with ScoringPool(Policy(), "paper", 2, 10) as pool:
        assert len(scoring_processes()) == 2
        judgements: list[Judgement] = await asyncio.gather(
            *(pool.judge(exchange, ("context_missing",)) for exchange in exchanges * 5)
        )
    scorer = Scorer(Policy())
    assert judgements == [scorer.judge(exchange, ("context_missing",)) for exchange in exchanges] * 5
    assert scoring_processes() == set()


async def test_an_answer_that_takes_too_long_costs_its_process_and_no_other_answer(
    policy: HostilePolicy,
) -> None:
    async with ScoringPool(policy, "paper", 1, 0.5) as pool:
        before = scoring_processes()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(pool.judge(hostile(DEAF), ()), 20)
        await assert_still_judges(pool)
        assert scoring_processes().isdisjoint(before)


async def test_an_answer_whose_process_dies_gets_a_second_chance_and_no_third(
    policy: HostilePolicy,
) -> None:
    async with ScoringPool(policy, "paper", 1, 10) as pool:
        judgement = await asyncio.wait_for(pool.judge(hostile(DEADLY_ONCE), ()), 20)
        with pytest.raises(BadAnswer) as caught:
            await asyncio.wait_for(pool.judge(hostile(DEADLY), ()), 20)
        await assert_still_judges(pool)
    assert judgement.decision is Decision.REVIEW
    assert (caught.value.stage, caught.value.error_class) == (Stage.SCORE, "ProcessExpired")
    assert caught.value.attempts == 2


async def test_what_the_scorer_raises_concerns_its_answer_alone(policy: HostilePolicy) -> None:
    """That holds for memory too: to end the worker for it would bring the answer back."""
    async with ScoringPool(policy, "paper", 1, 10) as pool:
        with pytest.raises(LookupError):
            await asyncio.wait_for(pool.judge(hostile(BROKEN), ()), 20)
        with pytest.raises(BadAnswer) as caught:
            await asyncio.wait_for(pool.judge(hostile(GREEDY), ()), 20)
        await assert_still_judges(pool)
    assert (caught.value.stage, caught.value.error_class) == (Stage.SCORE, "MemoryError")
    assert caught.value.attempts == 2


async def _judge_until_it_fails(pool: ScoringPool) -> None:
    while True:
        await pool.judge(HARMLESS, ())


@pytest.mark.parametrize("processes", [1, 2])
async def test_a_process_killed_while_it_waits_ends_the_pool_with_an_error_and_no_hang(
    processes: int,
) -> None:
    async with ScoringPool(Policy(), "paper", processes, 10) as pool:
        victim = scoring_processes().pop()
        victim.kill()

        with pytest.raises(InfrastructureFailure) as caught:
            await asyncio.wait_for(_judge_until_it_fails(pool), 20)
    assert caught.value.exit_code == EXIT_SOFTWARE
    assert scoring_processes() == set()


async def test_a_pool_that_cannot_start_says_so_soon_and_leaves_no_process_behind() -> None:
    began = time.monotonic()
    with pytest.raises(InfrastructureFailure, match="do not start") as caught:
        async with ScoringPool(Policy(), "no such profile", 2, 10):
            pass
    assert caught.value.exit_code == EXIT_SOFTWARE
    assert time.monotonic() - began < 20
    assert scoring_processes() == set()


async def test_a_busy_process_does_not_hold_up_the_end(policy: HostilePolicy) -> None:
    async with ScoringPool(policy, "paper", 1, 60) as pool:
        (process,) = scoring_processes()
        idle = process.cpu_times().user
        judging = asyncio.create_task(pool.judge(hostile(DEAF), ()))
        await eventually(lambda: process.cpu_times().user > idle + 0.2, "the process is busy")
        began = time.monotonic()
    assert time.monotonic() - began < 20
    judging.cancel()
    assert scoring_processes() == set()
