"""Workers that are killed, stopped and joined while answers come in: each answer gets its verdict."""

import asyncio
import random
import re
from pathlib import Path

import pytest

from streams.kafka.topics import Topics
from streams.settings import Settings
from tests.faults.conftest import Scale
from tests.support.chatbot import Chatbot
from tests.support.documents import sample_documents
from tests.support.ledger import read_until_settled, sample_answers
from tests.support.records import committed, end_offsets, eventually, produce
from tests.support.retrieval import with_retrieval, without_context
from tests.support.workers import Worker, changed

pytestmark = [pytest.mark.usefixtures("topics"), pytest.mark.timeout(900)]

_IN_FLIGHT = re.compile(r"^truthgate_answers_in_flight (\d+)", re.MULTILINE)


@pytest.fixture
def quick(settings: Settings) -> Settings:
    """Give settings with which a killed worker is missed after seconds, and one process scores."""
    return changed(
        settings,
        flow={"session_timeout_seconds": 6},
        scoring={"processes": 1},
    )


def _static(settings: Settings, name: str) -> Settings:
    """Give a worker a name in its group, so that its successor takes over at once."""
    return changed(settings, kafka={"group_instance_id": name})


def _in_flight(worker: Worker) -> int:
    found = _IN_FLIGHT.search(worker.get("/metrics")[1])
    return int(found[1]) if found else 0


async def test_sigkill_in_mid_batch_again_and_again_loses_nothing(
    quick: Settings, topics: Topics, tmp_path: Path, scale: Scale, report
) -> None:
    answers = sample_answers(scale.events, "kill")
    answers[::3] = without_context(answers[::3], "bare")
    await produce(quick.kafka, topics.documents, sample_documents())
    moments = sorted(random.Random(7).sample(range(20, scale.events - 20), scale.kills))
    with Worker(with_retrieval(_static(quick, "only")), tmp_path) as worker:
        worker.wait_ready()
        async with Chatbot(quick, answers, scale.events_per_second) as chatbot:
            for moment in moments:
                await chatbot.sent_at_least(moment)
                worker.kill()
                worker.start()
                await asyncio.to_thread(worker.wait_ready)
            await chatbot.finished()
            ledger = await read_until_settled(quick, answers)
    ledger.assert_settled(answers)
    report(ledger, answers, kills=scale.kills)


async def test_sigterm_finishes_what_is_in_work_and_repeats_nothing(
    quick: Settings, tmp_path: Path, scale: Scale, report
) -> None:
    answers = sample_answers(scale.events, "term")
    stops = max(2, scale.kills // 2)
    with Worker(quick, tmp_path) as worker:
        worker.wait_ready()
        async with Chatbot(quick, answers, scale.events_per_second) as chatbot:
            for stop in range(1, stops + 1):
                await chatbot.sent_at_least(stop * scale.events // (stops + 1))
                await eventually(lambda: _in_flight(worker) > 0, "answers are in work")
                # In a thread, so that more answers come meanwhile.
                assert await asyncio.to_thread(worker.terminate) == 0
                worker.start()
                await asyncio.to_thread(worker.wait_ready)
            await chatbot.finished()
            ledger = await read_until_settled(quick, answers)
    ledger.assert_settled(answers)
    await ledger.assert_no_record_repeated(quick)
    report(ledger, answers, faults=stops)


async def test_two_workers_with_one_killed_and_one_joining_lose_nothing(
    quick: Settings, tmp_path: Path, scale: Scale, report
) -> None:
    answers = sample_answers(scale.events, "pair")
    rounds = max(1, scale.kills // 3)
    first, second = (Worker(quick, tmp_path, name) for name in ("first", "second"))
    with first, second:
        first.wait_ready()
        second.wait_ready()
        async with Chatbot(quick, answers, scale.events_per_second) as chatbot:
            for number in range(1, rounds + 1):
                await chatbot.sent_at_least(number * scale.events // (rounds + 1))
                victim = (first, second)[number % 2]
                victim.kill()
                victim.start()
                await asyncio.to_thread(victim.wait_ready)
            await chatbot.finished()
            ledger = await read_until_settled(quick, answers)
    ledger.assert_settled(answers)
    report(ledger, answers, kills=rounds)


async def test_a_worker_that_joins_takes_part_and_one_that_leaves_hands_over(
    quick: Settings, topics: Topics, tmp_path: Path, scale: Scale, report
) -> None:
    answers = sample_answers(scale.events, "join")
    first, second = (Worker(quick, tmp_path, name) for name in ("first", "second"))
    with first:
        first.wait_ready()
        async with Chatbot(quick, answers, scale.events_per_second) as chatbot:
            await chatbot.sent_at_least(scale.events // 4)
            with second:
                await asyncio.to_thread(second.wait_ready)
                await eventually(
                    lambda: "truthgate_verdict_latency_seconds_count" in second.get("/metrics")[1],
                    "the second judges",
                )
                await chatbot.sent_at_least(scale.events // 2)
                assert await asyncio.to_thread(first.terminate) == 0
                await chatbot.finished()
                ledger = await read_until_settled(quick, answers)

                async def all_committed() -> bool:
                    # The end of the topic, since an answer that seemed lost to the chatbot is sent twice.
                    ends = await end_offsets(quick.kafka, [topics.answers])
                    offsets = await committed(quick.kafka, topics.answers)
                    return all(offsets[partition.partition] == end for partition, end in ends.items())

                await eventually(all_committed, "everything is committed")
    ledger.assert_settled(answers)
    report(ledger, answers, faults=2)
