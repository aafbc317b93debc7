"""The way of an answer as those see it who watch: stages, spans and counts around the steps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import ParamSpec, TypeVar

from scoring.values.assessment import Assessment
from scoring.values.types import Exchange
from streams.answers import attributes
from streams.answers.way import Degraded, Way
from streams.retrieval.types import RetrievalUnavailable, Retrieved, Retriever
from streams.telemetry.messaging import Attributes
from streams.telemetry.stages import Stages

P = ParamSpec("P")
T = TypeVar("T")


def observed(way: Way, stages: Stages, on_assessment: Callable[[Assessment], None]) -> Way:
    """Return the same way with each step timed and shown; ``on_assessment`` sees every assessment."""

    def staged(
        name: str, work: Callable[P, Awaitable[T]], described: Callable[[T], Attributes]
    ) -> Callable[P, Awaitable[T]]:
        async def step(*args: P.args, **kwargs: P.kwargs) -> T:
            with stages.stage(name) as span:
                result = await work(*args, **kwargs)
                if span.is_recording():
                    span.set_attributes(described(result))
                return result

        return step

    async def assess(exchange: Exchange, degraded: Degraded) -> Assessment:
        with stages.stage("score") as span:
            assessment = await way.assess(exchange, degraded)
            on_assessment(assessment)
            if span.is_recording():
                span.set_attributes(attributes.scored(assessment))
                stages.add(assessment.timings)
            return assessment

    return replace(
        way,
        resolve=staged("enrich", way.resolve, attributes.enriched),
        translate=way.translate and staged("translate", way.translate, attributes.translated),
        assess=assess,
        advise=way.advise and staged("judge", way.advise, attributes.advised),
    )


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
