"""The way of an answer without a broker: from records to verdicts, the documents all given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from schemas.records import ChatbotAnswer, Verdict
from scoring.values.assessment import Assessment, Decided
from streams.answers.context import GivenDocuments, ResolvedContext, brings_context, resolve_context
from streams.answers.way import Patience, Way
from streams.judging.assessor import Assessor
from streams.retrieval.types import Retriever
from streams.translating.opening import FILE_PATIENCE_SECONDS
from streams.translating.step import Translation


class OpensRetriever(Protocol):
    """Whoever has a retriever ready once the documents are indexed."""

    async def opened(self) -> Retriever:
        """Return the retriever, however long that takes; raises InfrastructureFailure, WrongSettings."""
        ...


class FilePatience:
    """Nobody waits for a file as for a chat: only what hangs is given up."""

    def for_documents(self) -> float:
        """Return 0: what is not among the given documents will not come."""
        return 0.0

    def for_search(self) -> float:
        """Return how long one search may take."""
        return FILE_PATIENCE_SECONDS

    def for_translation(self) -> float:
        """Return how long one translation may take."""
        return FILE_PATIENCE_SECONDS

    def for_assessment(self) -> None:
        """Set no limit: the assessor has one of its own."""


_PATIENCE = FilePatience()


@dataclass(frozen=True, slots=True)
class OfflineAnswers:
    """Judges answers of a file; ``scored_at`` is the time that all verdicts carry, to compare runs."""

    way: Way
    scored_at: datetime

    async def verdict(self, answer: ChatbotAnswer) -> Verdict:
        """Judge one answer; raises as :meth:`Way.verdict` does."""
        return await self.way.verdict(answer, _PATIENCE, lambda: self.scored_at)


def offline_way(
    documents: GivenDocuments,
    assessor: Assessor,
    decide: Callable[[Assessment], Decided],
    profile: str,
    translation: Translation | None = None,
    retrieval: OpensRetriever | None = None,
) -> Way:
    """Put together the way of an answer of a file.

    Args:
        documents: what document ids are resolved from; one that is not there degrades the verdict
            (``context_missing``), as it does in the worker.
        assessor: scores, within a time limit of its own.
        decide: the policy.
        profile: the scorer's, for answers that could not be assessed in time.
        translation: what is done to an exchange before it is assessed.
        retrieval: opened for the first answer that brings no context; without one these are held.
    """

    async def resolve(answer: ChatbotAnswer, patience: Patience) -> ResolvedContext:
        retriever = await retrieval.opened() if retrieval and not brings_context(answer) else None
        limits = patience.for_documents(), patience.for_search()
        return await resolve_context(answer, documents, limits[0], retriever, limits[1])

    return Way(resolve, translation.translate if translation else None, assessor.assess, decide, profile)
