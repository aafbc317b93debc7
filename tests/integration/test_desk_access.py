"""Who reaches the desk, and what a reviewer sees while Kafka is away."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from streams.embedded import EmbeddedKafka
from streams.kafka.topics import Topics, create_topics
from streams.settings import Settings
from tests.support.brokers import isolated_settings, unique_prefix
from tests.support.commands import truthgate, variables
from tests.support.desk import DeskProcess, Reviewer, held, publish, reviews

TOKEN = "a-token-that-nobody-guesses"


@pytest.fixture
def kafka() -> Iterator[EmbeddedKafka]:
    """Start a cluster of the test's own, which it may pause."""
    with EmbeddedKafka() as kafka:
        yield kafka


async def test_a_decision_waits_visibly_until_a_broker_is_back(kafka: EmbeddedKafka, tmp_path: Path) -> None:
    settings = isolated_settings(kafka.bootstrap_servers, tmp_path, unique_prefix())
    await create_topics(settings)
    await publish(settings, [held(1), held(2)])
    with DeskProcess(settings, tmp_path) as desk:
        desk.wait_ready()
        with Reviewer(desk.address) as kim:
            kim.look()
            kafka.brokers[0].pause()
            try:
                assert "waiting for Kafka" in kim.decide("send")
                assert kim.shown == "v-2"
                end = time.monotonic() + 60
                while "but Kafka" not in desk.get("/readyz")[1]:
                    assert time.monotonic() < end
                    await asyncio.sleep(0.5)
                assert desk.get("/readyz")[0] == 200
                kim.decide("reject")
                assert kim.look().count("waiting for Kafka") == 2
            finally:
                kafka.brokers[0].resume()
            async with asyncio.timeout(90):
                while desk.log.count('"review_published"') < 2 or "but" in desk.get("/readyz")[1]:  # noqa: ASYNC110
                    await asyncio.sleep(0.5)
            assert "waiting for Kafka" not in kim.look()
        assert desk.terminate() == 0
    assert sorted({(each.verdict_id, each.outcome) for each in await reviews(settings)}) == [
        ("v-1", "send"),
        ("v-2", "reject"),
    ]


def test_a_desk_for_everybody_does_not_start(settings: Settings, tmp_path: Path) -> None:
    own = {"TRUTHGATE_DESK__STORE": str(tmp_path / "desk"), "TRUTHGATE_DESK__HOST": "0.0.0.0"}
    done = truthgate("desk", environment=variables(settings) | own)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "desk.host 0.0.0.0 needs desk.token, desk.oidc.issuer, or desk.user_header" in line


def test_a_reviewer_logs_in_with_the_token(topics: Topics, settings: Settings, tmp_path: Path) -> None:
    process = DeskProcess(settings, tmp_path, host="0.0.0.0")
    process._environment["TRUTHGATE_DESK__TOKEN"] = TOKEN
    with process as desk:
        desk.wait_ready()
        with Reviewer(desk.address, token="another") as stranger:
            assert "Wrong token." in stranger.page
            assert "Wrong token." not in stranger.look()
            assert "Your name" in stranger.page
            stranger._client.cookies.set("truthgate_desk", "made.1.aW0.up")
            assert "Your name" in stranger.look()
        with Reviewer(desk.address, token=TOKEN) as kim:
            assert "No answer waits." in kim.page


def test_a_trusted_proxy_names_the_reviewer(topics: Topics, settings: Settings, tmp_path: Path) -> None:
    with DeskProcess(settings, tmp_path, host="0.0.0.0", user_header="X-Forwarded-User") as desk:
        desk.wait_ready()
        assert httpx2.get(desk.address, trust_env=False).status_code == 403
        named = httpx2.get(desk.address, headers={"X-Forwarded-User": "kim"}, trust_env=False)
        assert "kim" in named.text
        assert "httponly" in named.headers["set-cookie"].lower()
