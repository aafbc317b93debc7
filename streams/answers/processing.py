"""From the bytes of a record to a verdict or a dead letter, always one of the two."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from schemas import Codec, DecodeError
from schemas.records import ChatbotAnswer, Verdict
from streams.answers.way import Way, failing_as
from streams.delivery.dead_letters import DeadLetter, bury
from streams.failures import BadAnswer, Stage
from streams.kafka.event_headers import published_headers
from streams.kafka.received import Headers, Received

#: Trace context of the chatbot goes on to whoever takes the verdict (W3C Trace Context).
_PASSED_ON = frozenset({"traceparent", "tracestate"})


@dataclass(frozen=True, slots=True)
class Deadline:
    """The moment of the event loop's clock by which an answer must be judged, and how the time is shared.

    ``documents`` is how many seconds an answer waits for documents that it names.
    """

    at: float
    documents: float = 0.0

    def remaining(self) -> float:
        """Return the seconds that are left, never less than 0."""
        return max(0.0, self.at - asyncio.get_running_loop().time())

    def for_documents(self) -> float:
        """Return how long to wait for documents."""
        return min(self.documents, self.remaining())

    def for_service(self) -> float:
        """Return half of what is left: what is found or translated too late to be judged is of no use."""
        return self.remaining() / 2

    def for_judges(self) -> float:
        """Return half of what is left: the time of those behind it in its conversation is running too."""
        return self.remaining() / 2

    def for_assessment(self) -> float:
        """Return all that is left."""
        return self.remaining()


@dataclass(frozen=True, slots=True)
class AnswerProcessor:
    """Reads records, and takes what they hold along the way to a verdict.

    Args:
        codec: reads answers and writes verdicts.
        way: the steps that an answer takes.
        max_value_bytes: the largest value that is read.
        now: the clock, aware, for ``scored_at`` and dead letters.
    """

    codec: Codec
    way: Way
    max_value_bytes: int
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def decode(self, received: Received) -> ChatbotAnswer:
        """Read the answer of one record; raises BadAnswer, InfrastructureFailure."""
        with failing_as(Stage.DECODE):
            return await self._decoded(received)

    async def verdict(self, answer: ChatbotAnswer, deadline: Deadline) -> Verdict:
        """Judge one answer; raises as :meth:`Way.verdict` does."""
        return await self.way.verdict(answer, deadline, self.now)

    def encode(self, verdict: Verdict) -> bytes:
        """Return the bytes of a verdict as its topic carries them; raises BadAnswer."""
        with failing_as(Stage.PUBLISH):
            return self.codec.encode(verdict)

    def dead_letter(self, received: Received, error: BadAnswer) -> DeadLetter:
        """Return the dead letter of a record that cannot be judged."""
        return bury(received, error, self.now())

    async def _decoded(self, received: Received) -> ChatbotAnswer:
        size, limit = len(received.value or b""), self.max_value_bytes
        if size > limit:
            raise BadAnswer(Stage.DECODE, "value_too_large", f"{size} bytes, and {limit} are allowed")
        try:
            await self.codec.lookup(received.value)
            return self.codec.decode(received.value, ChatbotAnswer)
        except DecodeError as error:
            raise BadAnswer(Stage(error.stage), error.code, str(error)) from error


def verdict_headers(verdict: Verdict, original: Headers) -> Headers:
    """Return the headers of a verdict: those of an event, and the trace context of its answer."""
    passed_on = tuple((key, value) for key, value in original if key in _PASSED_ON)
    event = published_headers(verdict.verdict_id, verdict, subject=verdict.answer_id, time=verdict.scored_at)
    return (*event, *passed_on)
