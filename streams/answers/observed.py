"""Those who judge and search, each shown in the trace of the answer that they work for."""

from __future__ import annotations

from collections.abc import Callable

from opentelemetry.trace import get_current_span

from scoring.values.types import Exchange, Judgement
from streams.answers import attributes
from streams.judging.judge import Judge
from streams.retrieval.types import RetrievalUnavailable, Retrieved, Retriever
from streams.telemetry.stages import Stages


class ObservedJudge:
    """Judges as ``judge`` does; parts of scoring become spans, and ``on_judgement`` sees every judgement."""

    def __init__(self, judge: Judge, stages: Stages, on_judgement: Callable[[Judgement], None]) -> None:
        self._judge = judge
        self._stages = stages
        self._on_judgement = on_judgement

    async def judge(self, exchange: Exchange, degraded: tuple[str, ...]) -> Judgement:
        """Judge one exchange."""
        judgement = await self._judge.judge(exchange, degraded)
        self._on_judgement(judgement)
        if (span := get_current_span()).is_recording():
            span.set_attributes(attributes.scored(judgement))
            self._stages.add(judgement.timings)
        return judgement


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
