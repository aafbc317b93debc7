"""A shadow takes part in nothing, and cannot write where somebody acts on it."""

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from schemas import Codec, Verdict
from streams.delivery.dead_letters import DeadLetter
from streams.delivery.publisher import Publisher
from streams.kafka.kafka_records import event_headers, shadow_name, verdict_source
from streams.kafka.topics import Topics
from streams.observability.failures import InfrastructureFailure
from streams.observability.health import Health
from streams.observability.tracing import otel_resource
from streams.pipeline.intake import OutcomePublisher
from streams.pipeline.traces import AnswerTraces
from streams.settings import InvalidSettings, Settings
from streams.worker.run_server import server_settings
from streams.worker.shadow import refuse_shadow, worker_settings
from streams.worker.worker_components import follow_policies, open_request_publisher
from streams.worker.worker_metrics import WorkerMetrics
from tests.support.verdicts import any_verdict

TOPICS = Topics("eu.")
SHADOW = Settings(
    shadow={"name": "strict"},
    kafka={"consumer_group": "gate", "topic_prefix": "eu."},
    web={"verdicts": {"token": "abcdefghijklmnopqrst", "publish": True}},
    scoring={"profile": "paper"},
)


class Producer:
    """Takes whatever is sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, bytes, dict[str, bytes]]] = []

    async def send(
        self, topic: str, value: bytes, key: bytes, partition: int | None, headers: list[tuple[str, bytes]]
    ) -> Any:
        async def acknowledged() -> Any:
            return SimpleNamespace(partition=0, offset=1)

        self.sent.append((topic, value, dict(headers)))
        return acknowledged()


def test_a_shadow_has_a_group_of_its_own_and_neither_counts_rates_nor_judges_over_http():
    settings = worker_settings(SHADOW)
    assert settings.kafka.consumer_group == "gate-shadow-strict"
    assert not settings.rates.enabled
    assert not settings.web.verdicts.are_served_by_workers
    assert not settings.web.verdicts.publish
    assert settings.scoring == SHADOW.scoring, "it decides by its own settings"
    assert worker_settings(Settings()) == Settings()


@pytest.mark.parametrize("group", ["gate-shadow-strict", "a-shadow-", "-shadow-"])
def test_no_worker_that_decides_can_have_the_group_of_a_shadow(group):
    with pytest.raises(ValidationError, match="such a group is that of a shadow"):
        Settings(kafka={"consumer_group": group})


@pytest.mark.parametrize("name", ["Strict", "a b", "-a", "a-", "a/b", "a" * 33, "a\n", "é"])
def test_a_name_is_short_and_plain(name):
    with pytest.raises(ValidationError):
        Settings(shadow={"name": name})


def test_the_desk_and_the_server_refuse_to_be_a_shadow():
    with pytest.raises(
        InvalidSettings, match=re.escape("shadow.name strict is for `truthgate worker` alone")
    ):
        server_settings(SHADOW)
    refuse_shadow(Settings())


def test_the_metrics_of_a_shadow_are_those_of_another_service(monkeypatch):
    monkeypatch.delenv("OTEL_SERVICE_NAME", raising=False)
    assert otel_resource(SHADOW).attributes["service.name"] == "truthgate-shadow-strict"
    assert otel_resource(Settings()).attributes["service.name"] == "truthgate"


@pytest.mark.parametrize("decision", ["auto_send", "review", "blocked"])
async def test_every_verdict_of_a_shadow_goes_to_its_topic_and_names_it(decision):
    producer = Producer()
    publisher = Publisher(producer, 5, TOPICS.shadow_verdicts)
    outcomes = OutcomePublisher(Codec(), publisher, TOPICS, AnswerTraces(SHADOW), "strict")
    verdict = any_verdict(decision=decision)
    await outcomes.publish(verdict, ())
    await outcomes.publish_dead_letter(DeadLetter(None, b"x", ()))
    ((topic, value, headers),) = producer.sent
    assert topic == "eu.shadow-verdicts"
    assert Codec().decode(value, Verdict) == verdict
    assert headers["ce_source"] == b"/truthgate/shadow/strict"
    assert shadow_name(headers.items()) == "strict"


@pytest.mark.parametrize("topic", [*TOPICS.outputs, TOPICS.dead_letters, TOPICS.reviews, TOPICS.policies])
async def test_what_publishes_for_a_shadow_refuses_every_other_topic(topic):
    producer = Producer()
    publisher = Publisher(producer, 5, TOPICS.shadow_verdicts)
    with pytest.raises(InfrastructureFailure, match=f"a worker in shadow does not write to {topic}"):
        await publisher.publish(topic, b"k", b"v", ())
    with pytest.raises(InfrastructureFailure, match="does not write"):
        await publisher.publish_dead_letter(topic, DeadLetter(None, b"x", ()))
    assert producer.sent == []


async def test_a_shadow_publishes_no_verdicts_of_requests_and_follows_no_policies(tmp_path: Path) -> None:
    settings = worker_settings(SHADOW)
    async with open_request_publisher(settings, Codec(), AnswerTraces(settings)) as publisher:
        assert publisher is None
    async with follow_policies(settings, WorkerMetrics(), Health(1, 1), lambda _: None) as policies:
        assert policies is None


def test_only_what_names_a_shadow_is_one_s():
    assert shadow_name(event_headers("1", "Verdict", verdict_source(""))) is None
    assert shadow_name(event_headers("1", "Verdict", verdict_source("a-1"))) == "a-1"
    assert shadow_name(()) is None
    assert shadow_name([("ce_source", b"/truthgate/shadow/\xff")]) == "\ufffd"
