"""What an index must never do: destroy files of others, or pass for all that there is to know."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas import KnowledgeDocument
from streams.documents.store import Change, DocumentStore
from streams.retrieval.index import ChunkIndex
from streams.retrieval.indexed import NoIndex
from streams.retrieval.layout import BuiltWith
from streams.retrieval.service import index_location
from streams.settings import RetrievalSettings, WrongSettings
from tests.support.local_retrieval import NOW, Service, put
from tests.unit.retrieval.test_retrieval_upkeep import FULL, until

BUILT_WITH = BuiltWith("test", 4, 1024, 512)


def test_a_folder_that_holds_other_files_loses_none_of_them(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    (tmp_path / "complete works.txt").write_text("of somebody")
    (tmp_path / "photos").mkdir()
    ChunkIndex.create(str(tmp_path), BUILT_WITH)
    ChunkIndex.create(str(tmp_path), BUILT_WITH)
    assert {path.name for path in tmp_path.iterdir()} == {
        "thesis.txt",
        "complete works.txt",
        "photos",
        "chunks.lance",
    }


def test_an_index_whose_making_was_cut_off_is_none(tmp_path: Path) -> None:
    index = ChunkIndex.create(str(tmp_path), BUILT_WITH)
    ChunkIndex.open(str(tmp_path), BUILT_WITH)
    index._table.drop_index("document_id_idx")
    with pytest.raises(NoIndex, match="index_half_made"):
        ChunkIndex.open(str(tmp_path), BUILT_WITH)


async def test_a_second_worker_on_the_same_index_is_refused_in_one_line(service: Service) -> None:
    async with service.open():
        with pytest.raises(WrongSettings, match="is in use by another worker"):
            async with service.open():
                pass


async def test_what_is_found_in_an_index_that_misses_a_document_says_so(
    service: Service, store: DocumentStore
) -> None:
    async with service.open() as retrieval:
        await until(retrieval.upkeep.complete.is_set)
        assert not (await retrieval.retriever.retrieve("factuur", "nl", 20)).behind
        service.builder.failing = FULL
        put(store, 2, "expense", "Dien een declaratie in via **Portaal / Declaraties**.")
        await until(lambda: service.failures)
        assert (await retrieval.retriever.retrieve("declaratie", "nl", 20)).behind
        service.builder.failing = None
        await until(lambda: not retrieval.upkeep.is_behind)
        assert not (await retrieval.retriever.retrieve("declaratie", "nl", 20)).behind


async def test_a_document_without_text_is_no_context_however_much_its_title_is_like_the_question(
    service: Service, store: DocumentStore
) -> None:
    empty = KnowledgeDocument("empty", "nl", "Hoe dien ik een declaratie in?", "", NOW)
    store.apply([Change("empty", empty, 0, 2, 2)], {0: 3})
    async with service.open() as retrieval:
        await until(retrieval.upkeep.complete.is_set)
        found = await retrieval.retriever.retrieve("Hoe dien ik een declaratie in?", "nl", 20)
    assert found.hits
    assert "empty" not in {hit.document_id for hit in found.hits}


@pytest.mark.parametrize("question", ["", "  \n"])
async def test_a_question_that_says_nothing_finds_nothing(service: Service, question: str) -> None:
    async with service.open() as retrieval:
        await until(retrieval.upkeep.complete.is_set)
        found = await retrieval.retriever.retrieve(question, "nl", 20)
    assert (found.hits, found.sufficient) == ((), False)


async def test_an_update_that_ends_in_a_panic_is_a_failure_like_others(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    class PanicException(BaseException):
        """As LanceDB raises it: no Exception."""

    async with service.open() as retrieval:
        await until(retrieval.upkeep.complete.is_set)

        def panic() -> bool:
            raise PanicException

        with monkeypatch.context() as patched:
            patched.setattr(retrieval.upkeep, "_update", panic)
            await until(lambda: service.failures)
        await until(lambda: not retrieval.upkeep.is_behind)


def test_the_index_lies_beside_the_documents_unless_told_otherwise(service: Service) -> None:
    assert Path(index_location(service.settings)).parent == service.settings.documents.store


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"keyword_weight": 0, "vector_weight": 0}, "cannot both be 0"),
        (
            {"embedder": "http", "embeddings_url": "http://embeddings.invalid", "embeddings_model": "m"},
            "embedder http needs a floor",
        ),
    ],
)
def test_settings_that_would_find_nothing_or_anything_are_refused(values: dict, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        RetrievalSettings(**values)
