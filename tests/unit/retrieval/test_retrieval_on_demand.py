"""The documents of a file are indexed once, and only for a question."""

import asyncio
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from schemas import ChatbotAnswer, ContextPassage, KnowledgeDocument
from scoring.values.rules import Reason
from streams.observability.failures import EXIT_SOFTWARE, EXIT_UNREACHABLE, InfrastructureFailure
from streams.pipeline.context import StaticDocuments
from streams.pipeline.pipeline import OfflinePipeline, Pipeline
from streams.scorers.options import DisabledScorer
from streams.search.on_demand import OnDemandRetriever, index_folder, open_on_demand_retriever
from streams.search.types import EmbeddingFailed, IndexFailed, RetrievalResult
from streams.settings import InvalidSettings, RetrievalSettings, Settings

NOW = datetime(2026, 3, 2, tzinfo=UTC)
DOCUMENT = KnowledgeDocument("d-1", "en", "Saving", "Click **Save**.", NOW)
SECRET = "what the customer wrote"


class Building:
    """Replaces the building of an index; takes a while, or fails, and counts how often it starts."""

    started = 0
    error: Exception | None = None


@pytest.fixture
def building(monkeypatch: pytest.MonkeyPatch) -> Building:
    made = Building()

    def open_search(retriever: OnDemandRetriever) -> Callable[..., RetrievalResult]:
        made.started += 1
        time.sleep(0.01)
        if made.error:
            raise made.error
        retriever._report_progress(1)
        return search

    def search(_question: str, _language: str | None) -> RetrievalResult:
        raise IndexFailed("nothing is searched here")

    monkeypatch.setattr(OnDemandRetriever, "_open_search", open_search)
    return made


async def test_questions_that_come_together_wait_for_one_index(building: Building) -> None:
    progress: list[tuple[int, int]] = []
    async with open_on_demand_retriever(
        [DOCUMENT], Settings(), lambda *done: progress.append(done)
    ) as retrieval:
        assert retrieval
        found = await asyncio.gather(*(retrieval.open() for _ in range(20)))
        assert {await retrieval.open()} == set(found)
    assert (building.started, progress) == (1, [(1, 1)])


async def test_an_index_that_failed_is_not_tried_again_for_the_others_who_wait(
    building: Building,
) -> None:
    building.error = OSError(28, "No space left on device")
    async with open_on_demand_retriever([DOCUMENT], Settings()) as retrieval:
        assert retrieval
        failed = await asyncio.gather(*(retrieval.open() for _ in range(5)), return_exceptions=True)
    assert {str(each) for each in failed} == {
        f"the documents cannot be indexed in {index_folder()}: No space left on device"
    }
    assert building.started == 1


@pytest.mark.parametrize(
    ("error", "kind", "told", "code"),
    [
        (RuntimeError(SECRET), InfrastructureFailure, "RuntimeError", EXIT_SOFTWARE),
        (ValueError(SECRET), InfrastructureFailure, "ValueError", EXIT_SOFTWARE),
        (
            EmbeddingFailed("embeddings_unreachable"),
            InfrastructureFailure,
            "use: embeddings_unreachable",
            EXIT_UNREACHABLE,
        ),
        (EmbeddingFailed("embedder_not_installed"), InvalidSettings, "retrieval.embedder use", None),
    ],
)
async def test_what_fails_is_told_without_the_texts_that_an_error_may_quote(
    building: Building, error: Exception, kind: type[Exception], told: str, code: int | None
) -> None:
    building.error = error
    async with open_on_demand_retriever([DOCUMENT], Settings()) as retrieval:
        assert retrieval
        with pytest.raises(kind) as caught:
            await retrieval.open()
    assert told in str(caught.value)
    assert SECRET not in str(caught.value)
    assert getattr(caught.value, "exit_code", None) == code


async def test_without_documents_or_with_retrieval_off_there_is_no_retriever() -> None:
    off = Settings(retrieval=RetrievalSettings(embedder="none"))
    async with (
        open_on_demand_retriever([], Settings()) as none,
        open_on_demand_retriever([DOCUMENT], off) as neither,
    ):
        assert (none, neither) == (None, None)


async def test_an_index_is_built_for_an_answer_without_context_alone(
    building: Building,
) -> None:
    settings = Settings()
    async with open_on_demand_retriever([DOCUMENT], settings) as retrieval:
        documents = StaticDocuments.of([DOCUMENT])
        way = Pipeline(
            documents, DisabledScorer("paper"), settings.policy.decide, "paper", retriever=retrieval
        )
        answers = OfflinePipeline(way, NOW)
        answer = ChatbotAnswer("a", "c", "How?", "So.", NOW, document_ids=("gone",))
        await answers.verdict(answer)
        await answers.verdict(
            ChatbotAnswer("a", "c", "How?", "So.", NOW, context=(ContextPassage("x", "text"),))
        )
        assert building.started == 0
        verdict = await answers.verdict(ChatbotAnswer("a", "c", "How?", "So.", NOW))
        assert building.started == 1
    assert Reason.RETRIEVAL_UNAVAILABLE in verdict.degraded


async def test_an_index_that_nobody_waits_for_any_more_is_not_built_to_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    began, ended = threading.Event(), threading.Event()

    def build(retriever: OnDemandRetriever) -> None:
        began.set()
        try:
            for number in range(100_000_000):
                retriever._report_progress(number)
        finally:
            ended.set()

    monkeypatch.setattr(OnDemandRetriever, "_open_search", build)
    async with open_on_demand_retriever([DOCUMENT], Settings()) as retrieval:
        assert isinstance(retrieval, OnDemandRetriever)
        waiting = asyncio.create_task(retrieval.open())
        await asyncio.to_thread(began.wait, 10)
        waiting.cancel()
    assert await asyncio.to_thread(ended.wait, 10)
