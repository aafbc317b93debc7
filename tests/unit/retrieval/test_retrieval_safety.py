"""What an index must never do: destroy files of others, or pass for all that there is to know."""

from pathlib import Path

import pytest

from schemas import KnowledgeDocument
from streams.documents.store import DocumentStore
from streams.documents.versions import DocumentChange
from streams.search.index import IndexUnusable, PassageIndex, remove_index
from streams.search.index_updates import index_path
from streams.settings import InvalidSettings, RetrievalSettings
from tests.support.local_retrieval import NOW, Service, put
from tests.unit.retrieval.test_retrieval_updates import UNREACHABLE, until


def test_a_folder_that_holds_other_files_loses_none_of_them(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    PassageIndex.create(tmp_path / "passages", "this")
    PassageIndex.create(tmp_path / "passages", "this")
    assert {path.name for path in tmp_path.iterdir()} == {"thesis.txt", "passages"}
    remove_index(tmp_path / "passages")
    assert {path.name for path in tmp_path.iterdir()} == {"thesis.txt"}


def test_a_folder_of_somebody_else_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / "passages").mkdir()
    (tmp_path / "passages" / "psalm.txt").write_text("a psalm")
    with pytest.raises(IndexUnusable, match="no_index"):
        PassageIndex(tmp_path / "passages", "this")
    PassageIndex.create(tmp_path / "passages", "this")
    assert (tmp_path / "passages.set-aside" / "psalm.txt").read_text() == "a psalm"


def test_an_index_built_with_something_else_is_none(tmp_path: Path) -> None:
    path = tmp_path / "passages"
    with pytest.raises(IndexUnusable, match="no_index"):
        PassageIndex(path, "this")
    assert PassageIndex.create(path, "this").contents == {}
    assert PassageIndex(path, "this").contents == {}
    with pytest.raises(IndexUnusable, match="index_built_otherwise"):
        PassageIndex(path, "that")


def test_an_index_whose_making_was_cut_off_is_none(tmp_path: Path) -> None:
    path = tmp_path / "passages"
    (tmp_path / "passages.new").mkdir()
    (tmp_path / "passages.new" / "meta.json").write_bytes(b"{and no more")
    with pytest.raises(IndexUnusable, match="no_index"):
        PassageIndex(path, "this")
    PassageIndex.create(path, "this")
    assert PassageIndex(path, "this").contents == {}


async def test_a_second_worker_on_the_same_index_is_refused_in_one_line(service: Service) -> None:
    async with service.open():
        with pytest.raises(InvalidSettings, match="is in use by another worker"):
            async with service.open():
                pass


async def test_what_is_found_in_an_index_that_misses_a_document_says_so(
    service: Service, store: DocumentStore
) -> None:
    async with service.open() as retrieval:
        await until(retrieval.index_updater.complete.is_set)
        assert not (await retrieval.retriever.retrieve("factuur", "nl", 20)).is_outdated
        service.embedding.failing = UNREACHABLE
        put(store, 2, "expense", "Dien een declaratie in via **Portaal / Declaraties**.")
        await until(lambda: service.failures)
        assert (await retrieval.retriever.retrieve("declaratie", "nl", 20)).is_outdated
        service.embedding.failing = None
        await until(lambda: not retrieval.index_updater.is_outdated)
        assert not (await retrieval.retriever.retrieve("declaratie", "nl", 20)).is_outdated


async def test_a_document_without_text_is_no_context_however_much_its_title_is_like_the_question(
    service: Service, store: DocumentStore
) -> None:
    empty = KnowledgeDocument("empty", "nl", "Hoe dien ik een declaratie in?", "", NOW)
    store.apply([DocumentChange("empty", empty, 0, 2, 2)], {0: 3})
    async with service.open() as retrieval:
        await until(retrieval.index_updater.complete.is_set)
        found = await retrieval.retriever.retrieve("Hoe dien ik een declaratie in?", "nl", 20)
    assert found.hits
    assert "empty" not in {hit.document_id for hit in found.hits}


@pytest.mark.parametrize("question", ["", "  \n"])
async def test_a_question_that_says_nothing_finds_nothing(service: Service, question: str) -> None:
    async with service.open() as retrieval:
        await until(retrieval.index_updater.complete.is_set)
        found = await retrieval.retriever.retrieve(question, "nl", 20)
    assert (found.hits, found.is_sufficient) == ((), False)


async def test_an_update_that_fails_in_a_way_that_nobody_thought_of_is_a_failure_like_others(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with service.open() as retrieval:
        await until(retrieval.index_updater.complete.is_set)

        def fail() -> bool:
            raise ZeroDivisionError

        with monkeypatch.context() as patched:
            patched.setattr(retrieval.index_updater, "_update", fail)
            await until(lambda: service.failures)
        await until(lambda: not retrieval.index_updater.is_outdated)


def test_the_index_lies_beside_the_documents(service: Service) -> None:
    assert index_path(service.settings).parent.parent == service.settings.documents.store


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        (
            {"embedder": "http", "embeddings_url": "http://embeddings", "embeddings_model": "m"},
            "embedder http needs a floor",
        ),
    ],
)
def test_settings_that_would_find_nothing_or_anything_are_refused(values: dict, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        RetrievalSettings(**values)
