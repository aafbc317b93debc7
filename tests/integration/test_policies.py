"""Policies with real workers: approved and withdrawn without a restart, under kills, and unreadable."""

import asyncio
from collections import Counter

import pytest

from schemas import Codec
from schemas.records import Verdict
from streams.kafka.topics import Topics
from streams.reviews.policy_records import Change
from streams.settings import Settings
from tests.support.chatbot import Chatbot
from tests.support.ledger import Ledger, outgoing, read_all, read_until_settled
from tests.support.policies import a_change, fitted_to, write_changes, wrong_decisions
from tests.support.records import Outgoing, consume_all, eventually, produce
from tests.support.sendable_answers import WOULD_BE, sendable_answers, sending
from tests.support.workers import Supervised, Worker, changed

#: From a withdrawal in the topic to the last verdict that is still sent, by the clock of the broker, on a
#: machine that tests keep busy.
AT_ONCE_MS = 2_000
VERSION, NARROW = "fitted-1", "fitted-2"
BY_RISK = ("auto_send", ("low_risk", WOULD_BE), VERSION)
NOT_COVERED = ("review", ("risk_not_covered", WOULD_BE), NARROW)
WITHDRAWN = ("review", ("policy_withdrawn", WOULD_BE), VERSION)


@pytest.fixture
def quick(settings: Settings) -> Settings:
    """Give settings of workers that send what is sendable, and are soon missed."""
    return sending(changed(settings, flow={"session_timeout_seconds": 6}, scoring={"processes": 1}))


def by_settings(settings: Settings) -> tuple[str, tuple[str, ...], str]:
    return "auto_send", (WOULD_BE,), settings.policy.identity


def decided(verdict: Verdict) -> tuple[str, tuple[str, ...], str]:
    return verdict.decision, verdict.reasons, verdict.policy_version


async def judged(settings: Settings, run: str, count: int = 10) -> list[Verdict]:
    answers = sendable_answers(count, run)
    topic = Topics(settings.kafka.topic_prefix).answers
    await produce(settings.kafka, topic, [outgoing(answer, Codec()) for answer in answers])
    ledger = await read_until_settled(settings, answers)
    return [verdict for verdict in ledger.verdicts if verdict.answer_id.startswith(f"{run}-")]


async def outcomes(settings: Settings, run: str) -> set[tuple[str, tuple[str, ...], str]]:
    return set(map(decided, await judged(settings, run)))


async def propose(settings: Settings, like: Verdict) -> None:
    await write_changes(
        settings,
        a_change(VERSION, Change.PROPOSED, fitted=fitted_to(like)),
        a_change(NARROW, Change.PROPOSED, fitted=fitted_to(like, 0.001)),
    )


async def last_sent_after(settings: Settings, ledger: Ledger, key: str) -> int:
    """Give how many ms after the record with this key the last verdict came that was sent by the version."""
    records = await consume_all(settings.kafka, Topics(settings.kafka.topic_prefix).policies)
    (at,) = (record.timestamp for record in records if record.key == key.encode())
    pairs = zip(ledger.records, ledger.verdicts, strict=True)
    return max(record.timestamp for record, verdict in pairs if decided(verdict) == BY_RISK) - at


