"""A service without a broker gives the verdicts that score gives, and ends without losing a request."""

import asyncio
import json
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientError, ClientSession

from streams.settings import (
    InvalidSettings,
    RetrievalSettings,
    ScoringSettings,
    Settings,
    VerdictSettings,
    WebSettings,
)
from streams.web.verdict_endpoint import MAX_IN_FLIGHT
from streams.worker.run_server import server_settings
from tests.support.commands import truthgate, truthgate_here
from tests.support.http_service import ADDRESS
from tests.support.llm_endpoint import LlmEndpoint
from tests.support.ports import NOBODY
from tests.support.workers import Server

#: A busy machine is slow at times: that is no fault of the code under test.
_PATIENT = VerdictSettings(timeout_seconds=60)
SETTINGS = Settings(
    web=WebSettings(host="127.0.0.1", port=0, verdicts=_PATIENT), scoring=ScoringSettings(processes=1)
)
TOKEN = "token-of-the-tests"
DOCUMENTS = [
    {"document_id": "saving", "language": "en", "title": "Saving", "text": "Click **Save** to save a sheet."},
    {"document_id": "mail", "language": "en", "title": "Mail", "text": "Click **Send** to mail an invoice."},
    {
        "document_id": "map",
        "language": "nl",
        "title": "Dossiers",
        "text": "Een dossier is een map met stukken.",
    },
]


def _answer(answer_id: str, question: str, answer: str, **more: Any) -> dict[str, Any]:
    return {
        "answer_id": answer_id,
        "conversation_id": answer_id,
        "question": question,
        "answer": answer,
        "produced_at": "2026-03-02T09:15:00Z",
        **more,
    }


ANSWERS = [
    _answer("named", "How do I save?", "Click **Save**.", document_ids=["saving"], language="en"),
    _answer("wrong", "How do I save?", "Click **Store**.", document_ids=["saving"], language="en"),
    _answer("gone", "How do I save?", "Click **Save**.", document_ids=["gone"], language="en"),
    _answer("searched", "How do I mail an invoice?", "Click **Send**.", language="en"),
    _answer("inline", "Wat is een map?", "Een map.", context=[{"document_id": "d", "text": "Een map."}]),
]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("serve") / "documents.jsonl"
    file.write_text(
        "".join(f"{json.dumps(each)}\n" for each in [*DOCUMENTS, {"document_id": "bad"}]), "utf-8"
    )
    return file


@pytest.fixture(scope="module")
def server(documents: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    with Server(SETTINGS, folder, "--documents", documents, TRUTHGATE_WEB__VERDICTS__TOKEN=TOKEN) as running:
        running.wait_ready()
        yield running


async def _post(session: ClientSession, answer: Mapping[str, Any]) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with session.post(ADDRESS, json=answer, headers=headers) as response:
        return response.status, await response.json(content_type=None)


async def test_the_verdicts_are_those_that_score_prints(server, documents, tmp_path):
    (file := tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, ANSWERS)), "utf-8")
    scored = truthgate("score", file, "--documents", documents)
    expected = [json.loads(line) for line in scored.stdout.splitlines()]
    async with ClientSession(server.address) as session:
        given = [await _post(session, answer) for answer in ANSWERS]
    assert [status for status, _ in given] == [200] * len(ANSWERS)
    assert {verdict["context_source"] for verdict in expected} == {"by_id", "retrieved", "inline", "none"}
    for (_, verdict), line in zip(given, expected, strict=True):
        assert {**verdict, "scored_at": line["scored_at"]} == line


def test_it_is_asked_how_it_is_as_a_worker_is(server):
    assert server.get("/readyz") == (200, "ok\n")
    assert server.get("/healthz") == (200, "ok\n")
    assert server.get("/")[0] == 404, "there are no rates to look at"
    metrics = server.metrics()
    assert "truthgate_ready 1.0" in metrics
    assert "truthgate_scoring_processes 1.0" in metrics


def test_its_log_tells_where_it_is_and_what_it_has_and_a_bad_document_is_named(server):
    assert "documents.jsonl, line 4: language: is missing" in server.log
    (ready,) = [json.loads(line) for line in server.log.splitlines() if '"server_ready"' in line]
    assert (ready["address"], ready["documents"]) == (server.address, 3)
    assert not [each["answer"] for each in ANSWERS if each["answer"] in server.log]
    assert TOKEN not in server.log


