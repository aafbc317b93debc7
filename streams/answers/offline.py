"""Answers judged without a broker: the worker's steps, from records to verdicts."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from schemas.records import ChatbotAnswer, Verdict
from scoring.values.reasons import Reason
from scoring.values.types import Judgement
from streams.answers.context import GivenDocuments, ResolvedContext, brings_context, resolve_context
from streams.answers.verdict import exchange_of, make_verdict
from streams.judging.judge import Judge, unjudged
from streams.retrieval.types import Retriever
from streams.settings import Settings
from streams.translating.opening import FILE_PATIENCE_SECONDS
from streams.translating.step import NotTranslated, Translation


class OpensRetriever(Protocol):
    """Whoever has a retriever ready once the documents are indexed."""

    async def opened(self) -> Retriever:
        """Return the retriever, however long that takes; raises InfrastructureFailure, WrongSettings."""
        ...


class OfflineJudge:
    """Judges answers against documents that are all given.

    Args:
        settings: the policy and the profile.
        judge: scores and decides, within a time limit of its own.
        documents: what document ids are resolved from; one that is not there degrades the verdict
            (``context_missing``), as it does in the worker.
        translation: what is done to an exchange before it is judged.
        scored_at: the time that every verdict of this run carries, so that runs can be compared.
        retrieval: opened for the first answer that brings no context; without one these are held.
    """

    def __init__(
        self,
        settings: Settings,
        judge: Judge,
        documents: GivenDocuments,
        scored_at: datetime,
        translation: Translation | None = None,
        retrieval: OpensRetriever | None = None,
    ) -> None:
        self._settings = settings
        self._judge = judge
        self._documents = documents
        self._scored_at = scored_at
        self._translation = translation or NotTranslated()
        self._retrieval = retrieval

    async def verdict(self, answer: ChatbotAnswer) -> Verdict:
        """Judge one answer.

        Raises:
            BadAnswer: the scorer fails on this answer.
            InfrastructureFailure: there is no scorer any more, or the documents cannot be indexed.
            WrongSettings: the documents cannot be indexed with these settings.
        """
        retriever = await self._retriever_for(answer)
        context = await resolve_context(answer, self._documents, 0, retriever, search=FILE_PATIENCE_SECONDS)
        return make_verdict(answer, await self._judgement(answer, context), context, self._scored_at)

    async def _retriever_for(self, answer: ChatbotAnswer) -> Retriever | None:
        if self._retrieval is None or brings_context(answer):
            return None
        return await self._retrieval.opened()

    async def _judgement(self, answer: ChatbotAnswer, context: ResolvedContext) -> Judgement:
        degraded = context.degraded
        try:
            exchange = exchange_of(answer, context.judged)
            prepared = await self._translation.prepare(exchange, FILE_PATIENCE_SECONDS)
            degraded = (*degraded, *prepared.degraded)
            return await self._judge.judge(prepared.exchange, degraded)
        except TimeoutError:
            degraded = (Reason.SCORING_TIMEOUT, *degraded)
            return unjudged(self._settings.policy, self._settings.scoring.profile, answer.language, degraded)