@pytest.mark.usefixtures("topics")
@pytest.mark.timeout(300)
async def test_workers_change_over_and_stop_sending_without_a_restart(quick, tmp_path):
    answers = sendable_answers(1600, "stream")
    workers = [Worker(quick, tmp_path, name) for name in ("first", "second")]
    with workers[0], workers[1]:
        for worker in workers:
            await asyncio.to_thread(worker.wait_ready)
        like = (await judged(quick, "before", 1))[0]
        await propose(quick, like)
        async with Chatbot(quick, answers, 50) as chatbot:
            await chatbot.sent_at_least(200)
            await write_changes(quick, a_change(NARROW, Change.APPROVED))
            await chatbot.sent_at_least(500)
            await write_changes(quick, a_change(VERSION, Change.APPROVED))
            await chatbot.sent_at_least(900)
            await write_changes(quick, a_change(VERSION, Change.WITHDRAWN))
            await chatbot.sent_at_least(1200)
            assert all(
                f'truthgate_policy{{state="withdrawn",version="{VERSION}"}} 1' in worker.metrics()
                for worker in workers
            )
            await write_changes(quick, a_change("settings", Change.APPROVED))
            await chatbot.finished()
        ledger = await read_until_settled(quick, answers)
        logs = [worker.log for worker in workers]
    assert [log.count("worker_starts") for log in logs] == [1, 1]
    counts = Counter(map(decided, ledger.verdicts))
    assert counts.keys() == {by_settings(quick), NOT_COVERED, BY_RISK, WITHDRAWN}
    assert min(counts.values()) >= 150
    assert await wrong_decisions(quick, ledger, AT_ONCE_MS) == []
    assert await last_sent_after(quick, ledger, f"{VERSION}/withdrawn") < AT_ONCE_MS


@pytest.mark.usefixtures("topics")
@pytest.mark.timeout(300)
async def test_verdicts_under_kills_are_those_of_an_offline_recount(quick, tmp_path):
    only = changed(quick, kafka={"group_instance_id": "only"})
    answers = sendable_answers(900, "stream")
    with Supervised(Worker(only, tmp_path)) as supervised:
        supervised.worker.wait_ready()
        like = (await judged(quick, "before", 1))[0]
        await propose(quick, like)
        async with Chatbot(quick, answers, 30) as chatbot:
            await chatbot.sent_at_least(100)
            for number, change in enumerate((Change.APPROVED, Change.WITHDRAWN, Change.APPROVED)):
                await write_changes(quick, a_change(VERSION, change))
                supervised.worker.kill()
                await judged(quick, f"after-{number}")
            await chatbot.finished()
        await read_until_settled(quick, answers)
        ledger = await read_all(quick)
    assert len(supervised.exit_codes) == 3
    assert ledger.unanswered(answers) == set()
    assert ledger.buried == []
    assert set(map(decided, ledger.verdicts)) == {by_settings(quick), BY_RISK, WITHDRAWN}
    # A verdict may be published once more, whenever it was decided: a killed worker's request may arrive.
    assert await wrong_decisions(quick, ledger, AT_ONCE_MS) == []


async def test_what_cannot_be_read_withdraws_its_version_until_something_is_approved(quick, topics, tmp_path):
    with Worker(quick, tmp_path) as worker:
        worker.wait_ready()
        like = (await judged(quick, "before", 1))[0]
        await propose(quick, like)
        await write_changes(quick, a_change(VERSION, Change.APPROVED))
        await eventually(lambda: worker.log.count("policy_changed") == 3, "the worker knows of it")
        assert await outcomes(quick, "approved") == {BY_RISK}
        nonsense = Outgoing(b"nonsense", f"{VERSION}/withdrawn/instruction nl".encode(), partition=0)
        await produce(quick.kafka, topics.policies, [nonsense])
        await eventually(lambda: "policy_unreadable" in worker.log, "the worker has met it")
        assert await outcomes(quick, "unreadable") == {WITHDRAWN}
        await write_changes(quick, a_change(VERSION, Change.APPROVED))
        await eventually(lambda: worker.log.count("policy_changed") == 4, "it is approved again")
        assert await outcomes(quick, "again") == {BY_RISK}
        await produce(
            quick.kafka, topics.policies, [Outgoing(b"nonsense", b"fitted-3/proposed", partition=0)]
        )
        await write_changes(quick, a_change("fitted-3", Change.APPROVED))
        await eventually(lambda: "policies_unknown" in worker.log, "the version has no content")
        unknown = ("review", ("policy_unknown", WOULD_BE), "fitted-3")
        assert await outcomes(quick, "unknown") == {unknown}
        assert "the policy is unknown" in worker.get("/readyz")[1]
        await write_changes(quick, a_change("settings", Change.APPROVED))
        await eventually(lambda: "policies_known_again" in worker.log, "the settings decide")
        assert await outcomes(quick, "settings") == {by_settings(quick)}
