"""The pages tell an orchestrator the truth about the worker, in a status code and one line."""

import socket

import psutil
import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestClient, TestServer
from prometheus_client.parser import text_string_to_metric_families

from streams.observability.health import Health
from streams.settings import InvalidSettings, WebSettings
from streams.web import create_web_app, serve
from streams.worker.worker_metrics import WorkerMetrics
from tests.support.clock import Clock

LIMIT = 180.0


@pytest.fixture
def health(clock: Clock) -> Health:
    return Health(LIMIT, 10, clock)


def dead_letters(text: str) -> float:
    families = {family.name: family for family in text_string_to_metric_families(text)}
    return sum(sample.value for sample in families["truthgate_dead_letters"].samples)


async def ask(health: Health, path: str, metrics: WorkerMetrics | None = None) -> tuple[int, str]:
    pages = create_web_app(health, (metrics or WorkerMetrics()).registry)
    async with TestClient(TestServer(pages)) as client, client.get(path) as response:
        return response.status, await response.text()


async def test_a_worker_that_starts_is_healthy_and_not_ready(health):
    assert await ask(health, "/healthz") == (200, "ok\n")
    assert await ask(health, "/readyz") == (503, "waiting for the start\n")


async def test_a_worker_without_anything_to_wait_for_is_ready(health):
    health.set_waiting_for(None)
    assert await ask(health, "/readyz") == (200, "ok\n")


async def test_a_worker_that_is_ready_tells_what_it_cannot_do_meanwhile_and_lives(health):
    health.set_waiting_for(None)
    found: list[str | None] = ["documents cannot be indexed: SQLITE_FULL (/index)", None, "nothing is sent"]
    for each in found:
        health.add_impairment_check(lambda each=each: each)
    told = "ok\nbut documents cannot be indexed: SQLITE_FULL (/index)\nbut nothing is sent\n"
    assert await ask(health, "/readyz") == (200, told)
    assert await ask(health, "/healthz") == (200, "ok\n")


async def test_a_worker_that_is_stopping_is_not_ready_and_still_healthy(health):
    health.set_waiting_for("the end")
    assert await ask(health, "/readyz") == (503, "waiting for the end\n")
    assert (await ask(health, "/healthz"))[0] == 200


async def test_a_worker_that_hangs_is_neither_healthy_nor_ready(health, clock):
    health.set_waiting_for(None)
    clock.now += LIMIT + 1
    expected = (503, "the event loop has been blocked for 181 s\n")
    assert await ask(health, "/healthz") == expected
    assert await ask(health, "/readyz") == expected


async def test_a_worker_that_kafka_does_not_answer_is_not_ready_and_says_so_and_is_healthy(health, clock):
    health.set_waiting_for(None)
    health.kafka_answered()
    clock.now += 11
    assert await ask(health, "/readyz") == (503, "Kafka has not answered for 11 s\n")
    assert await ask(health, "/healthz") == (200, "ok\n")


async def test_metrics_are_what_prometheus_reads(health):
    metrics = WorkerMetrics()
    for _ in range(3):
        metrics.answers.count_dead_letter("decode", "truncated")
    status, text = await ask(health, "/metrics", metrics)
    families = {family.name: family for family in text_string_to_metric_families(text)}
    (sample,) = [sample for sample in families["truthgate_dead_letters"].samples if sample.value]
    assert status == 200
    assert sample.labels == {"stage": "decode", "error_type": "truncated"}
    assert sample.value == 3


async def test_all_who_scrape_within_half_a_second_get_one_text(health, clock):
    metrics = WorkerMetrics()
    pages = create_web_app(health, metrics.registry, clock=clock)
    seen = []
    async with TestClient(TestServer(pages)) as client:
        for seconds in (0, 0.4, 0.2, 0.4):
            clock.now += seconds
            async with client.get("/metrics") as response:
                seen.append(dead_letters(await response.text()))
            metrics.answers.count_dead_letter("decode", "truncated")
    assert seen == [0, 0, 2, 2]


@pytest.mark.parametrize("path", ["/", "/admin", "/metrics/../etc"])
async def test_there_are_no_other_pages(health, path):
    assert (await ask(health, path))[0] == 404


async def test_port_0_is_any_free_port_and_nobody_listens_there_afterwards(health):
    pages = create_web_app(health, WorkerMetrics().registry)
    async with serve(pages, WebSettings(host="127.0.0.1", port=0)) as port, ClientSession() as session:
        response = await session.get(f"http://127.0.0.1:{port}/healthz")
        assert response.status == 200
    listening = [each for each in psutil.Process().net_connections() if each.status == psutil.CONN_LISTEN]
    assert port not in {each.laddr.port for each in listening}


async def test_a_port_that_is_taken_is_a_wrong_setting_in_one_line(health):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InvalidSettings) as caught:
            async with serve(
                create_web_app(health, WorkerMetrics().registry), WebSettings(host="127.0.0.1", port=port)
            ):
                pass
    assert f"web.port {port}" in str(caught.value)
    assert "\n" not in str(caught.value)
