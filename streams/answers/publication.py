"""What comes of an answer, published: a verdict or a dead letter, done once the brokers have it."""

from __future__ import annotations

from dataclasses import dataclass

from schemas import Codec
from schemas.records import Verdict
from streams.answers.traces import AnswerTraces
from streams.answers.way import failing_as
from streams.delivery.dead_letters import DeadLetter
from streams.delivery.publisher import Publisher
from streams.failures import Stage
from streams.kafka.event_headers import published_headers
from streams.kafka.received import Headers
from streams.kafka.topics import Topics
from streams.telemetry import messaging

#: Trace context of the chatbot goes on to whoever takes the verdict (W3C Trace Context).
_PASSED_ON = frozenset({"traceparent", "tracestate"})


@dataclass(frozen=True, slots=True)
class OutcomePublisher:
    """Publishes verdicts, those over HTTP too, and dead letters.

    Args:
        codec: writes verdicts.
        publisher: sends.
        topics: where to.
        traces: shows the sending.
    """

    codec: Codec
    publisher: Publisher
    topics: Topics
    traces: AnswerTraces

    async def publish(self, verdict: Verdict, original: Headers) -> None:
        """Return once the brokers have the verdict; ``original`` are the headers that its answer came with.

        Raises:
            BadAnswer: this verdict cannot be encoded, or its topic refuses it, for example for its size.
            InfrastructureFailure: it could not be delivered in time, or not at all.
        """
        topic = self.topics.verdict_topic(verdict.decision)
        key = verdict.conversation_id.encode()
        with self.traces.sending(topic, key) as span:
            with failing_as(Stage.PUBLISH):
                value = self.codec.encode(verdict)
            headers = self.traces.onward(verdict_headers(verdict, original))
            place = await self.publisher.publish(topic, key, value, headers)
            span.set_attributes(messaging.written(*place))

    async def bury(self, letter: DeadLetter) -> None:
        """Return once the brokers have the letter; raises InfrastructureFailure."""
        with self.traces.sending(self.topics.dead_letters, letter.key) as span:
            place = await self.publisher.bury(self.topics.dead_letters, letter)
            span.set_attributes(messaging.written(*place))


def verdict_headers(verdict: Verdict, original: Headers) -> Headers:
    """Return the headers of a verdict: those of an event, and the trace context of its answer."""
    passed_on = tuple((key, value) for key, value in original if key in _PASSED_ON)
    event = published_headers(verdict.verdict_id, verdict, subject=verdict.answer_id, time=verdict.scored_at)
    return (*event, *passed_on)
