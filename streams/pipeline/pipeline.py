"""The pipeline: the stages of an answer from record to verdict, online and offline."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol, TypeVar

from opentelemetry.trace import Span

from schemas import RegistryUnreachable
from schemas.records import ChatbotAnswer, Verdict
from scoring.values.opinion import Opinion
from scoring.values.rules import Reason
from scoring.values.scored_answer import PolicyDecision, ScoredAnswer
from streams.known_answers.known_state import KnownAnswers
from streams.llm.cascade import NO_OPINIONS, AskJudges
from streams.observability.failures import (
    EXIT_UNREACHABLE,
    BadAnswer,
    InfrastructureFailure,
    Stage,
    exit_code,
)
from streams.observability.span_attributes import Attributes
from streams.observability.stages import Stages
from streams.pipeline import attributes
from streams.pipeline.context import DocumentLookup, ResolvedContext, resolve_context
from streams.pipeline.verdict import make_exchange, make_verdict
from streams.scorers.options import AsyncScorer, unscored_answer
from streams.search.types import RetrievalResult, RetrievalUnavailable, Retriever
from streams.settings import InvalidSettings
from streams.translating.opening import FILE_TIMEOUT_SECONDS
from streams.translating.translation_stage import TranslationResult, TranslationStage


@dataclass(frozen=True, slots=True)
class Deadline:
    """The moment of the event loop's clock by which an answer must be judged, and how the time is shared.

    ``at`` is None without a deadline, as for a file: then only what hangs is given up. ``document_seconds``
    is how long an answer waits for documents that it cites.
    """

    at: float | None
    document_seconds: float = 0.0

    def for_documents(self) -> float:
        """Return how long to wait for documents that the answer cites, in seconds."""
        return min(self.document_seconds, self._remaining())

    def for_service(self) -> float:
        """Return the timeout of one service in seconds: the search, the translation, or all judges together.

        It is half of the remaining time: a result that leaves no time for scoring is of no use, and later
        answers of the conversation wait.
        """
        return FILE_TIMEOUT_SECONDS if self.at is None else self._remaining() / 2

    def for_scoring(self) -> float | None:
        """Return the timeout of translation and scoring together in seconds; None if there is none."""
        return None if self.at is None else self._remaining()

    def _remaining(self) -> float:
        return 0.0 if self.at is None else max(0.0, self.at - asyncio.get_running_loop().time())


#: Failures that are not the answer's: every other answer would meet them too.
_INFRASTRUCTURE = (RegistryUnreachable, sqlite3.Error, OSError, MemoryError)

#: Stages without metrics and spans.
_UNOBSERVED: Final = Stages()

T = TypeVar("T")


class Decide(Protocol):
    """The policy."""

    def __call__(
        self,
        scored_answer: ScoredAnswer,
        opinions: Sequence[Opinion],
        *,
        known: Reason | None,
        characters: int,
        model: str | None,
    ) -> PolicyDecision:
        """Decide by a score, opinions in the order in which judges were asked, and what is known.

        ``characters`` of the answer, and the ``model`` that wrote it, are for its risk.
        """
        ...


def _ignore(scored_answer: ScoredAnswer) -> None:
    """Ignore a scored answer."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The stages from an answer to its verdict, each with its timing and span.

    Args:
        documents: looks up document ids; a missing document degrades the verdict (``context_missing``).
        scorer: scores exchanges.
        decide: the policy.
        profile: the scorer's profile, for answers that could not be scored in time.
        translation_stage: translates an exchange before it is scored, if need be.
        retriever: finds passages for answers without context; without a retriever these go to review.
        ask_judges: asks judges about answers in doubt; without it the checks alone decide.
        stages: records timings and spans.
        on_scored: called with every scored answer.
        known_answers: what persons decided about the same answers; None if that does not count.
    """

    documents: DocumentLookup
    scorer: AsyncScorer
    decide: Decide
    profile: str
    translation_stage: TranslationStage | None = None
    retriever: Retriever | None = None
    ask_judges: AskJudges | None = None
    stages: Stages = _UNOBSERVED
    on_scored: Callable[[ScoredAnswer], None] = _ignore
    known_answers: KnownAnswers | None = None

    async def verdict(
        self, answer: ChatbotAnswer, deadline: Deadline, now: Callable[[], datetime]
    ) -> Verdict:
        """Return the verdict on one answer; ``now`` returns the aware time for ``scored_at``.

        Raises:
            BadAnswer: it cannot be judged, now or later.
            InfrastructureFailure: no answer can be judged any more.
            InvalidSettings: the documents cannot be searched with these settings.
        """
        with map_failures(Stage.ENRICH), self.stages.stage("enrich") as span:
            limits = deadline.for_documents(), deadline.for_service()
            context = await resolve_context(answer, self.documents, limits[0], self.retriever, limits[1])
            _set_attributes(span, attributes.context_attributes, context)
        with map_failures(Stage.SCORE):
            scored = await self._score(answer, context, deadline)
            key, judged = self._known_answer_key(answer, context, scored), NO_OPINIONS
            if self.ask_judges is not None:
                exchange = make_exchange(answer, context.scoring_passages)
                with self.stages.stage("judge") as span:
                    judged = await self.ask_judges(exchange, scored, deadline.for_service())
                    _set_attributes(span, attributes.opinion_attributes, judged)
                scored = replace(scored, degraded=(*scored.degraded, *judged.degraded))
            known = self.known_answers.reason(key) if self.known_answers else None
            decided = self.decide(
                scored, judged.opinions, known=known, characters=len(answer.answer), model=answer.model
            )
            verdict = make_verdict(answer, scored, decided, context, now(), judged.priced_opinions)
            return replace(verdict, known_answer_key=key)

    def _known_answer_key(
        self, answer: ChatbotAnswer, context: ResolvedContext, scored: ScoredAnswer
    ) -> str | None:
        """Return the key of an answer if a decision about it may count for another one.

        So it is not if the conversation may give the question its meaning, or if something could not be
        checked: the documents may be others then.
        """
        if self.known_answers is None or not scored.is_standalone or scored.degraded:
            return None
        return self.known_answers.key(answer, context.scoring_passages)

    async def _score(
        self, answer: ChatbotAnswer, context: ResolvedContext, deadline: Deadline
    ) -> ScoredAnswer:
        translated = TranslationResult(
            make_exchange(answer, context.scoring_passages, context.published_documents)
        )
        try:
            async with asyncio.timeout(deadline.for_scoring()):
                if self.translation_stage is not None:
                    with self.stages.stage("translate") as span:
                        seconds = deadline.for_service()
                        translated = await self.translation_stage.translate(translated.exchange, seconds)
                        _set_attributes(span, attributes.translation_attributes, translated)
                with self.stages.stage("score") as span:
                    degraded = (*context.degraded, *translated.degraded)
                    scored = await self.scorer.score(translated.exchange, degraded)
                    self.on_scored(scored)
                    _set_attributes(span, attributes.score_attributes, scored)
                    self.stages.add_timings(scored.timings)
                    return scored
        except TimeoutError:
            degraded = (Reason.SCORING_TIMEOUT, *context.degraded, *translated.degraded)
            return unscored_answer(self.profile, answer.language, degraded)


def _set_attributes(span: Span, attributes_of: Callable[[T], Attributes], result: T) -> None:
    if span.is_recording():
        span.set_attributes(attributes_of(result))


@contextmanager
def map_failures(stage: Stage) -> Iterator[None]:
    """Raise BadAnswer for a failure of one answer, and InfrastructureFailure for one that meets all."""
    try:
        yield
    except (BadAnswer, InfrastructureFailure, InvalidSettings):
        raise
    except _INFRASTRUCTURE as error:
        code = EXIT_UNREACHABLE if isinstance(error, RegistryUnreachable) else exit_code(error)
        raise InfrastructureFailure(
            f"{stage} is not possible: {type(error).__name__}: {error}", code
        ) from error
    except Exception as error:  # whatever else one answer provokes is that answer's dead letter
        raise BadAnswer(stage, type(error).__name__, str(error)) from error


@dataclass(frozen=True, slots=True)
class OfflinePipeline:
    """Judges answers of a file; ``scored_at`` is the time that all verdicts carry, to compare runs."""

    pipeline: Pipeline
    scored_at: datetime

    async def verdict(self, answer: ChatbotAnswer) -> Verdict:
        """Judge one answer; raises as :meth:`Pipeline.verdict` does."""
        return await self.pipeline.verdict(answer, Deadline(None), lambda: self.scored_at)


class TracedRetriever:
    """Searches as ``retriever`` does, in a span of its own."""

    def __init__(self, retriever: Retriever, stages: Stages) -> None:
        self._retriever = retriever
        self._stages = stages

    async def retrieve(self, question: str, language: str | None, seconds: float) -> RetrievalResult:
        """Find the passages for one question."""
        with self._stages.span("search") as span:
            try:
                found = await self._retriever.retrieve(question, language, seconds)
            except RetrievalUnavailable as error:
                span.set_attribute("truthgate.search.unavailable", str(error))
                raise
            if span.is_recording():
                span.set_attributes(attributes.search_attributes(found))
            return found
