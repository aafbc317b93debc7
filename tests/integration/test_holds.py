"""Holds on sending with real workers: at once, in all of them, without a restart, and over restarts."""

import asyncio
import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from aiokafka import ConsumerRecord
from prometheus_client.parser import text_string_to_metric_families

from schemas import Codec, Hold
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

#: From a hold in the topic to the last verdict that is still sent, and from a resumption to the first one,
#: by the clock of the broker, on a machine that tests keep busy.
AT_ONCE_MS = 2_000
WHY = "prices are wrong"
HELD = ("review", ("sending_held", WOULD_BE))
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


async def _holds(settings: Settings, *arguments: str) -> None:
    done = await _command(settings, "hold", "--reason", WHY, "--by", "anna", *arguments)
    assert done.returncode == 0, done.stderr


async def _resumes(settings: Settings, *arguments: str) -> None:
    done = await _command(settings, "resume", "--reason", "they are right again", *arguments)
    assert done.returncode == 0, done.stderr


async def _judged(settings: Settings, topics: Topics, answers: list[ChatbotAnswer]) -> list[Verdict]:
    await produce(settings.kafka, topics.answers, [outgoing(answer, Codec()) for answer in answers])
    ledger = await read_until_settled(settings, answers)
    ids = {answer.answer_id for answer in answers}
    return [verdict for verdict in ledger.verdicts if verdict.answer_id in ids]


def _decided(verdicts: list[Verdict]) -> set[tuple[str, tuple[str, ...]]]:
    return {(verdict.decision, verdict.reasons) for verdict in verdicts}


def _held(worker: Worker) -> float:
    """Give how many verdicts the worker has held."""
    return sum(
        sample.value
        for family in text_string_to_metric_families(worker.metrics())
        for sample in family.samples
        if sample.name == "truthgate_verdicts_held_total" and sample.labels["reason"] == "sending_held"
    )


async def _changes(settings: Settings, topics: Topics) -> dict[str, int]:
    """Give when each status came into the topic, by the broker's clock."""
    records = await consume_all(settings.kafka, topics.controls)
    return {Codec().decode(record.value, Hold).status: record.timestamp for record in records}


def _sent(ledger: Ledger, topics: Topics) -> list[ConsumerRecord]:
    return sorted(
        (record for record in ledger.records if record.topic == topics.auto_send),
        key=lambda record: record.timestamp,
    )


@pytest.mark.timeout(300)
async def test_a_hold_counts_at_once_in_all_workers_and_so_does_its_end(
    quick: Settings, topics: Topics, tmp_path: Path
) -> None:
    answers = sendable_answers(1500, "stream")
    workers = [Worker(quick, tmp_path, name) for name in ("first", "second")]
    with workers[0], workers[1]:
        for worker in workers:
            await asyncio.to_thread(worker.wait_ready)
        async with Chatbot(quick, answers, 50) as chatbot:
            await chatbot.sent_at_least(200)
            await _holds(quick)
            at_hold = chatbot.sent
            await chatbot.sent_at_least(at_hold + 300)
            assert [_held(worker) > 0 for worker in workers] == [True, True]
            assert all('truthgate_holds{language="all",message_type="all"} 1' in w.metrics() for w in workers)
            await _resumes(quick)
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
    assert counts.keys() == {HELD, SENT}
    assert counts[HELD] >= 300


async def test_a_hold_on_a_language_leaves_the_others_alone(
    quick: Settings, topics: Topics, tmp_path: Path
) -> None:
    with Worker(quick, tmp_path) as worker:
        worker.wait_ready()
        await _holds(quick, "--language", "nl")
        await eventually(lambda: "sending_held" in worker.log, "the worker knows of it")
        verdicts = await _judged(quick, topics, sendable_answers(20, "both", ("nl", "en")))
    assert _decided([verdict for verdict in verdicts if verdict.language == "nl"]) == {HELD}
    assert _decided([verdict for verdict in verdicts if verdict.language == "en"]) == {SENT}


