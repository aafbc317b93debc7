"""The search for passages as those see it who watch: in a span of its own."""

from __future__ import annotations

from streams.answers import attributes
from streams.retrieval.types import RetrievalUnavailable, Retrieved, Retriever
from streams.telemetry.stages import Stages


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
