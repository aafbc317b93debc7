"""Judging over HTTP beside a cluster: the same verdicts, pauses and documents, published if so set."""

import asyncio
import json
from dataclasses import replace

import pytest
from aiohttp import ClientSession

from schemas import ChatbotAnswer, Codec, KnowledgeDocument, Verdict, to_json
from schemas.validation import from_json
from streams.reviews.policy_records import Change
from tests.support.commands import truthgate, variables
from tests.support.http_service import ADDRESS
from tests.support.ledger import outgoing, read_until_settled
from tests.support.policies import a_change, write_changes
from tests.support.records import Outgoing, eventually, produce
from tests.support.sendable_answers import WOULD_BE, sendable_answers, sending
from tests.support.workers import Server, Worker, changed

TOKEN = "token-of-the-tests"
AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}


async def _posted(session: ClientSession, answer: ChatbotAnswer) -> tuple[int, Verdict]:
    async with session.post(ADDRESS, json=to_json(answer), headers=AUTHORIZED) as response:
        return response.status, from_json(await response.read(), Verdict)


async def test_a_worker_gives_over_http_what_it_publishes_and_publishes_nothing_of_it(
    settings, topics, tmp_path
):
    serving = sending(changed(settings, scoring={"processes": 1}))
    published, *asked = sendable_answers(3, "http")
    named = replace(asked[1], context=(), document_ids=("files",))
    document = KnowledgeDocument("files", "nl", "Dossiers", published.context[0].text, published.produced_at)
    value = Codec().encode(document)
    await produce(serving.kafka, topics.documents, [Outgoing(value, b"files")])
    await produce(serving.kafka, topics.answers, [outgoing(published, Codec())])
    with Worker(serving, tmp_path, secrets={"TRUTHGATE_WEB__VERDICTS__TOKEN": TOKEN}) as worker:
        await asyncio.to_thread(worker.wait_ready)
        async with ClientSession(worker.address) as session:
            async with session.post(ADDRESS, json=to_json(published)) as response:
                assert (response.status, response.content_type) == (401, "application/problem+json")
            ledger = await read_until_settled(serving, [published])
            (of_topic,) = ledger.verdicts
            status, given = await _posted(session, published)
            assert (status, replace(given, scored_at=of_topic.scored_at)) == (200, of_topic)

            status, by_id = await _posted(session, named)
            assert (by_id.decision, by_id.context_source, by_id.context_ids) == (
                "auto_send",
                "by_id",
                ("files",),
            )

            paused = await asyncio.to_thread(
                truthgate, "pause", "--reason", "wrong", "--by", "anna", environment=variables(settings)
            )
            assert paused.returncode == 0, paused.stderr

            async def is_paused() -> bool:
                _, verdict = await _posted(session, asked[0])
                return verdict.decision == "review" and verdict.reasons == ("sending_paused", WOULD_BE)

            await eventually(is_paused, "the pause counts here too")
        assert "truthgate_requests_in_flight 0.0" in worker.metrics()
        assert worker.terminate() == 0
    after = await read_until_settled(serving, [published])
    assert {verdict.answer_id for verdict in after.verdicts} == {published.answer_id}
    assert not [word for word in (TOKEN, published.answer) if word in worker.log]
    assert json.loads(worker.log.splitlines()[-1])["event"] == "worker_stopped"


@pytest.mark.parametrize("process", [Worker, Server])
async def test_with_publish_a_verdict_is_on_its_topic_before_it_is_given_and_pauses_and_policies_count(
    process, settings, topics, tmp_path
):
    publishing = {"verdicts": {"anonymous": True, "publish": True}}
    telling = {"models": ["gpt-7"]}
    serving = sending(changed(settings, web=publishing, scoring={"processes": 1}, telemetry=telling))
    first, *others = sendable_answers(9, "published")
    sent = replace(first, model="gpt-7", metadata={"tenant": "theirs alone"})
    with process(serving, tmp_path) as running:
        await asyncio.to_thread(running.wait_ready)
        async with ClientSession(running.address) as session:
            given = [await _posted(session, sent) for _ in range(2)]
            ledger = await read_until_settled(serving, [sent])
            assert [record.topic for record in ledger.records] == [topics.auto_send] * 2
            assert {record.key for record in ledger.records} == {sent.conversation_id.encode()}
            assert len({verdict.verdict_id for verdict in ledger.verdicts}) == 1, "a repeat is seen as one"
            for (status, verdict), published in zip(given, ledger.verdicts, strict=True):
                assert (status, replace(verdict, scored_at=published.scored_at)) == (200, published)
            assert {verdict.model for verdict in ledger.verdicts} == {"gpt-7"}
            assert ledger.verdicts[0].metadata == sent.metadata

            await write_changes(serving, a_change("settings", Change.WITHDRAWN))
            await eventually(lambda: "policy_changed" in running.log, "it knows of the withdrawal")
            _, verdict = await _posted(session, others[0])
            assert (verdict.decision, verdict.reasons) == ("review", ("policy_withdrawn", WOULD_BE))
            await write_changes(serving, a_change("settings", Change.APPROVED))
            await eventually(lambda: running.log.count("policy_changed") == 2, "the settings decide again")
            paused = await asyncio.to_thread(
                truthgate, "pause", "--reason", "wrong", "--by", "anna", environment=variables(settings)
            )
            assert paused.returncode == 0, paused.stderr
            await eventually(lambda: "sending_paused" in running.log, "it knows of the pause")
            for answer in others:
                _, verdict = await _posted(session, answer)
                assert (verdict.decision, verdict.reasons) == ("review", ("sending_paused", WOULD_BE))
        metrics = running.metrics()
        assert running.terminate() == 0
    assert 'truthgate_verdicts_by_model_total{decision="auto_send",model="gpt-7"} 2.0' in metrics
    assert 'truthgate_verdicts_by_model_total{decision="review",model="none"}' in metrics
    ledger = await read_until_settled(serving, [sent, *others])
    on_review = [record for record in ledger.records if record.topic == topics.review]
    assert len(on_review) == len(others) + 1  # the first one twice
    assert not [
        word for word in (sent.answer, sent.question, "theirs alone") if word in running.log + metrics
    ]


async def test_without_the_setting_a_worker_has_no_such_address(settings, topics, tmp_path):
    with Worker(changed(settings, scoring={"enabled": False}), tmp_path) as worker:
        await asyncio.to_thread(worker.wait_ready)
        assert worker.get("/v1/openapi.json")[0] == 404


async def test_a_service_takes_the_documents_that_the_deployment_has(settings, topics, tmp_path):
    (answer,) = sendable_answers(1, "served")
    document = KnowledgeDocument("files", "nl", "Dossiers", answer.context[0].text, answer.produced_at)
    older = replace(document, text="Iets anders.")
    records = [Outgoing(Codec().encode(each), b"files") for each in (older, document)]
    await produce(settings.kafka, topics.documents, records)
    serving = sending(changed(settings, scoring={"processes": 1}))
    with Server(serving, tmp_path, "--from-kafka") as server:
        await asyncio.to_thread(server.wait_ready)
        async with ClientSession(server.address) as session:
            status, verdict = await _posted(session, replace(answer, context=(), document_ids=("files",)))
    assert (status, verdict.decision, verdict.context_source) == (200, "auto_send", "by_id")
