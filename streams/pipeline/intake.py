"""From a record that Faust delivers to its committed offset.

An event is finished only after its verdict, or its dead letter, is acknowledged by the
brokers. A failure of anything that every answer needs ends the process before that, and the
events in work are delivered again to the next one.
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from time import time_ns
from typing import cast

import structlog
from faust.types import Message

from schemas import Codec, DecodeError
from schemas.records import ChatbotAnswer, Verdict
from streams.delivery.dead_letters import DeadLetter, make_dead_letter
from streams.delivery.faust_consumer import SafeConsumer
from streams.delivery.keyed_executor import KeyedExecutor
from streams.delivery.publisher import Publisher
from streams.kafka.kafka_records import Headers, ReceivedRecord, published_headers, verdict_source
from streams.kafka.topics import Topics
from streams.observability import span_attributes as messaging
from streams.observability.failures import BadAnswer, Stage
from streams.pipeline.answer_metrics import AnswerMetrics
from streams.pipeline.pipeline import Deadline, Pipeline, map_failures
from streams.pipeline.traces import AnswerTraces
from streams.settings import Settings


async def decode(received: ReceivedRecord, codec: Codec, max_bytes: int) -> ChatbotAnswer:
    """Read the answer of one record of at most so many bytes; raises BadAnswer, InfrastructureFailure."""
    size = len(received.value or b"")
    if size > max_bytes:
        raise BadAnswer(Stage.DECODE, "value_too_large", f"{size} bytes, and {max_bytes} are allowed")
    with map_failures(Stage.DECODE):
        try:
            await codec.lookup(received.value)
            return codec.decode(received.value, ChatbotAnswer)
        except DecodeError as error:
            raise BadAnswer(Stage(error.stage), error.code, str(error)) from error


#: The chatbot's trace context is passed on to consumers of the verdict (W3C Trace Context).
_FORWARDED_HEADERS = frozenset({"traceparent", "tracestate"})


@dataclass(frozen=True, slots=True)
class OutcomePublisher:
    """Publishes verdicts, including those over HTTP, and dead letters.

    Args:
        codec: writes verdicts.
        publisher: sends.
        topics: where to.
        traces: shows the sending.
        shadow: the name of a worker in shadow. Its verdicts go to a topic that nothing acts on, and name it;
            what it cannot judge has a dead letter of the workers that decide, and none of its own.
    """

    codec: Codec
    publisher: Publisher
    topics: Topics
    traces: AnswerTraces
    shadow: str = ""

    async def publish(self, verdict: Verdict, original: Headers) -> None:
        """Return once the brokers have the verdict; ``original`` are the headers that its answer came with.

        Raises:
            BadAnswer: this verdict cannot be encoded, or its topic refuses it, for example for its size.
            InfrastructureFailure: it could not be delivered in time, or not at all.
        """
        topic = self.topics.shadow_verdicts if self.shadow else self.topics.verdict_topic(verdict.decision)
        key = verdict.conversation_id.encode()
        with self.traces.sending(topic, key) as span:
            with map_failures(Stage.PUBLISH):
                value = self.codec.encode(verdict)
            headers = self.traces.with_trace_context(verdict_headers(verdict, original, self.shadow))
            place = await self.publisher.publish(topic, key, value, headers)
            span.set_attributes(messaging.sent_record_attributes(*place))

    async def publish_dead_letter(self, letter: DeadLetter) -> None:
        """Return once the brokers have the letter; raises InfrastructureFailure."""
        if self.shadow:
            return
        with self.traces.sending(self.topics.dead_letters, letter.key) as span:
            place = await self.publisher.publish_dead_letter(self.topics.dead_letters, letter)
            span.set_attributes(messaging.sent_record_attributes(*place))


def verdict_headers(verdict: Verdict, original: Headers, shadow: str = "") -> Headers:
    """Return the headers of a verdict: those of an event, and the trace context of its answer."""
    passed_on = tuple((key, value) for key, value in original if key in _FORWARDED_HEADERS)
    event = published_headers(
        verdict.verdict_id,
        verdict,
        subject=verdict.answer_id,
        time=verdict.scored_at,
        source=verdict_source(shadow),
    )
    return (*event, *passed_on)


log = structlog.get_logger(__name__)


class Intake:
    """Accepts delivered messages and sees each through to its verdict or dead letter.

    Args:
        codec: reads answers.
        pipeline: judges them.
        publisher: publishes verdicts and dead letters.
        metrics: counts answers in progress and outcomes.
        traces: traces each answer.
        settings: the maximum of concurrent messages (:meth:`accept` waits beyond it), the timeout of an
            answer from its acceptance on, and the largest value that is read.
        on_error: called with a failure that ends the worker.
    """

    def __init__(
        self,
        codec: Codec,
        pipeline: Pipeline,
        publisher: OutcomePublisher,
        metrics: AnswerMetrics,
        traces: AnswerTraces,
        settings: Settings,
        on_error: Callable[[BaseException], None],
    ) -> None:
        self._codec = codec
        self._pipeline = pipeline
        self._publisher = publisher
        self._max_bytes = settings.encoding.max_value_bytes
        self._metrics = metrics
        self._traces = traces
        self._answer_seconds = settings.flow.answer_timeout_seconds
        self._document_seconds = settings.documents.wait_timeout_seconds
        self._executor = KeyedExecutor(settings.flow.max_in_flight, on_error)
        metrics.in_flight.set_function(lambda: self._executor.in_flight)

    async def accept(self, message: Message, consumer: SafeConsumer) -> None:
        """Accept a message; returns once it has a slot, not once it is finished.

        Messages of one key, the conversation, are finished in the order in which they are
        accepted. A message without a key has no conversation to be in order with.
        """
        consumer.deliver(message)
        self._metrics.received.add()
        loop = asyncio.get_running_loop()
        arrived = loop.time()
        deadline = Deadline(arrived + self._answer_seconds, self._document_seconds)
        accepted, received = time_ns(), _received(message)

        async def work() -> None:
            with self._traces.process(received, accepted):
                await self._process(received, deadline)
            consumer.finish(message)
            self._metrics.duration.record(loop.time() - arrived)

        await self._executor.submit(message.key if message.key is not None else object(), work)

    async def drain(self) -> None:
        """Wait until everything accepted is finished."""
        await self._executor.drain()

    async def _process(self, received: ReceivedRecord, deadline: Deadline) -> None:
        try:
            with self._traces.decoding():
                answer = await decode(received, self._codec, self._max_bytes)
            verdict = await self._pipeline.verdict(answer, deadline, lambda: datetime.now(UTC))
            self._traces.record_verdict(verdict)
            await self._publisher.publish(verdict, received.headers)
            self._metrics.count_verdict(verdict, received.timestamp)
        except BadAnswer as error:
            self._traces.record_failure(error)
            await self._publish_dead_letter(received, error)

    async def _publish_dead_letter(self, received: ReceivedRecord, error: BadAnswer) -> None:
        await self._publisher.publish_dead_letter(make_dead_letter(received, error, datetime.now(UTC)))
        self._metrics.count_dead_letter(error.stage, error.error_class)
        # The message of the error may quote the customer: it is in the dead letter, not here.
        log.warning(
            "dead_letter",
            stage=error.stage.value,
            error_type=error.error_class,
            partition=received.partition,
            offset=received.offset,
            size=len(received.value or b""),
        )


def _received(message: Message) -> ReceivedRecord:
    # Faust's types allow a mapping too; its Kafka transport gives pairs, so repeated keys are kept.
    headers = cast("Iterable[tuple[str, bytes | None]]", message.headers or ())
    return ReceivedRecord(
        topic=message.topic,
        partition=message.partition,
        offset=message.offset,
        key=message.key,
        value=message.value,
        headers=tuple((key, value or b"") for key, value in headers),
        timestamp=message.timestamp,
    )
