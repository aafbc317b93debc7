"""The way of one answer: from bytes to a verdict or a dead letter, always one of the two."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from schemas import Codec, DecodeError, RegistryUnreachable
from schemas.records import ChatbotAnswer, Verdict
from scoring.values.reasons import Reason
from scoring.values.types import Exchange, Judgement
from streams.answers import attributes
from streams.answers.context import Documents, ResolvedContext, resolve_context
from streams.answers.traces import AnswerTraces
from streams.answers.verdict import exchange_of, make_verdict
from streams.delivery.dead_letters import DeadLetter, bury
from streams.failures import EXIT_SOFTWARE, EXIT_UNREACHABLE, BadAnswer, InfrastructureFailure, Stage
from streams.judging.judge import Judge, unjudged
from streams.kafka.received import Headers, Received
from streams.retrieval.types import Retriever
from streams.settings import Settings
from streams.translating.step import NotTranslated, Prepared, Translation

#: Failures that say nothing about the answer at hand: every other answer would meet them too.
_INFRASTRUCTURE = (InfrastructureFailure, RegistryUnreachable, sqlite3.Error, OSError, MemoryError)

#: Trace context of the chatbot goes on to whoever takes the verdict (W3C Trace Context).
_PASSED_ON = frozenset({"traceparent", "tracestate"})


@dataclass(frozen=True, slots=True)
class Deadline:
    """The moment of the event loop's clock by which an answer must be judged."""

    at: float

    def remaining(self) -> float:
        """Return the seconds that are left, never less than 0."""
        return max(0.0, self.at - asyncio.get_running_loop().time())


class AnswerProcessor:
    """Takes a received record along its way; each step is a function of the former's result.

    Args:
        settings: limits and the policy.
        codec: reads answers and writes verdicts.
        documents: resolves document ids.
        judge: scores and decides.
        now: the clock, aware, for ``scored_at`` and dead letters.
        translation: what is done to an exchange before it is judged.
        retriever: finds passages for answers that bring no context; without one these are held.
        traces: follows each answer on its way.
    """

    def __init__(
        self,
        settings: Settings,
        codec: Codec,
        documents: Documents,
        judge: Judge,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        translation: Translation | None = None,
        retriever: Retriever | None = None,
        traces: AnswerTraces | None = None,
    ) -> None:
        self._settings = settings
        self._codec = codec
        self._documents = documents
        self._judge = judge
        self._now = now
        self._translation = translation or NotTranslated()
        self._retriever = retriever
        self._traces = traces or AnswerTraces(settings)
        self._stages = self._traces.stages

    async def verdict(self, received: Received, deadline: Deadline) -> Verdict:
        """Judge one record.

        Raises:
            BadAnswer: it cannot be judged and belongs in the dead letters.
            InfrastructureFailure: the worker cannot judge anything any more.
        """
        with _failing_as(Stage.DECODE):
            answer = await self._decode(received)
        with _failing_as(Stage.ENRICH):
            context = await self._resolve(answer, deadline)
        with _failing_as(Stage.SCORE):
            judgement = await self._judge_in_time(answer, context, deadline)
            verdict = make_verdict(answer, judgement, context, self._now())
        self._traces.judged(answer, verdict)
        return verdict

    def encode(self, verdict: Verdict) -> bytes:
        """Return the bytes of a verdict as its topic carries them."""
        with _failing_as(Stage.PUBLISH):
            return self._codec.encode(verdict)

    def dead_letter(self, received: Received, error: BadAnswer) -> DeadLetter:
        """Return the dead letter of a record that cannot be judged."""
        return bury(received, error, self._now())

    async def _decode(self, received: Received) -> ChatbotAnswer:
        with self._stages.stage("decode"):
            return await self._decoded(received)

    async def _decoded(self, received: Received) -> ChatbotAnswer:
        size, limit = len(received.value or b""), self._settings.encoding.max_value_bytes
        if size > limit:
            raise BadAnswer(Stage.DECODE, "value_too_large", f"{size} bytes, and {limit} are allowed")
        try:
            if received.value is not None and self._codec.needs_lookup(received.value):
                await self._codec.lookup(received.value)
            return self._codec.decode(received.value, ChatbotAnswer)
        except DecodeError as error:
            raise BadAnswer(Stage(error.stage), error.code, str(error)) from error

    async def _resolve(self, answer: ChatbotAnswer, deadline: Deadline) -> ResolvedContext:
        left = deadline.remaining()
        wait = min(self._settings.documents.wait, left)
        # At most half of what is left: passages that come too late to be judged against are of no use.
        search = left / 2
        with self._stages.stage("enrich") as span:
            context = await resolve_context(answer, self._documents, wait, self._retriever, search)
            if span.is_recording():
                span.set_attributes(attributes.enriched(context))
            return context

    async def _judge_in_time(
        self, answer: ChatbotAnswer, context: ResolvedContext, deadline: Deadline
    ) -> Judgement:
        degraded = context.degraded
        try:
            async with asyncio.timeout(deadline.remaining()):
                prepared = await self._translate(exchange_of(answer, context.judged), deadline)
                degraded = (*degraded, *prepared.degraded)
                with self._stages.stage("score"):
                    return await self._judge.judge(prepared.exchange, degraded)
        except TimeoutError:
            degraded = (Reason.SCORING_TIMEOUT, *degraded)
            return unjudged(self._settings.policy, self._settings.scoring.profile, answer.language, degraded)

    async def _translate(self, exchange: Exchange, deadline: Deadline) -> Prepared:
        # Half of what is left: a translation that comes too late to be judged is of no use.
        seconds = deadline.remaining() / 2
        if isinstance(self._translation, NotTranslated):
            return await self._translation.prepare(exchange, seconds)
        with self._stages.stage("translate") as span:
            prepared = await self._translation.prepare(exchange, seconds)
            if span.is_recording():
                span.set_attributes(attributes.translated(prepared))
            return prepared


def verdict_headers(verdict: Verdict, original: Headers) -> Headers:
    """Return the headers of a verdict: CloudEvents 1.0 in Kafka's binary mode, and the trace context."""
    passed_on = tuple((key, value) for key, value in original if key in _PASSED_ON)
    return (
        ("ce_specversion", b"1.0"),
        ("ce_id", verdict.verdict_id.encode()),
        ("ce_type", b"truthgate.Verdict"),
        ("ce_source", b"/truthgate/worker"),
        ("content-type", b"application/avro"),
        *passed_on,
    )


@contextmanager
def _failing_as(stage: Stage) -> Iterator[None]:
    """Turn what goes wrong with one answer into BadAnswer, and what goes wrong for all into its like."""
    try:
        yield
    except BadAnswer:
        raise
    except InfrastructureFailure:
        raise
    except _INFRASTRUCTURE as error:
        code = EXIT_UNREACHABLE if isinstance(error, RegistryUnreachable) else EXIT_SOFTWARE
        raise InfrastructureFailure(
            f"{stage} is not possible: {type(error).__name__}: {error}", code
        ) from error
    except Exception as error:  # whatever else one answer provokes is that answer's dead letter
        raise BadAnswer(stage, type(error).__name__, str(error)) from error
