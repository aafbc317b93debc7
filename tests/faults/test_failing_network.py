"""A network that is slow, breaks, or swallows what it is given: answers wait, and none is lost."""

import asyncio
from pathlib import Path

import pytest
from aiohttp import ClientSession

from schemas import ChatbotAnswer, to_json
from streams.embedded import EmbeddedKafka
from streams.kafka.topics import create_topics
from streams.observability.failures import EXIT_UNREACHABLE
from streams.settings import Settings
from tests.support.brokers import isolated_settings, unique_prefix
from tests.support.chatbot import Chatbot
from tests.support.commands import truthgate, variables
from tests.support.http_service import ADDRESS
from tests.support.ledger import read_until_settled, sample_answers
from tests.support.records import eventually
from tests.support.sendable_answers import sendable_answers, sending
from tests.support.tcp_proxy import TcpProxy
from tests.support.workers import Server, Supervised, Worker, changed

pytestmark = pytest.mark.timeout(1200)


@pytest.fixture
async def direct(network: tuple[TcpProxy, EmbeddedKafka], tmp_path: Path) -> Settings:
    """Give settings that reach the broker without the proxy; the topics exist."""
    settings = isolated_settings(network[1].bootstrap_servers, tmp_path, unique_prefix())
    await create_topics(settings)
    return settings


def _behind(proxy: TcpProxy, direct: Settings) -> Settings:
    return changed(
        direct,
        kafka={
            "bootstrap_servers": proxy.address,
            "group_instance_id": "only",
            "delivery_timeout_seconds": 10,
        },
        flow={"session_timeout_seconds": 6, "answer_timeout_seconds": 20},
        scoring={"processes": 1},
    )


async def test_a_slow_connection_delays_verdicts_and_loses_none(proxy, direct, tmp_path, scale, report):
    answers = sample_answers(scale.events, "slow")
    with Supervised(Worker(_behind(proxy, direct), tmp_path)) as supervised:
        supervised.worker.wait_ready()
        proxy.slow(latency=0.2)
        async with Chatbot(direct, answers, scale.events_per_second) as chatbot:
            await chatbot.finished()
            ledger = await read_until_settled(direct, answers)
    ledger.assert_settled(answers)
    assert supervised.exit_codes == []
    report(ledger, answers, faults=1)


async def test_a_connection_cut_in_mid_request_again_and_again_loses_nothing(
    proxy, direct, tmp_path, scale, report
):
    answers = sample_answers(scale.events, "cut")
    cuts = 4 * scale.kills
    with Supervised(Worker(_behind(proxy, direct), tmp_path)) as supervised:
        supervised.worker.wait_ready()
        async with Chatbot(direct, answers, scale.events_per_second) as chatbot:
            for cut in range(1, cuts + 1):
                await chatbot.sent_at_least(cut * scale.events // (cuts + 1))
                proxy.cut()
            await chatbot.finished()
            ledger = await read_until_settled(direct, answers)
    ledger.assert_settled(answers)
    assert set(supervised.exit_codes) <= {EXIT_UNREACHABLE}
    report(ledger, answers, faults=cuts)


async def test_a_half_open_connection_does_not_hang_the_worker_or_lose_an_answer(
    proxy, direct, tmp_path, scale, report
):
    answers = sample_answers(scale.events, "half")
    with Supervised(Worker(_behind(proxy, direct), tmp_path)) as supervised:
        supervised.worker.wait_ready()
        async with Chatbot(direct, answers, scale.events_per_second) as chatbot:
            await chatbot.sent_at_least(scale.events // 3)
            proxy.half_open()
            await asyncio.sleep(scale.outage_seconds)  # the outage itself, not a wait for something
            proxy.restore()
            await chatbot.finished()
            ledger = await read_until_settled(direct, answers)
    ledger.assert_settled(answers)
    assert set(supervised.exit_codes) <= {EXIT_UNREACHABLE}
    report(ledger, answers, faults=1)


@pytest.mark.parametrize("process", [Worker, Server])
async def test_a_verdict_that_the_client_was_refused_is_not_published_later(process, proxy, direct, tmp_path):
    first, refused = sendable_answers(2, "refused")
    serving = sending(changed(_behind(proxy, direct), web={"verdicts": {"anonymous": True, "publish": True}}))
    with process(serving, tmp_path) as running:
        await asyncio.to_thread(running.wait_ready)
        async with ClientSession(running.address) as session:

            async def status(answer: ChatbotAnswer) -> int:
                async with session.post(ADDRESS, json=to_json(answer)) as response:
                    return response.status

            assert await status(first) == 200
            proxy.half_open()
            assert await status(refused) == 503
            paused = await asyncio.to_thread(
                truthgate, "pause", "--reason", "wrong", "--by", "anna", environment=variables(direct)
            )
            assert paused.returncode == 0, paused.stderr
            proxy.restore()
            await eventually(lambda: "sending_paused" in running.log, "it knows of the pause")

            async def is_published_again() -> bool:
                return await status(refused) == 200

            await eventually(is_published_again, "the brokers have it")
    ledger = await read_until_settled(direct, [first, refused])
    decided = {verdict.answer_id: verdict.decision for verdict in ledger.verdicts}
    assert decided == {first.answer_id: "auto_send", refused.answer_id: "review"}
    assert len(ledger.verdicts) == len(decided)
