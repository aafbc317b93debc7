"""Windows, alerts and progress are committed together or not at all, by the one publisher of a deployment."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from aiokafka.errors import KafkaTimeoutError, ProducerFenced

from schemas import Codec, RateAlert, RateWindow
from streams.kafka.topics import Topics
from streams.observability.tracing import Tracing
from streams.rates import rate_publication
from streams.rates.rate_publication import Publication, PublicationTraces, RatePublisher, open_rate_publisher
from streams.settings import KafkaSettings, Settings
from tests.support.virtual_time import run_virtually

BEGIN, END = datetime(2026, 3, 2, 9, 15, tzinfo=UTC), datetime(2026, 3, 2, 9, 16, tzinfo=UTC)
CODEC = Codec()
WINDOW = RateWindow(BEGIN, END, "binary", "nl", 9, 8, 3, 1, 2, 6, 0.375, 0.1, 0.7, 0, None, 4, final=True)
ALERT = RateAlert(
    *("untrue/2026", "untrue", "firing", "critical", None, None, BEGIN, END, 0.2, 0.4, 0.3, 0.5, 30, 12),
    *(END, "Too many.", "the-section"),
)
STATE = ((b'["late",1]', None), (b"progress", b"{}"))
NOT_TRACED = PublicationTraces(KafkaSettings(), Tracing())


class Producer:
    """Keeps the steps of a transaction; a send or a step fails with the error that is given for it."""

    def __init__(self, **errors: Exception) -> None:
        self.steps: list[str] = []
        self.sent: list[dict[str, Any]] = []
        self._errors = errors
        self.acknowledges = True

    async def begin_transaction(self) -> None:
        self._step("begin")

    async def commit_transaction(self) -> None:
        assert self.acknowledged, "all is acknowledged before it is committed"
        self._step("commit")

    async def send(self, **record: Any) -> asyncio.Future[None]:
        self.sent.append(record)
        self._futures = [*getattr(self, "_futures", ()), asyncio.get_running_loop().create_future()]
        if self.acknowledges:
            asyncio.get_running_loop().call_later(1, self._settle, self._futures[-1])
        return self._futures[-1]

    @property
    def acknowledged(self) -> bool:
        return all(each.done() for each in self._futures)

    def _settle(self, sending: asyncio.Future[None]) -> None:
        if error := self._errors.get("send"):
            sending.set_exception(error)
        else:
            sending.set_result(None)

    def _step(self, name: str) -> None:
        self.steps.append(name)
        if error := self._errors.get(name):
            raise error


def published(what: Publication, producer: Producer) -> float:
    """Publish in a time of its own; give how long it took."""

    async def publish() -> float:
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            await RatePublisher(producer, Topics("test."), CODEC, NOT_TRACED).publish(what)
        finally:
            took = loop.time() - began
        return took

    return run_virtually(publish())


def headers_of(record: dict[str, Any]) -> dict[str, bytes]:
    return dict(record["headers"])


def test_everything_is_sent_in_one_transaction_to_its_topic_under_its_key():
    producer = Producer()
    published(Publication((WINDOW,), (ALERT,), STATE), producer)
    window, alert, late, progress = producer.sent
    assert producer.steps == ["begin", "commit"]
    assert (window["topic"], window["key"]) == ("test.hallucination-rates", b"binary")
    assert CODEC.decode(window["value"], RateWindow) == WINDOW
    assert (alert["topic"], alert["key"]) == ("test.hallucination-alerts", b"all")
    assert CODEC.decode(alert["value"], RateAlert) == ALERT
    state = "test.hallucination-rates.state"
    assert late == {"topic": state, "key": b'["late",1]', "value": None, "partition": 0}
    assert progress == {"topic": state, "key": b"progress", "value": b"{}", "partition": 0}


def test_the_id_of_a_window_tells_which_it_is_and_its_counts():
    producer = Producer()
    published(Publication((WINDOW, replace(WINDOW, language=None, final=False)), (), ()), producer)
    first, second = (headers_of(record) for record in producer.sent)
    place = b"2026-03-02T09:15:00Z/2026-03-02T09:16:00Z"
    assert first["ce_id"] == b"binary/nl/" + place + b"/9.8.3.4.1"
    assert second["ce_id"] == b"binary//" + place + b"/9.8.3.4.0"
    assert (first["ce_type"], first["ce_source"]) == (b"truthgate.RateWindow", b"/truthgate/worker")


def test_windows_and_alerts_are_events_of_their_subject_at_their_end():
    producer = Producer()
    alerts = (ALERT, replace(ALERT, status="resolved"), replace(ALERT, message_type="binary"))
    published(Publication((WINDOW,), alerts, ()), producer)
    window, *told = (headers_of(record) for record in producer.sent)
    assert (window["ce_subject"], window["ce_time"]) == (b"binary", b"2026-03-02T09:16:00Z")
    assert [record["key"] for record in producer.sent[1:]] == [b"all", b"all", b"binary"]
    assert [each["ce_id"] for each in told[:2]] == [b"untrue/2026/firing", b"untrue/2026/resolved"]
    assert {(each["ce_subject"], each["ce_time"]) for each in told} == {
        (b"untrue/2026", b"2026-03-02T09:16:00Z")
    }


@pytest.mark.parametrize(
    "changed",
    [
        *({"answers": 10}, {"scored": 9}, {"hallucinated": 2}, {"late": 5}, {"final": False}),
        *({"message_type": "error"}, {"language": "en"}, {"window_start": END}, {"window_end": BEGIN}),
    ],
)
def test_another_state_of_a_window_is_another_event(changed):
    producer = Producer()
    published(Publication((WINDOW, replace(WINDOW, **changed)), (), ()), producer)
    first, second = (headers_of(record)["ce_id"] for record in producer.sent)
    assert first != second


@pytest.mark.parametrize("failing", ["begin", "send", "commit"])
def test_what_fails_is_raised_and_nothing_is_committed_after_it(failing):
    producer = Producer(**{failing: ProducerFenced("another leads")})
    with pytest.raises(ProducerFenced):
        published(Publication((WINDOW, WINDOW), (), STATE), producer)
    assert producer.steps == (["begin", "commit"] if failing == "commit" else ["begin"])


def test_many_records_are_sent_without_holding_up_the_event_loop():
    async def others_meanwhile() -> int:
        turns, producer = 0, Producer()

        async def others() -> None:
            nonlocal turns
            while len(producer.sent) < 250:
                turns += 1
                await asyncio.sleep(0)

        publisher = RatePublisher(producer, Topics(), CODEC, NOT_TRACED)
        other = asyncio.create_task(others())
        await publisher.publish(Publication((WINDOW,) * 250, (), ()))
        await other
        return turns

    assert 2 <= run_virtually(others_meanwhile()) < 250


def test_brokers_that_do_not_acknowledge_are_given_up_after_twenty_seconds():
    producer = Producer()
    producer.acknowledges = False

    async def took() -> float:
        loop = asyncio.get_running_loop()
        began = loop.time()
        with pytest.raises(TimeoutError):
            await RatePublisher(producer, Topics(), CODEC, NOT_TRACED).publish(Publication((WINDOW,), (), ()))
        return loop.time() - began

    assert run_virtually(took()) == pytest.approx(20)


def test_the_first_failure_is_raised_and_the_others_are_not_complained_of():
    with pytest.raises(KafkaTimeoutError):
        published(Publication((WINDOW,) * 3, (), ()), Producer(send=KafkaTimeoutError()))


async def test_one_deployment_has_one_publisher_by_prefix_and_group(monkeypatch):
    opened: list[tuple[KafkaSettings, dict[str, Any]]] = []
    producer = Producer()

    @asynccontextmanager
    async def open_producer(settings: KafkaSettings, **options: Any) -> AsyncIterator[Producer]:
        opened.append((settings, options))
        yield producer

    monkeypatch.setattr(rate_publication, "open_producer", open_producer)
    settings = Settings(kafka=KafkaSettings(topic_prefix="blue.", consumer_group="gate"))
    async with open_rate_publisher(settings, CODEC, NOT_TRACED) as publisher:
        await publisher.publish(Publication((WINDOW,), (), ()))
    assert producer.sent[0]["topic"] == "blue.hallucination-rates"
    assert opened == [
        (
            settings.kafka,
            {
                "transactional_id": "blue.gate.rates",
                "transaction_timeout_ms": 30_000,
                "request_timeout_ms": 20_000,
                "max_request_size": 2_097_152,
            },
        )
    ]
