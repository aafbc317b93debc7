"""The way of an answer in a worker, put together from its parts."""

from __future__ import annotations

from collections.abc import Callable

from schemas.records import ChatbotAnswer
from scoring.values.assessment import Assessment, Decided
from streams.answers.context import Documents, ResolvedContext, resolve_context
from streams.answers.way import Patience, Way
from streams.judging.assessor import Assessor
from streams.retrieval.types import Retriever
from streams.translating.step import Translation


def online_way(
    documents: Documents,
    assessor: Assessor,
    decide: Callable[[Assessment], Decided],
    profile: str,
    translation: Translation | None = None,
    retriever: Retriever | None = None,
) -> Way:
    """Put together the way of an answer in a worker.

    Args:
        documents: resolves document ids.
        assessor: scores.
        decide: the policy.
        profile: the scorer's, for answers that could not be assessed in time.
        translation: what is done to an exchange before it is assessed.
        retriever: finds passages for answers that bring no context; without one these are held.
    """

    async def resolve(answer: ChatbotAnswer, patience: Patience) -> ResolvedContext:
        limits = patience.for_documents(), patience.for_search()
        return await resolve_context(answer, documents, limits[0], retriever, limits[1])

    return Way(resolve, translation.translate if translation else None, assessor.assess, decide, profile)
