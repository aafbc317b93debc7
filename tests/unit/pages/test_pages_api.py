"""The page and its data over HTTP: typed, never stored, safe, and alive when Kafka is not."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from prometheus_client import CollectorRegistry

from scoring.policy import Override, Policy
from streams.observability.health import Health
from streams.pause.pause_state import PauseState
from streams.settings import AlertSettings, AlertThreshold, KafkaSettings, Settings, WebSettings
from streams.web import create_web_app
from streams.web import page_data as sending
from streams.web.live_data import LiveData
from streams.web.page_api import PageApi
from tests.support.clock import Clock
from tests.support.pages import BEGIN, arrived, blocked_verdict, rate_alert, rate_window
from tests.support.pauses import WHEN, a_pause, pause_record
from tests.support.ports import NOBODY

NOWHERE = KafkaSettings(bootstrap_servers=NOBODY, connect_timeout_seconds=1)
ASSETS = ["/", "/page.css", "/page.js", "/icon.svg"]


def settings_with(**web_settings: bool) -> Settings:
    thresholds = (
        AlertThreshold(name="all-types", window_seconds=60, rate=0.2),
        AlertThreshold(name="of-one", message_type="instruction", window_seconds=60, rate=0.3),
        AlertThreshold(name="hourly", window_seconds=3600, rate=0.1),
        AlertThreshold(name="dutch", language="nl", window_seconds=60, rate=0.4),
    )
    return Settings(
        kafka=NOWHERE, web=WebSettings(**web_settings), alerts=AlertSettings(thresholds=thresholds)
    )


class StillData(LiveData):
    """Data that a test puts in, in place of Kafka."""

    visits = 0

    def visit(self) -> None:
        self.visits += 1


@pytest.fixture
def data() -> StillData:
    return StillData(settings_with(), now=lambda: BEGIN.timestamp() + 3600)


@pytest.fixture
def board() -> PauseState:
    return PauseState()


@pytest.fixture
async def client(data: StillData, board: PauseState, clock: Clock) -> AsyncIterator[TestClient[Any, Any]]:
    pages = web.Application()
    health = Health(180, 10)
    health.set_waiting_for(None)
    PageApi(data, health, data._settings, board, clock).add_to(pages)
    async with TestClient(TestServer(pages)) as opened:
        yield opened


@pytest.fixture
async def whole() -> AsyncIterator[TestClient[Any, Any]]:
    pages = create_web_app(Health(180, 10), CollectorRegistry(), settings_with())
    async with TestClient(TestServer(pages)) as opened:
        yield opened


async def test_live_tells_rates_with_their_bounds_and_the_thresholds_of_just_this_series(client, data):
    data._take_in([rate_window(0, scored=10, untrue=3), rate_window(0, "binary", "en"), rate_alert()])
    async with client.get("/api/live") as response:
        live = await response.json()
        assert response.headers["Cache-Control"] == "no-store"
        assert response.content_type == "application/json"
    series = {each["message_type"]: each for each in live["series"]}
    assert series.keys() == {"all", "instruction", "binary"}
    assert (series["instruction"]["points"][0]["rate"], series["all"]["points"][0]["scored"]) == (0.3, 20)
    assert [limit["name"] for limit in series["all"]["thresholds"]] == ["all-types"]
    assert [limit["name"] for limit in series["instruction"]["thresholds"]] == ["of-one"]
    assert series["binary"]["thresholds"] == []
    assert (live["window"], live["languages"], live["worker"]) == (60, ["en", "nl"], None)
    assert [alert["name"] for alert in live["alerts"]] == ["high-rate"]
    assert data.visits == 1


async def test_live_shows_pauses_by_operators_and_whether_they_are_known(client, board, clock):
    async with client.get("/api/live") as response:
        assert (await response.json())["sending"] == {"known": False, "pauses": []}
    board.apply([pause_record(a_pause("instruction", "nl"))])
    board.freshness.confirm(time.time())
    clock.now += 1
    async with client.get("/api/live") as response:
        sending = (await response.json())["sending"]
    told = {"since": round(WHEN.timestamp() * 1000), "by": "anna", "reason": "wrong prices"}
    assert sending == {"known": True, "pauses": [{"message_type": "instruction", "language": "nl", **told}]}


def test_pauses_by_the_settings_come_first_and_name_nobody():
    board = PauseState()
    board.apply([pause_record(a_pause())])
    told = sending.sending_status(Policy(overrides=(Override(language="en", pause=True),)), board)
    assert [(each.language, each.by) for each in told.pauses] == [("en", None), (None, "anna")]


async def test_a_window_and_a_language_can_be_chosen(client, data):
    data._take_in([rate_window(0, language="nl"), rate_window(0, language="en"), rate_window(0, size=3600)])
    async with client.get("/api/live?window=3600") as response:
        hourly = await response.json()
    async with client.get("/api/live?window=60&language=nl") as response:
        dutch = await response.json()
    assert (hourly["window"], hourly["series"][0]["thresholds"][0]["name"]) == (3600, "hourly")
    assert (dutch["language"], dutch["series"][0]["points"][0]["scored"]) == ("nl", 10)
    assert [limit["name"] for limit in dutch["series"][0]["thresholds"]] == ["dutch"]


@pytest.mark.parametrize("query", ["window=61", "window=-60", "window=abc", "language=" + "x" * 300])
async def test_a_window_that_there_is_none_of_is_a_bad_request(client, query):
    async with client.get(f"/api/live?{query}") as response:
        assert response.status == 400
        assert "error" in await response.json()


async def test_one_answer_serves_all_who_ask_within_half_a_second(client, data, clock):
    async def end() -> int | None:
        async with client.get("/api/live") as response:
            return (await response.json())["end"]

    assert await end() is None
    data._take_in([rate_window(0)])
    assert await end() is None
    clock.now += 0.6
    assert await end() is not None


async def test_what_is_kept_for_others_is_bounded(client):
    for number in range(200):
        async with client.get(f"/api/live?language=x{number}") as response:
            assert response.status == 200
    api = next(iter(client.app.router.routes())).handler.__self__
    assert len(api._kept._bodies) <= 64


async def test_texts_are_told_only_where_they_are_switched_on(clock):
    for texts in (False, True):
        data = StillData(settings_with(texts=texts))
        data.answers.add([arrived(blocked_verdict("Klik op Geheim", ("undefined_component", "Geheim")))])
        pages = web.Application()
        PageApi(data, Health(180, 10), data._settings, PauseState(), clock).add_to(pages)
        async with TestClient(TestServer(pages)) as client:
            async with client.get("/api/answers") as response:
                listed, told = await response.text(), await response.json()
            async with client.get("/api/verdict?id=v-1&decision=blocked") as response:
                explained = await response.text()
        assert ("Geheim" in listed) is ("Geheim" in explained) is texts
        assert told["texts"] is texts
        assert told["answers"][0]["answer_id"] == "a-1"


async def test_answers_are_chosen_by_decision_type_language_reason_and_time(client, data, clock):
    clock.now = BEGIN.timestamp() + 3_600
    blocked, sent = (
        blocked_verdict("Klik."),
        replace(blocked_verdict("Klik.", number=2), decision="auto_send"),
    )
    late = blocked_verdict("Klik.", number=3_000)
    data.answers.add(map(arrived, (blocked, sent, late)))

    async def ids(query: str) -> list[str]:
        async with client.get(f"/api/answers?{query}") as response:
            assert response.status == 200
            return [answer["answer_id"] for answer in (await response.json())["answers"]]

    assert await ids("") == ["a-3000", "a-2", "a-1"]
    assert await ids("shown=1") == ["a-3000"]
    many = (blocked_verdict("Klik.", number=number) for number in range(10, 180))
    data.answers.add(map(arrived, many))
    assert len(await ids("shown=999")) == 100
    assert await ids("decision=auto_send&language=nl&message_type=instruction") == ["a-2"]
    assert await ids("reason=low_score") == []
    assert await ids("reason=undefined_component&decision=blocked&within=900") == ["a-3000"]


@pytest.mark.parametrize("query", ["shown=0", "shown=x", "within=-1", "within=1e9", "reason=" + "x" * 300])
async def test_what_answers_cannot_be_chosen_by_is_a_bad_request(client, query):
    async with client.get(f"/api/answers?{query}") as response:
        assert response.status == 400
        assert "error" in await response.json()


async def test_a_verdict_is_explained_as_by_the_command_as_long_as_it_is_kept(client, data):
    data.answers.add([arrived(blocked_verdict("Klik op Opslaan", ("undefined_component", "Opslaan")))])
    async with client.get("/api/verdict?id=v-1&decision=blocked") as response:
        told = (await response.json())["explanation"]
    assert told["reasons"][0]["to_do"]
    assert [(rule["reason"], rule["role"]) for rule in told["rules"]] == [("undefined_component", "decided")]
    assert told["place"]["topic"] == "verdicts.blocked"
    for query in ("id=v-1&decision=review", "id=v-9&decision=blocked", ""):
        async with client.get(f"/api/verdict?{query}") as response:
            assert response.status == 404


async def test_when_kafka_is_away_the_page_says_so_and_everything_else_works(whole):
    async with asyncio.timeout(10):
        while True:
            async with whole.get("/api/live") as response:
                source = (await response.json())["source"]
            if source["state"] == "failed":
                break
            await asyncio.sleep(0.05)
    assert NOBODY in source["problem"]
    async with whole.get("/healthz") as response:
        assert response.status == 200


@pytest.mark.parametrize("path", ASSETS)
async def test_the_page_is_served_with_a_strict_policy_and_known_by_its_content(whole, path):
    async with whole.get(path) as response:
        assert response.status == 200
        policy = response.headers["Content-Security-Policy"]
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        etag, body = response.headers["ETag"], await response.read()
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    async with whole.get(path, headers={"If-None-Match": etag}) as response:
        assert response.status == 304
    async with whole.head(path) as response:
        assert (response.status, await response.read()) == (200, b"")
        assert int(response.headers["Content-Length"]) == len(body)


async def test_the_page_asks_nobody_else_and_turns_no_text_into_markup(whole):
    texts = {}
    for path in ASSETS:
        async with whole.get(path) as response:
            texts[path] = await response.text()
    for path, text in texts.items():
        assert "https://" not in text
        assert text.replace("http://www.w3.org/2000/svg", "").count("http://") == 0, path
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert word not in texts["/page.js"]
    assert "<style" not in texts["/"]
    assert " style=" not in texts["/"]
    assert " on" not in "".join(part.split(">")[0] for part in texts["/"].split("<")[1:])


@pytest.mark.parametrize(
    "path",
    [
        "/page.html",
        "/assets/page.js",
        "/..%2fpages/api.py",
        "/%2e%2e/worker.py",
        "/api",
        "/api/",
        "/api/x",
    ],
)
async def test_no_path_leads_to_another_file(whole, path):
    async with whole.get(path) as response:
        assert response.status == 404
        assert "Content-Security-Policy" in response.headers


@pytest.mark.parametrize("path", ["/", "/api/live", "/metrics"])
async def test_nothing_can_be_posted(whole, path):
    async with whole.post(path, data=b"x") as response:
        assert response.status == 405


async def test_without_the_page_only_probes_and_metrics_are_there():
    pages = create_web_app(Health(180, 10), CollectorRegistry(), settings_with(page=False))
    async with TestClient(TestServer(pages)) as client:
        for path, status in (("/", 404), ("/api/live", 404), ("/page.js", 404), ("/healthz", 200)):
            async with client.get(path) as response:
                assert response.status == status
