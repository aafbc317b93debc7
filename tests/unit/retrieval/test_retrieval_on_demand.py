"""The documents of a file are indexed once, and only for a question."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from schemas import ChatbotAnswer, ContextPassage, KnowledgeDocument
from scoring.values.rules import Reason
from streams.observability.failures import EXIT_SOFTWARE, EXIT_UNREACHABLE, InfrastructureFailure
from streams.pipeline.context import StaticDocuments
from streams.pipeline.pipeline import OfflinePipeline, Pipeline
from streams.scorers.options import DisabledScorer
from streams.search import files
from streams.search.embedder import EmbeddingFailed
from streams.search.files import index_folder
from streams.search.on_demand import OnDemandRetriever, open_on_demand_retriever
from streams.search.search import Ranking
from streams.search.types import RetrievalResult, RetrievalUnavailable
from streams.settings import InvalidSettings, RetrievalSettings, Settings

NOW = datetime(2026, 3, 2, tzinfo=UTC)
DOCUMENT = KnowledgeDocument("d-1", "en", "Saving", "Click **Save**.", NOW)
SECRET = "what the customer wrote"


class Files:
    """Stands in for the building of an index, which takes a while, or fails; counts how often it is begun."""

    def __init__(self, error: Exception | None = None) -> None:
        self.opened = self.closed = 0
        self._error = error

    @asynccontextmanager
    async def open(
        self,
        _documents: object,
        _settings: Settings,
        *,
        on_indexed: Callable[[int, int], None],
        ranking: Ranking,
    ) -> AsyncIterator["Files"]:
        self.opened += 1
        await asyncio.sleep(0.01)
        if self._error:
            raise self._error
        on_indexed(1, 1)
        yield self
        self.closed += 1

    async def retrieve(self, question: str, language: str | None, seconds: float) -> RetrievalResult:
        raise RetrievalUnavailable("nothing is searched here")


@pytest.fixture
def building(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Files]:
    def build(error: Exception | None = None) -> Files:
        made = Files(error)
        monkeypatch.setattr(files, "open_file_retriever", made.open)
        return made

    return build


async def test_questions_that_come_together_wait_for_one_index(building: Callable[..., Files]) -> None:
    made = building()
    progress: list[tuple[int, int]] = []
    async with open_on_demand_retriever(
        [DOCUMENT], Settings(), lambda *done: progress.append(done)
    ) as retrieval:
        assert retrieval
        found = await asyncio.gather(*(retrieval.open() for _ in range(20)))
        assert await retrieval.open() is made
    assert (set(found), made.opened, made.closed, progress) == ({made}, 1, 1, [(1, 1)])


async def test_an_index_that_failed_is_not_tried_again_for_the_others_who_wait(
    building: Callable[..., Files],
) -> None:
    made = building(OSError(28, "No space left on device"))
    async with open_on_demand_retriever([DOCUMENT], Settings()) as retrieval:
        assert retrieval
        failed = await asyncio.gather(*(retrieval.open() for _ in range(5)), return_exceptions=True)
    assert {str(each) for each in failed} == {
        f"the documents cannot be indexed in {index_folder()}: No space left on device"
    }
    assert made.opened == 1


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
    building: Callable[..., Files], error: Exception, kind: type[Exception], told: str, code: int | None
) -> None:
    building(error)
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


async def test_an_index_is_built_for_an_answer_without_context_alone(building: Callable[..., Files]) -> None:
    made = building()
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
        assert made.opened == 0
        verdict = await answers.verdict(ChatbotAnswer("a", "c", "How?", "So.", NOW))
        assert made.opened == 1
    assert Reason.RETRIEVAL_UNAVAILABLE in verdict.degraded


async def test_an_index_that_nobody_waits_for_any_more_is_not_built_to_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    began, ended = threading.Event(), threading.Event()

    def build(on_indexed: Callable[[int, int], None]) -> None:
        began.set()
        try:
            for number in range(100_000_000):
                on_indexed(number, 100_000_000)
        finally:
            ended.set()

    @asynccontextmanager
    async def opened(
        _documents: object, _settings: Settings, *, on_indexed: Callable[[int, int], None], ranking: Ranking
    ) -> AsyncIterator[None]:
        await asyncio.to_thread(build, on_indexed)
        yield

    monkeypatch.setattr(files, "open_file_retriever", opened)
    async with open_on_demand_retriever([DOCUMENT], Settings()) as retrieval:
        assert isinstance(retrieval, OnDemandRetriever)
        waiting = asyncio.create_task(retrieval.open())
        await asyncio.to_thread(began.wait, 10)
        waiting.cancel()
    assert await asyncio.to_thread(ended.wait, 10)
