"""Pauses with real workers: at once, in all of them, without a restart, and over restarts."""

import asyncio
import json
import subprocess
from collections import Counter

import pytest
from aiokafka import ConsumerRecord
from prometheus_client.parser import text_string_to_metric_families

from schemas import Codec, Pause
from schemas.records import ChatbotAnswer, Verdict
from streams.kafka.topics import Topics
from streams.pause.pause_state import PauseStatus
from streams.settings import Settings
from tests.support.chatbot import Chatbot
from tests.support.commands import truthgate, variables
from tests.support.ledger import Ledger, outgoing, read_until_settled
from tests.support.records import Outgoing, consume_all, eventually, produce
from tests.support.sendable_answers import WOULD_BE, sendable_answers, sending
from tests.support.workers import Worker, changed

#: From a pause in the topic to the last verdict that is still sent, and from a resumption to the first one,
#: by the clock of the broker, on a machine that tests keep busy.
AT_ONCE_MS = 2_000
WHY = "prices are wrong"
PAUSED = ("review", ("sending_paused", WOULD_BE))
SENT = ("auto_send", (WOULD_BE,))


@pytest.fixture
def quick(settings: Settings) -> Settings:
    """Give settings of workers that send what is sendable, and are soon missed."""
    return sending(
        changed(
            settings,
            flow={"session_timeout_seconds": 6},
            scoring={"processes": 1},
        )
    )


async def _command(settings: Settings, *arguments: str) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(truthgate, *arguments, environment=variables(settings))


async def _pause(settings: Settings, *arguments: str) -> None:
    done = await _command(settings, "pause", "--reason", WHY, "--by", "anna", *arguments)
    assert done.returncode == 0, done.stderr


async def _resume(settings: Settings, *arguments: str) -> None:
    done = await _command(settings, "resume", "--reason", "they are right again", *arguments)
    assert done.returncode == 0, done.stderr


async def _judged(settings: Settings, topics: Topics, answers: list[ChatbotAnswer]) -> list[Verdict]:
    await produce(settings.kafka, topics.answers, [outgoing(answer, Codec()) for answer in answers])
    ledger = await read_until_settled(settings, answers)
    ids = {answer.answer_id for answer in answers}
    return [verdict for verdict in ledger.verdicts if verdict.answer_id in ids]


def _decided(verdicts: list[Verdict]) -> set[tuple[str, tuple[str, ...]]]:
    return {(verdict.decision, verdict.reasons) for verdict in verdicts}


def _paused(worker: Worker) -> float:
    """Give how many verdicts the worker has sent to review for a pause."""
    return sum(
        sample.value
        for family in text_string_to_metric_families(worker.metrics())
        for sample in family.samples
        if sample.name == "truthgate_verdicts_paused_total" and sample.labels["reason"] == "sending_paused"
    )


async def _changes(settings: Settings, topics: Topics) -> dict[str, int]:
    """Give when each status came into the topic, by the broker's clock."""
    records = await consume_all(settings.kafka, topics.controls)
    return {Codec().decode(record.value, Pause).status: record.timestamp for record in records}


def _sent(ledger: Ledger, topics: Topics) -> list[ConsumerRecord]:
    return sorted(
        (record for record in ledger.records if record.topic == topics.auto_send),
        key=lambda record: record.timestamp,
    )


@pytest.mark.timeout(300)
async def test_a_pause_counts_at_once_in_all_workers_and_so_does_its_end(quick, topics, tmp_path):
    answers = sendable_answers(1500, "stream")
    workers = [Worker(quick, tmp_path, name) for name in ("first", "second")]
    with workers[0], workers[1]:
        for worker in workers:
            await asyncio.to_thread(worker.wait_ready)
        async with Chatbot(quick, answers, 50) as chatbot:
            await chatbot.sent_at_least(200)
            await _pause(quick)
            at_pause = chatbot.sent
            await chatbot.sent_at_least(at_pause + 300)
            assert [_paused(worker) > 0 for worker in workers] == [True, True]
            assert all(
                'truthgate_pauses{language="all",message_type="all"} 1' in w.metrics() for w in workers
            )
            await _resume(quick)
            await chatbot.finished()
        ledger = await read_until_settled(quick, answers)
        logs = [worker.log for worker in workers]
    assert [log.count("worker_starts") for log in logs] == [1, 1]
    assert WHY not in "".join(logs)
    ledger.assert_settled(answers)
    changes, sent = await _changes(quick, topics), [r.timestamp for r in _sent(ledger, topics)]
    begin, end = changes[PauseStatus.PAUSED], changes[PauseStatus.RESUMED]
    late = [at - begin for at in sent if begin < at < end]
    again = min(at - end for at in sent if at > end)
    assert max(late, default=0) < AT_ONCE_MS
    assert again < AT_ONCE_MS
    assert min(sent) < begin
    counts = Counter((verdict.decision, verdict.reasons) for verdict in ledger.verdicts)
    assert counts.keys() == {PAUSED, SENT}
    assert counts[PAUSED] >= 300