async def test_a_hold_lasts_over_starts_and_kills_until_it_is_resumed(
    quick: Settings, topics: Topics, tmp_path: Path
) -> None:
    only = changed(quick, kafka={"group_instance_id": "only"})
    await _holds(quick)
    with Worker(only, tmp_path) as worker:
        worker.wait_ready()
        assert _decided(await _judged(quick, topics, sendable_answers(20, "first"))) == {HELD}
        worker.kill()
        worker.start()
        worker.wait_ready()
        assert _decided(await _judged(quick, topics, sendable_answers(20, "second"))) == {HELD}
        await _resumes(quick)
        await eventually(lambda: "sending_resumed" in worker.log, "the worker knows of it")
        assert _decided(await _judged(quick, topics, sendable_answers(20, "third"))) == {SENT}


async def test_what_a_worker_is_set_to_hold_is_held_without_any_command(
    quick: Settings, topics: Topics, tmp_path: Path
) -> None:
    holding = {**quick.model_dump()["policy"], "hold": True}
    settings = Settings.model_validate({**quick.model_dump(), "policy": holding})
    with Worker(settings, tmp_path) as worker:
        worker.wait_ready()
        assert _decided(await _judged(quick, topics, sendable_answers(10, "set"))) == {HELD}


async def test_what_cannot_be_read_holds_everything_until_it_is_removed(
    quick: Settings, topics: Topics, tmp_path: Path
) -> None:
    with Worker(quick, tmp_path) as worker:
        worker.wait_ready()
        await produce(quick.kafka, topics.controls, [Outgoing(b"\x00nonsense", b"somebody else's")])
        await eventually(lambda: "hold_unreadable" in worker.log, "the worker has met it")
        unknown = {("review", ("holds_unknown", WOULD_BE))}
        assert _decided(await _judged(quick, topics, sendable_answers(10, "unread"))) == unknown
        listed = await _command(quick, "holds", "--json")
        assert json.loads(listed.stdout) == {
            "source": "unreadable",
            "at": "0:0",
            "error": "schema_registry_not_configured",
        }
        await _holds(quick, "--language", "en")
        await _resumes(quick, "--unreadable")
        await eventually(lambda: "holds_known_again" in worker.log, "the worker knows what is held")
        assert _decided(await _judged(quick, topics, sendable_answers(10, "read"))) == {SENT}
        again = await _command(quick, "resume", "--reason", "x", "--unreadable")
        assert (again.returncode, "no hold is on what is unreadable" in again.stderr) == (1, True)
        assert "all answers in en" in (await _command(quick, "holds")).stdout


async def test_holds_are_listed_with_who_and_why_and_only_what_is_held_can_be_resumed(
    settings: Settings, topics: Topics
) -> None:
    nothing = await _command(settings, "holds")
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (0, "", "truthgate: nothing is held\n")
    await _holds(settings, "--message-type", "error", "--message-type", "binary", "--language", "nl")
    listed = await _command(settings, "holds", "--json")
    found = [json.loads(line) for line in listed.stdout.splitlines()]
    assert [(each["message_type"], each["language"]) for each in found] == [("error", "nl"), ("binary", "nl")]
    assert {(each["source"], each["by"], each["reason"]) for each in found} == {("operator", "anna", WHY)}
    for refused in ((), ("--language", "nl"), ("--message-type", "error")):
        done = await _command(settings, "resume", "--reason", "x", *refused)
        assert (done.returncode, "no hold is on" in done.stderr) == (1, True)
    await _resumes(settings, "--message-type", "error", "--language", "nl")
    table = await _command(settings, "holds")
    assert "binary answers in nl" in table.stdout
    assert "error answers" not in table.stdout
    assert WHY in table.stdout
    everything = await _command(settings, "resume", "--reason", "x", "--all")
    assert everything.stderr == "truthgate: sending goes on: binary answers in nl\n"
    assert (await _command(settings, "resume", "--reason", "x", "--all")).returncode == 1
    records = await consume_all(settings.kafka, topics.controls)
    assert [record.key for record in records] == [b"error/nl", b"binary/nl"] * 2
    headers = dict(records[0].headers)
    assert (headers["ce_type"], headers["content-type"]) == (b"truthgate.Hold", b"application/avro")
