"""Brokers that stop, freeze, die or refuse: answers wait, and none is lost."""

import asyncio
from pathlib import Path

import pytest
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from streams.cli.command_output import ExitCode
from streams.delivery import dead_letters
from streams.embedded import EmbeddedKafka
from streams.kafka.kafka_clients import open_admin
from streams.kafka.topics import Topics, check_topics, create_topics, topic_specifications
from streams.observability.failures import EXIT_UNREACHABLE
from streams.settings import Settings
from tests.support.brokers import isolated_settings, unique_prefix
from tests.support.chatbot import Chatbot
from tests.support.ledger import read_all, read_until_settled, sample_answers
from tests.support.records import eventually
from tests.support.workers import Supervised, Worker, changed

pytestmark = pytest.mark.timeout(1200)


def _settings(kafka: EmbeddedKafka, folder: Path) -> Settings:
    settings = isolated_settings(kafka.bootstrap_servers, folder, unique_prefix())
    return changed(
        settings,
        kafka={"group_instance_id": "only", "delivery_timeout_seconds": 10},
        flow={"session_timeout_seconds": 6, "answer_timeout_seconds": 20},
        scoring={"processes": 1},
    )


def _stop(kafka: EmbeddedKafka) -> None:
    kafka.brokers[0].stop()


def _start(kafka: EmbeddedKafka) -> None:
    kafka.start_broker(0)


def _pause(kafka: EmbeddedKafka) -> None:
    kafka.brokers[0].pause()


def _resume(kafka: EmbeddedKafka) -> None:
    kafka.brokers[0].resume()


@pytest.mark.parametrize(
    ("harm", "mend"), [pytest.param(_stop, _start, id="stopped"), pytest.param(_pause, _resume, id="frozen")]
)
async def test_a_broker_that_is_away_for_a_while_and_comes_back_loses_nothing(
    kafka, tmp_path, scale, report, harm, mend
):
    settings = _settings(kafka, tmp_path)
    await create_topics(settings)
    answers = sample_answers(scale.events, "outage")
    with Supervised(Worker(settings, tmp_path)) as supervised:
        supervised.worker.wait_ready()
        async with Chatbot(settings, answers, scale.events_per_second) as chatbot:
            await chatbot.sent_at_least(scale.events // 3)
            await asyncio.to_thread(harm, kafka)
            await asyncio.sleep(scale.outage_seconds)  # the outage itself, not a wait for something
            await asyncio.to_thread(mend, kafka)
            await chatbot.finished()
            ledger = await read_until_settled(settings, answers)
    ledger.assert_settled(answers)
    assert set(supervised.exit_codes) <= {EXIT_UNREACHABLE}
    report(ledger, answers, faults=1)


async def test_topics_just_made_are_known_whichever_broker_is_asked(trio, tmp_path):
    for _ in range(5):
        settings = _settings(trio, tmp_path)
        outcomes = await create_topics(settings)
        assert {outcome.problems for outcome in outcomes} == {()}
        assert {check.problems for check in await check_topics(settings)} == {()}


async def test_three_replicated_brokers_killed_one_at_a_time_lose_nothing(trio, tmp_path, scale, report):
    settings = _settings(trio, tmp_path)
    await create_topics(settings)
    answers = sample_answers(scale.events, "trio")
    with Supervised(Worker(settings, tmp_path)) as supervised:
        supervised.worker.wait_ready()
        async with Chatbot(settings, answers, scale.events_per_second) as chatbot:
            for index in range(3):
                await chatbot.sent_at_least((index + 1) * scale.events // 4)
                trio.brokers[index].kill()
                await chatbot.sent_at_least(chatbot.sent + 1)
                await asyncio.to_thread(trio.start_broker, index)
                await asyncio.to_thread(trio.wait_in_sync)
            await chatbot.finished()
            ledger = await read_until_settled(settings, answers)
    ledger.assert_settled(answers)
    assert set(supervised.exit_codes) <= {EXIT_UNREACHABLE}
    report(ledger, answers, kills=3)


async def _configure(settings: Settings, topic: str, **changes: str) -> None:
    """Change the configuration of a topic; what is not named stays as it was made."""
    (made,) = (spec.config for spec in topic_specifications(settings) if spec.name == topic)
    configs = {**made, **{name.replace("_", "."): value for name, value in changes.items()}}
    async with open_admin(settings.kafka) as admin:
        await admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, configs=configs)])


async def test_verdicts_that_their_topic_refuses_become_dead_letters_and_the_others_go_on(
    kafka, tmp_path, report
):
    settings = _settings(kafka, tmp_path)
    topics = Topics(settings.kafka.topic_prefix)
    await create_topics(settings)
    answers = sample_answers(80, "refused")
    with Supervised(Worker(settings, tmp_path)) as supervised:
        supervised.worker.wait_ready()
        await _configure(settings, topics.review, max_message_bytes="200")
        async with Chatbot(settings, answers, 500) as chatbot:
            await chatbot.finished()

        async def all_out() -> bool:
            ledger = await read_all(settings)
            return len(ledger.times_answered) + len(ledger.times_buried) == len(answers)

        await eventually(all_out, "every answer has a verdict or a dead letter", 120)
        ledger = await read_all(settings)
    assert {verdict.decision for verdict in ledger.verdicts} >= {"blocked"}
    assert "review" not in {verdict.decision for verdict in ledger.verdicts}
    assert {headers[dead_letters.STAGE] for headers in ledger.buried} == {b"publish"}
    assert len(ledger.times_buried) > 0
    assert supervised.exit_codes == []
    report(ledger, answers, faults=1)


async def test_an_output_topic_that_is_gone_stops_the_worker_until_it_is_back(kafka, tmp_path, report):
    settings = _settings(kafka, tmp_path)
    topics = Topics(settings.kafka.topic_prefix)
    await create_topics(settings)
    answers = sample_answers(120, "gone")
    with Supervised(Worker(settings, tmp_path)) as supervised:
        supervised.worker.wait_ready()
        async with open_admin(settings.kafka) as admin:
            await admin.delete_topics([topics.blocked])
        async with Chatbot(settings, answers, 500) as chatbot:
            await chatbot.finished()
        await eventually(lambda: len(supervised.exit_codes) > 1, "the worker gives up, and again", 120)
        await create_topics(settings)
        ledger = await read_until_settled(settings, answers)
    ledger.assert_settled(answers)
    first, *later = supervised.exit_codes
    assert first == EXIT_UNREACHABLE
    assert set(later) == {ExitCode.WRONG_USAGE}
    assert "truthgate topics create" in supervised.worker.log
    report(ledger, answers, faults=1)
