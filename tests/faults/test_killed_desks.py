"""Desk, worker and broker killed while reviewers decide: each held answer gets the outcome it was given."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from schemas import Review
from streams.embedded import EmbeddedKafka
from streams.kafka.topics import create_topics
from streams.settings import Settings
from tests.faults.conftest import Scale
from tests.support.brokers import isolated_settings, unique_prefix
from tests.support.chatbot import Chatbot
from tests.support.desk import DeskProcess, Reviewer, reviews
from tests.support.ledger import read_until_settled, sample_answers
from tests.support.records import eventually
from tests.support.workers import Supervised, Worker, changed

pytestmark = pytest.mark.timeout(900)
OUTCOMES = {"send": "send", "reject": "reject", "edit": "send_edited"}
#: The sample's answers are months old.
YEAR = 365 * 86_400.0


class Reviewing:
    """A person who decides about one answer after the other, and logs in again when the desk was away.

    Attributes:
        confirmed: the outcome of each verdict whose decision the page confirmed.
    """

    def __init__(self, desk: DeskProcess, name: str) -> None:
        self.confirmed: dict[str, str] = {}
        self._desk = desk
        self._name = name
        self._end = threading.Event()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        thread = threading.Thread(target=self._work, name=self._name, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._end.set()
            thread.join(30)

    def _work(self) -> None:
        while not self._end.is_set():
            try:
                with Reviewer(self._desk.address, self._name) as reviewer:
                    while not self._end.wait(0.05):
                        self._decide(reviewer)
            except (httpx2.HTTPError, httpx2.InvalidURL, ValueError):
                self._end.wait(0.2)  # the desk is being started again

    def _decide(self, reviewer: Reviewer) -> None:
        reviewer.look()
        if (shown := reviewer.shown) is None:
            return
        action = sorted(OUTCOMES)[sum(shown.encode()) % len(OUTCOMES)]
        edited = {"text": f"Better than {shown}."} if action == "edit" else {}
        page = reviewer.decide(action, **edited)
        if shown in page and reviewer.shown != shown:  # it is listed as decided
            self.confirmed[shown] = OUTCOMES[action]


def _settings(kafka: EmbeddedKafka, folder: Path) -> Settings:
    settings = isolated_settings(kafka.bootstrap_servers, folder, unique_prefix())
    return changed(
        settings,
        kafka={"group_instance_id": "only", "delivery_timeout_seconds": 10},
        flow={"session_timeout_seconds": 6},
        scoring={"processes": 1},
    )


async def test_desk_worker_and_broker_killed_in_turn_leave_each_held_answer_with_one_outcome(
    kafka: EmbeddedKafka, tmp_path: Path, scale: Scale, report
) -> None:
    settings = _settings(kafka, tmp_path)
    await create_topics(settings)
    answers = sample_answers(scale.events // 4, "desk")
    limits = {"time_limit_seconds": YEAR, "blocked_time_limit_seconds": YEAR, "decisions_per_minute": 10_000}
    desk = DeskProcess(settings, tmp_path, undo_seconds=1, lease_seconds=3, **limits)
    people = [Reviewing(desk, name) for name in ("kim", "alex", "robin")]
    with Supervised(Worker(settings, tmp_path)) as worker, Supervised(desk):
        await asyncio.to_thread(worker.worker.wait_ready)
        await asyncio.to_thread(desk.wait_ready)
        with people[0].at_work(), people[1].at_work(), people[2].at_work():
            async with Chatbot(settings, answers, scale.events_per_second / 4) as chatbot:
                for number in range(scale.kills):
                    await chatbot.sent_at_least((number + 1) * len(answers) // (scale.kills + 1))
                    desk.kill()
                    worker.worker.kill()
                    await chatbot.sent_at_least(chatbot.sent + 10)
                    await asyncio.to_thread(kafka.brokers[0].kill)
                    await asyncio.sleep(1)  # the outage itself
                    await asyncio.to_thread(kafka.start_broker, 0)
                    await asyncio.to_thread(kafka.wait_in_sync)
                await chatbot.finished()
            ledger = await read_until_settled(settings, answers)
            held = {each.verdict_id for each in ledger.verdicts if each.decision == "review"}

            async def all_decided() -> bool:
                return held <= {each.verdict_id for each in await reviews(settings)}

            await eventually(all_decided, "all held answers have an outcome", 180)
        assert desk.terminate() in {0, 3}
    effective: dict[str, Review] = {}
    for each in await reviews(settings):
        effective.setdefault(each.verdict_id, each)
    confirmed = {key: outcome for each in people for key, outcome in each.confirmed.items()}
    assert len(confirmed) == sum(len(each.confirmed) for each in people), "one answer for one person"
    assert len(confirmed) > len(held) / 2
    assert {key: effective[key].outcome for key in confirmed} == confirmed
    assert {each.outcome for each in effective.values()} <= set(OUTCOMES.values())
    assert {each.reviewer for each in effective.values()} == {"kim", "alex", "robin"}
    report(ledger, answers, kills=3 * scale.kills)
