"""Every message that is taken in is finished, as a verdict or a dead letter, whatever its failure says."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from schemas import Codec, Verdict
from schemas.records import ChatbotAnswer, ContextPassage
from streams.delivery.publisher import Publisher
from streams.kafka.topics import Topics
from streams.observability.failures import BadAnswer, Stage
from streams.pipeline.context import StaticDocuments
from streams.pipeline.intake import Intake, OutcomePublisher
from streams.pipeline.pipeline import Pipeline
from streams.pipeline.traces import AnswerTraces
from streams.scorers.options import AsyncScorer, DisabledScorer
from streams.settings import DocumentSettings, Settings
from streams.worker.worker_metrics import WorkerMetrics
from tests.support.scorers import Failing

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
ANSWER = ChatbotAnswer("a-1", "c-1", "How?", "So.", NOW, (ContextPassage("d-1", "Text."),))
HALF = "quoted \ud800 half"


class Producer:
    """Keeps what a producer of Kafka would send, which encodes the names of headers and nothing else."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, bytes, bytes, dict[str, bytes]]] = []

    async def send(
        self, topic: str, value: bytes, key: bytes, partition: int | None, headers: list[tuple[str, bytes]]
    ) -> asyncio.Future[Any]:
        assert all(isinstance(content, bytes) and name.encode() for name, content in headers)
        self.sent.append((topic, value, key, dict(headers)))
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        done.set_result(SimpleNamespace(partition=0, offset=len(self.sent)))
        return done


class Consumer:
    """Notes which offsets are in work and which are finished."""

    def __init__(self) -> None:
        self.delivered: list[int] = []
        self.finished: list[int] = []

    def deliver(self, message: Any) -> None:
        self.delivered.append(message.offset)

    def finish(self, message: Any) -> None:
        self.finished.append(message.offset)


def message(offset: int, value: bytes, *headers: tuple[str, bytes]) -> Any:
    return SimpleNamespace(
        topic="answers",
        partition=0,
        offset=offset,
        key=b"c-1",
        value=value,
        headers=headers,
        timestamp=NOW.timestamp(),
    )


async def taken_in(tmp_path: Path, assessor: AsyncScorer | None, *messages: Any) -> tuple[Producer, Consumer]:
    settings = Settings(documents=DocumentSettings(store=tmp_path))
    producer, consumer, failures = Producer(), Consumer(), []
    way = Pipeline(
        StaticDocuments({}),
        assessor or DisabledScorer("paper"),
        settings.policy.decide,
        settings.scoring.profile,
    )
    traces = AnswerTraces(settings)
    publisher = OutcomePublisher(Codec(), Publisher(producer, 5), Topics(), traces)
    intake = Intake(Codec(), way, publisher, WorkerMetrics().answers, traces, settings, failures.append)
    for each in messages:
        await intake.accept(each, consumer)
    await intake.drain()
    assert failures == []
    assert consumer.delivered == consumer.finished
    return producer, consumer


async def test_an_answer_becomes_a_verdict_on_the_topic_of_its_decision(tmp_path):
    producer, _ = await taken_in(tmp_path, None, message(7, Codec().encode(ANSWER)))
    ((topic, value, key, headers),) = producer.sent
    assert (topic, key) == ("verdicts.review", b"c-1")
    assert headers["ce_id"].decode() == Codec().decode(value, Verdict).verdict_id


@pytest.mark.parametrize("error", [ValueError(HALF), BadAnswer(Stage.SCORE, "ValueError", HALF)])
async def test_a_failure_that_quotes_half_a_character_is_a_dead_letter_and_the_next_answer_is_taken(
    tmp_path, error
):
    headers = (("\\xff", b"1"), ("caf\u00e9", b"\xff"))
    encoded = Codec().encode(ANSWER)
    producer, consumer = await taken_in(
        tmp_path, Failing(error), message(7, encoded, *headers), message(8, encoded)
    )
    assert consumer.finished == [7, 8]
    assert [topic for topic, *_ in producer.sent] == ["answers.dead-letters"] * 2
    _, value, key, sent = producer.sent[0]
    assert (value, key, sent["\\xff"], sent["caf\u00e9"]) == (encoded, b"c-1", b"1", b"\xff")
    assert sent["dlq.error.message"] == b"quoted \\ud800 half"
    assert sent["dlq.error.class"] == b"ValueError"
