"""The way of an answer as those see it who watch: stages, spans and counts around the steps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from schemas.records import ChatbotAnswer
from scoring.values.assessment import Assessment
from scoring.values.types import Exchange
from streams.answers import attributes
from streams.answers.context import ResolvedContext
from streams.answers.way import Degraded, Patience, Way
from streams.judging.advice import Advice, Advise
from streams.retrieval.types import RetrievalUnavailable, Retrieved, Retriever
from streams.telemetry.stages import Stages
from streams.translating.step import Translated


def observed(way: Way, stages: Stages, on_assessment: Callable[[Assessment], None]) -> Way:
    """Return the same way with each step timed and shown; ``on_assessment`` sees every assessment."""

    async def resolve(answer: ChatbotAnswer, patience: Patience) -> ResolvedContext:
        with stages.stage("enrich") as span:
            context = await way.resolve(answer, patience)
            if span.is_recording():
                span.set_attributes(attributes.enriched(context))
            return context

    async def assess(exchange: Exchange, degraded: Degraded) -> Assessment:
        with stages.stage("score") as span:
            assessment = await way.assess(exchange, degraded)
            on_assessment(assessment)
            if span.is_recording():
                span.set_attributes(attributes.scored(assessment))
                stages.add(assessment.timings)
            return assessment

    translate, advise = _translating(way, stages), _advising(way, stages)
    return replace(way, resolve=resolve, translate=translate, assess=assess, advise=advise)


def _advising(way: Way, stages: Stages) -> Advise | None:
    advise = way.advise
    if advise is None:
        return None

    async def advised(exchange: Exchange, assessment: Assessment, seconds: float) -> Advice:
        with stages.stage("judge") as span:
            advice = await advise(exchange, assessment, seconds)
            if span.is_recording():
                span.set_attributes(attributes.advised(advice))
            return advice

    return advised


def _translating(way: Way, stages: Stages) -> Callable[[Exchange, float], Awaitable[Translated]] | None:
    translate = way.translate
    if translate is None:
        return None

    async def translated(exchange: Exchange, seconds: float) -> Translated:
        with stages.stage("translate") as span:
            outcome = await translate(exchange, seconds)
            if span.is_recording():
                span.set_attributes(attributes.translated(outcome))
            return outcome

    return translated


class ObservedRetriever:
    """Searches as ``retriever`` does, in a span of its own."""

    def __init__(self, retriever: Retriever, stages: Stages) -> None:
        self._retriever = retriever
        self._stages = stages

    async def retrieve(self, question: str, language: str | None, seconds: float) -> Retrieved:
        """Find the passages for one question."""
        with self._stages.part("search") as span:
            try:
                found = await self._retriever.retrieve(question, language, seconds)
            except RetrievalUnavailable as error:
                span.set_attribute("truthgate.search.unavailable", str(error))
                raise
            if span.is_recording():
                span.set_attributes(attributes.found(found))
            return found
