"""Pauses or policies that cannot be read: nothing is sent meanwhile, and no answer is lost."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiokafka import ConsumerRecord
from aiokafka.admin import NewTopic

from streams.embedded import EmbeddedKafka
from streams.kafka.kafka_clients import open_admin
from streams.kafka.topics import create_topics, topic_specifications
from streams.observability.failures import EXIT_UNREACHABLE
from streams.reviews.policy_records import Change
from streams.settings import Settings
from tests.support.brokers import isolated_settings, unique_prefix
from tests.support.chatbot import Chatbot
from tests.support.ledger import Ledger, read_all, read_until_settled
from tests.support.pauses import a_pause, pause_record
from tests.support.policies import a_change, change_record
from tests.support.records import Outgoing, eventually, produce
from tests.support.sendable_answers import WOULD_BE, sendable_answers, sending
from tests.support.workers import Supervised, Worker, changed

pytestmark = pytest.mark.timeout(600)

#: The broker that alone has the pauses, or the policies; of all other topics the others have replicas.
LAST = 2


@dataclass(frozen=True)
class Case:
    """A topic, a record of it that keeps answers from being sent, and what is said of it."""

    topic: str
    record: ConsumerRecord
    held: str
    unknown: str
    subject: str
    log_lines: tuple[str, str]


PAUSES = Case(
    "controls",
    pause_record(a_pause()),
    "sending_paused",
    "pauses_unknown",
    "the pauses",
    ("pauses_unknown", "pauses_known_again"),
)
POLICIES = Case(
    "policies",
    change_record(a_change("settings", Change.WITHDRAWN)),
    "policy_withdrawn",
    "policy_unknown",
    "the policies",
    ("policies_unknown", "policies_known_again"),
)


@pytest.fixture(params=[PAUSES, POLICIES], ids=lambda case: case.topic)
def case(request: pytest.FixtureRequest) -> Case:
    """Give the case of a test."""
    found: Case = request.param
    return found


@pytest.fixture
async def settings(trio: EmbeddedKafka, tmp_path: Path, case: Case) -> Settings:
    """Make the topics, that of the case on one broker alone, for a worker that sends what is sendable."""
    settings = sending(
        changed(
            isolated_settings(trio.bootstrap_servers, tmp_path, unique_prefix()),
            kafka={"group_instance_id": "only", "delivery_timeout_seconds": 10, "connect_timeout_seconds": 5},
            flow={"session_timeout_seconds": 6},
            scoring={"processes": 1},
        )
    )
    name = f"{settings.kafka.topic_prefix}{case.topic}"
    (config,) = (spec.config for spec in topic_specifications(settings) if spec.name == name)
    alone = NewTopic(name, -1, -1, {0: [LAST + 1]}, {**config, "min.insync.replicas": "1"})
    async with open_admin(settings.kafka) as admin:
        await admin.create_topics([alone])
    await create_topics(settings)
    return settings


async def _publish(settings: Settings, run: str) -> list:
    answers = sendable_answers(40, run)
    async with Chatbot(settings, answers, 200) as chatbot:
        await chatbot.finished()
    return answers


def _decided(ledger: Ledger, run: str) -> set[tuple[str, str]]:
    return {(v.decision, v.reasons[0]) for v in ledger.verdicts if v.answer_id.startswith(f"{run}-")}


async def test_a_worker_that_cannot_read_them_at_its_start_judges_nothing_until_it_can(
    trio, settings, case, tmp_path, report
):
    topic = f"{settings.kafka.topic_prefix}{case.topic}"
    await produce(settings.kafka, topic, [Outgoing(case.record.value, case.record.key)])
    answers = await _publish(settings, "paused")
    await asyncio.to_thread(trio.brokers[LAST].stop)
    with Supervised(Worker(settings, tmp_path)) as supervised:
        await eventually(lambda: len(supervised.exit_codes) > 1, "the worker gives up, and again", 120)
        assert (await read_all(settings)).verdicts == []
        assert f"{case.subject} cannot be read" in supervised.worker.log
        assert set(supervised.exit_codes) == {EXIT_UNREACHABLE}
        await asyncio.to_thread(trio.start_broker, LAST)
        ledger = await read_until_settled(settings, answers)
    ledger.assert_settled(answers)
    assert _decided(ledger, "paused") == {("review", case.held)}
    report(ledger, answers, faults=1)


async def test_a_worker_that_cannot_read_them_any_more_sends_nothing_until_it_can(
    trio, settings, case, tmp_path, report
):
    unknown, again = case.log_lines
    with Supervised(Worker(settings, tmp_path)) as supervised:
        supervised.worker.wait_ready()
        before = await _publish(settings, "before")
        await read_until_settled(settings, before)
        await asyncio.to_thread(trio.brokers[LAST].stop)
        await eventually(lambda: f'"{unknown}"' in supervised.worker.log, "it knows no more", 90)
        meanwhile = await _publish(settings, "meanwhile")
        await read_until_settled(settings, [*before, *meanwhile])
        assert supervised.exit_codes == []
        await asyncio.to_thread(trio.start_broker, LAST)
        await eventually(lambda: f'"{again}"' in supervised.worker.log, "it knows again", 90)
        after = await _publish(settings, "after")
        ledger = await read_until_settled(settings, [*before, *meanwhile, *after])
    ledger.assert_settled([*before, *meanwhile, *after])
    sent = ("auto_send", WOULD_BE)
    assert [_decided(ledger, run) for run in ("before", "meanwhile", "after")] == [
        {sent},
        {("review", case.unknown)},
        {sent},
    ]
    report(ledger, [*before, *meanwhile, *after], faults=1)