async def test_under_load_sigterm_loses_no_request(documents, tmp_path):
    """Who is in work gets a verdict, and whoever comes later a 503 or no connection."""
    stopped_at: float | None = None
    outcomes: list[tuple[float, float, int]] = []  # begun, done, and the status or 0
    enough = asyncio.Event()

    async def client(session: ClientSession, number: int) -> None:
        count = 0
        while stopped_at is None or time.monotonic() < stopped_at + 2:
            began, count = time.monotonic(), count + 1
            try:
                status, _ = await _post(session, {**ANSWERS[0], "answer_id": f"{number}-{count}"})
            except (ClientError, OSError):
                status = 0
                await asyncio.sleep(0.01)
            outcomes.append((began, time.monotonic(), status))
            if len(outcomes) > 100:
                enough.set()

    with Server(SETTINGS, tmp_path, "--documents", documents) as server:
        await asyncio.to_thread(server.wait_ready)
        async with ClientSession(server.address) as session:
            clients = [asyncio.create_task(client(session, number)) for number in range(24)]
            await asyncio.wait_for(enough.wait(), 60)
            stopping = asyncio.create_task(asyncio.to_thread(server.terminate))
            stopped_at = time.monotonic()
            assert await stopping == 0
            await asyncio.gather(*clients)
        log = server.log
    begun_before = Counter(status for began, _, status in outcomes if began < stopped_at)
    assert set(begun_before) <= {200, 503}, begun_before
    assert (
        sum(done > stopped_at for began, done, status in outcomes if began < stopped_at and status == 200) > 5
    )
    assert {status for began, _, status in outcomes if began >= stopped_at + 0.1} <= {0, 503}
    assert [json.loads(line)["event"] for line in log.splitlines() if line.startswith("{")][-2:] == [
        "server_stops",
        "server_stopped",
    ]


async def test_who_is_in_doubt_is_asked_about(tmp_path):
    said = json.dumps({"label": "FALSE", "confidence": 0.95, "score": 1.5, "wrong": []})
    doubtful = _answer(
        "doubtful",
        "Can I save a sheet?",
        "Yes, click **Save** to get a pink sheet.",
        context=[{"document_id": "d-1", "text": DOCUMENTS[0]["text"]}],
        language="en",
    )
    with LlmEndpoint(lambda _: said) as endpoint:
        (config := tmp_path / "truthgate.toml").write_text(
            f'[judges.endpoints.small]\nbase_url = "{endpoint.url}"\nmodel = "small"\n',
            "utf-8",
        )
        with Server(SETTINGS, tmp_path, "--config", config) as server:
            await asyncio.to_thread(server.wait_ready)
            async with ClientSession(server.address) as session:
                status, verdict = await _post(session, doubtful)
            metrics = server.metrics()
    assert (status, verdict["decision"], verdict["reasons"][0]) == (200, "blocked", "judged_untrue")
    assert len(endpoint.asked) == 1
    assert 'truthgate_judge_budget_used_total{of="requests"} 1.0' in metrics


def test_what_it_cannot_start_with_is_told_in_one_line():
    def told(done: subprocess.CompletedProcess[str]) -> tuple[int, str]:
        return done.returncode, done.stderr.splitlines()[-1]

    code, line = told(truthgate_here("serve", environment={"TRUTHGATE_WEB__HOST": "0.0.0.0"}))
    assert (code, "web.verdicts.token" in line) == (2, True)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code, line = told(truthgate("serve", environment={"TRUTHGATE_WEB__PORT": port}))
    assert (code, "web.port" in line) == (2, True)


@pytest.mark.parametrize("ready_before", [False, True])
async def test_what_no_answer_can_do_without_ends_it(documents, tmp_path, ready_before):
    """At the start, or with the first answer that needs it; whoever asked for that one is told so."""
    away = RetrievalSettings(
        embedder="http",
        embeddings_url=f"http://{NOBODY}/v1",
        embeddings_model="m",
        floor=0.5,
        ready_before_complete=ready_before,
    )
    settings = SETTINGS.model_copy(update={"retrieval": away})
    with Server(settings, tmp_path, "--documents", documents) as server:
        if ready_before:
            await asyncio.to_thread(server.wait_ready)
            async with ClientSession(server.address) as session:
                status, problem = await _post(session, ANSWERS[3])
            assert (status, problem["code"]) == (503, "not_ready")
        assert await asyncio.to_thread(server.wait) == 3
        assert "server_failed" in server.log
        assert "Traceback" not in server.log


def test_without_a_token_this_machine_alone_may_ask_and_with_one_everybody_may():
    assert server_settings(Settings()).web.host == "127.0.0.1"
    assert server_settings(Settings(web={"verdicts": {"token": TOKEN}})).web.host == "0.0.0.0"
    assert server_settings(Settings(web={"verdicts": {"anonymous": True}})).web.host == "0.0.0.0"
    assert server_settings(Settings(web={"host": "::1"})).web.host == "::1"
    with pytest.raises(InvalidSettings, match=r"web\.host 10\.0\.0\.1 needs web\.verdicts\.token"):
        server_settings(Settings(web={"host": "10.0.0.1"}))


def test_verdicts_are_published_only_where_somebody_said_where_the_cluster_is():
    publishing = Settings(web={"verdicts": {"publish": True}})
    with pytest.raises(InvalidSettings, match=r"^web\.verdicts\.publish needs kafka\.bootstrap_servers$"):
        server_settings(publishing)
    assert server_settings(publishing, from_kafka=True).kafka.is_configured
    assert server_settings(Settings(kafka={"bootstrap_servers": NOBODY})).kafka.is_configured
    assert not server_settings(Settings(kafka={"topic_prefix": "p."})).kafka.is_configured


def test_what_is_shared_out_among_answers_is_so_by_the_places_for_requests():
    assert server_settings(Settings()).flow.max_in_flight == MAX_IN_FLIGHT
