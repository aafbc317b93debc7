"""The way of one answer to its verdict, the same online and offline: each step takes the former's result."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from schemas import RegistryUnreachable
from schemas.records import ChatbotAnswer, Verdict
from scoring.values.assessment import Assessment, Decided
from scoring.values.opinion import Opinion
from scoring.values.reasons import Reason
from scoring.values.types import Exchange
from streams.answers.context import Documents, ResolvedContext, resolve_context
from streams.answers.deadline import Deadline
from streams.answers.verdict import exchange_of, make_verdict
from streams.failures import EXIT_SOFTWARE, EXIT_UNREACHABLE, BadAnswer, InfrastructureFailure, Stage
from streams.judging.advice import NO_ADVICE, Advise
from streams.judging.assessor import Assessor, unassessed
from streams.retrieval.types import Retriever
from streams.settings import WrongSettings
from streams.translating.step import Translated, Translation

#: Failures that say nothing about the answer at hand: every other answer would meet them too.
_INFRASTRUCTURE = (RegistryUnreachable, sqlite3.Error, OSError, MemoryError)

Degraded = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """The steps that an answer takes, in their order; whoever watches wraps them.

    ``translate`` is None where nothing is translated, and ``advise`` where no judge is asked. ``profile``
    names what an answer was to be assessed by that could not be assessed in time.
    """

    resolve: Callable[[ChatbotAnswer, Deadline], Awaitable[ResolvedContext]]
    translate: Callable[[Exchange, float], Awaitable[Translated]] | None
    assess: Callable[[Exchange, Degraded], Awaitable[Assessment]]
    advise: Advise | None
    decide: Callable[[Assessment, Opinion | None], Decided]
    profile: str

    async def verdict(
        self, answer: ChatbotAnswer, deadline: Deadline, now: Callable[[], datetime]
    ) -> Verdict:
        """Take one answer all the way; ``now`` gives the aware time for ``scored_at``.

        Raises:
            BadAnswer: it cannot be judged, now or later.
            InfrastructureFailure: no answer can be judged any more.
            WrongSettings: the documents cannot be searched with these settings.
        """
        with failing_as(Stage.ENRICH):
            context = await self.resolve(answer, deadline)
        with failing_as(Stage.SCORE):
            assessment = await self._assessed(answer, context, deadline)
            advice = NO_ADVICE
            if self.advise is not None:
                exchange = exchange_of(answer, context.judged)
                advice = await self.advise(exchange, assessment, deadline.for_service())
                assessment = replace(assessment, degraded=(*assessment.degraded, *advice.degraded))
            decided = self.decide(assessment, advice.deciding)
            return make_verdict(answer, assessment, decided, context, now(), advice.asked)

    async def _assessed(
        self, answer: ChatbotAnswer, context: ResolvedContext, deadline: Deadline
    ) -> Assessment:
        translated = Translated(exchange_of(answer, context.judged))
        try:
            async with asyncio.timeout(deadline.for_assessment()):
                if self.translate is not None:
                    translated = await self.translate(translated.exchange, deadline.for_service())
                return await self.assess(translated.exchange, (*context.degraded, *translated.degraded))
        except TimeoutError:
            degraded = (Reason.SCORING_TIMEOUT, *context.degraded, *translated.degraded)
            return unassessed(self.profile, answer.language, degraded)


def put_together(
    documents: Documents,
    assessor: Assessor,
    decide: Callable[[Assessment, Opinion | None], Decided],
    profile: str,
    translation: Translation | None = None,
    retriever: Retriever | None = None,
    advise: Advise | None = None,
) -> Way:
    """Return the way of an answer through these parts.

    Args:
        documents: resolves document ids; one not found degrades the verdict (``context_missing``).
        assessor: scores.
        decide: the policy.
        profile: the scorer's, for answers that could not be assessed in time.
        translation: what is done to an exchange before it is assessed.
        retriever: finds passages for answers that bring no context; without one these are held.
        advise: asks judges about answers in doubt; without it the checks alone decide.
    """

    async def resolve(answer: ChatbotAnswer, deadline: Deadline) -> ResolvedContext:
        limits = deadline.for_documents(), deadline.for_service()
        return await resolve_context(answer, documents, limits[0], retriever, limits[1])

    translate = translation.translate if translation else None
    return Way(resolve, translate, assessor.assess, advise, decide, profile)


@contextmanager
def failing_as(stage: Stage) -> Iterator[None]:
    """Turn what goes wrong with one answer into BadAnswer, and what goes wrong for all into its like."""
    try:
        yield
    except (BadAnswer, InfrastructureFailure, WrongSettings):
        raise
    except _INFRASTRUCTURE as error:
        code = EXIT_UNREACHABLE if isinstance(error, RegistryUnreachable) else EXIT_SOFTWARE
        raise InfrastructureFailure(
            f"{stage} is not possible: {type(error).__name__}: {error}", code
        ) from error
    except Exception as error:  # whatever else one answer provokes is that answer's dead letter
        raise BadAnswer(stage, type(error).__name__, str(error)) from error
