"""What a leader publishes: key, value and headers of windows and alerts."""

import asyncio
from dataclasses import replace
from typing import Any, cast

from aiokafka import AIOKafkaProducer

from schemas import Codec, RateAlert, RateWindow
from streams.kafka.topics import Topics
from streams.observability.tracing import Tracing
from streams.rates.rate_publication import Publication, PublicationTraces, RatePublisher
from streams.settings import KafkaSettings
from tests.support.pages import rate_alert, rate_window


class _Producer:
    """Takes what is sent in a transaction."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.committed: list[dict[str, Any]] = []

    async def begin_transaction(self) -> None:
        self.sent = []

    async def send(self, **record: Any) -> asyncio.Future[None]:
        self.sent.append(record)
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done

    async def commit_transaction(self) -> None:
        self.committed += self.sent


async def published(*records: RateWindow | RateAlert) -> list[dict[str, Any]]:
    producer = _Producer()
    publisher = RatePublisher(
        cast("AIOKafkaProducer", producer), Topics(), Codec(), PublicationTraces(KafkaSettings(), Tracing())
    )
    windows = [each for each in records if isinstance(each, RateWindow)]
    alerts = [each for each in records if isinstance(each, RateAlert)]
    await publisher.publish(Publication(windows, alerts, []))
    return producer.committed


async def test_a_window_is_an_event_of_its_message_type_at_its_end() -> None:
    window = rate_window(0, "binary", "nl", scored=40, untrue=18)
    (record,) = await published(window)
    headers = dict(record["headers"])
    assert (record["topic"], record["key"]) == ("hallucination-rates", b"binary")
    assert Codec().decode(record["value"], RateWindow) == window
    place = "binary/nl/2026-03-02T09:15:00Z/2026-03-02T09:16:00Z"
    assert headers["ce_id"].decode() == f"{place}/41.40.18.0.0"
    assert (headers["ce_subject"], headers["ce_time"]) == (b"binary", b"2026-03-02T09:16:00Z")


async def test_another_state_of_a_window_is_another_event() -> None:
    window = rate_window(0, scored=40, untrue=18)
    states = [window, replace(window, final=True), replace(window, late=1), replace(window, answers=42)]
    ids = {dict(record["headers"])["ce_id"] for record in await published(*states)}
    assert len(ids) == len(states)


async def test_an_alert_is_keyed_by_its_message_type_and_is_another_event_once_resolved() -> None:
    records = await published(rate_alert(), rate_alert("resolved"), rate_alert(message_type="binary"))
    assert [record["key"] for record in records] == [b"all", b"all", b"binary"]
    assert {record["topic"] for record in records} == {"hallucination-alerts"}
    headers = [dict(record["headers"]) for record in records]
    assert [each["ce_id"] for each in headers[:2]] == [b"high-rate-1/firing", b"high-rate-1/resolved"]
    assert {each["ce_subject"] for each in headers} == {b"high-rate-1"}
    assert headers[0]["ce_time"] == b"2026-03-02T09:20:00Z"