async def test_a_pause_on_a_language_leaves_the_others_alone(quick, topics, tmp_path):
    with Worker(quick, tmp_path) as worker:
        worker.wait_ready()
        await _pause(quick, "--language", "nl")
        await eventually(lambda: "sending_paused" in worker.log, "the worker knows of it")
        verdicts = await _judged(quick, topics, sendable_answers(20, "both", ("nl", "en")))
    assert _decided([verdict for verdict in verdicts if verdict.language == "nl"]) == {PAUSED}
    assert _decided([verdict for verdict in verdicts if verdict.language == "en"]) == {SENT}


async def test_a_pause_lasts_over_starts_and_kills_until_it_is_resumed(quick, topics, tmp_path):
    only = changed(quick, kafka={"group_instance_id": "only"})
    await _pause(quick)
    with Worker(only, tmp_path) as worker:
        worker.wait_ready()
        assert _decided(await _judged(quick, topics, sendable_answers(20, "first"))) == {PAUSED}
        worker.kill()
        worker.start()
        worker.wait_ready()
        assert _decided(await _judged(quick, topics, sendable_answers(20, "second"))) == {PAUSED}
        await _resume(quick)
        await eventually(lambda: "sending_resumed" in worker.log, "the worker knows of it")
        assert _decided(await _judged(quick, topics, sendable_answers(20, "third"))) == {SENT}


async def test_a_worker_can_be_set_to_pause_without_any_command(quick, topics, tmp_path):
    paused = {**quick.model_dump()["policy"], "pause": True}
    settings = Settings.model_validate({**quick.model_dump(), "policy": paused})
    with Worker(settings, tmp_path) as worker:
        worker.wait_ready()
        assert _decided(await _judged(quick, topics, sendable_answers(10, "set"))) == {PAUSED}


async def test_what_cannot_be_read_pauses_everything_until_it_is_removed(quick, topics, tmp_path):
    with Worker(quick, tmp_path) as worker:
        worker.wait_ready()
        await produce(quick.kafka, topics.controls, [Outgoing(b"\x00nonsense", b"somebody else's")])
        await eventually(lambda: "pause_unreadable" in worker.log, "the worker has met it")
        unknown = {("review", ("pauses_unknown", WOULD_BE))}
        assert _decided(await _judged(quick, topics, sendable_answers(10, "unread"))) == unknown
        listed = await _command(quick, "paused", "--json")
        assert json.loads(listed.stdout) == {
            "source": "unreadable",
            "at": "0:0",
            "error": "schema_registry_not_configured",
        }
        await _pause(quick, "--language", "en")
        await _resume(quick, "--unreadable")
        await eventually(lambda: "pauses_known_again" in worker.log, "the worker knows the pauses")
        assert _decided(await _judged(quick, topics, sendable_answers(10, "read"))) == {SENT}
        again = await _command(quick, "resume", "--reason", "x", "--unreadable")
        assert (again.returncode, "nothing is paused for unreadable records" in again.stderr) == (1, True)
        assert "all answers in en" in (await _command(quick, "paused")).stdout


async def test_pauses_are_listed_with_who_and_why_and_only_they_can_be_resumed(settings, topics):
    nothing = await _command(settings, "paused")
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (0, "", "truthgate: nothing is paused\n")
    await _pause(settings, "--message-type", "error", "--message-type", "binary", "--language", "nl")
    listed = await _command(settings, "paused", "--json")
    found = [json.loads(line) for line in listed.stdout.splitlines()]
    assert [(each["message_type"], each["language"]) for each in found] == [("error", "nl"), ("binary", "nl")]
    assert {(each["source"], each["by"], each["reason"]) for each in found} == {("operator", "anna", WHY)}
    for refused in ((), ("--language", "nl"), ("--message-type", "error")):
        done = await _command(settings, "resume", "--reason", "x", *refused)
        assert (done.returncode, "nothing is paused for" in done.stderr) == (1, True)
    await _resume(settings, "--message-type", "error", "--language", "nl")
    table = await _command(settings, "paused")
    assert "binary answers in nl" in table.stdout
    assert "error answers" not in table.stdout
    assert WHY in table.stdout
    everything = await _command(settings, "resume", "--reason", "x", "--all")
    assert everything.stderr == "truthgate: sending is resumed: binary answers in nl\n"
    assert (await _command(settings, "resume", "--reason", "x", "--all")).returncode == 1
    records = await consume_all(settings.kafka, topics.controls)
    assert [record.key for record in records] == [b"error/nl", b"binary/nl"] * 2
    headers = dict(records[0].headers)
    assert (headers["ce_type"], headers["content-type"]) == (b"truthgate.Pause", b"application/avro")
