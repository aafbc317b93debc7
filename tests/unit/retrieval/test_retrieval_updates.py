"""The index follows the store, survives what befalls it, and is left alone where nothing changed."""

import asyncio
import errno
import shutil
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from schemas import KnowledgeDocument
from streams.documents.versions import DocumentChange
from streams.search import index_updates
from streams.search.index import PassageIndex
from streams.search.index_updates import IndexUpdater, index_path
from streams.search.service import IndexRetriever, Retrieval
from streams.search.types import EmbeddingFailed, IndexFailed, RetrievalResult, RetrievalUnavailable
from streams.settings import InvalidSettings
from tests.support.local_retrieval import INVOICE, LEAVE, NOW, LocalEmbedding, Service, put

UNREACHABLE = EmbeddingFailed("embeddings_unreachable")
FULL = ValueError('IoError { err: Os { code: 28, kind: StorageFull, message: "No space left on device" } }')


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - what it waits for happens in a thread
            await asyncio.sleep(0.01)


async def found(retrieval: Retrieval, question: str) -> list[str]:
    hits = (await retrieval.retriever.retrieve(question, "nl", 20)).hits
    return [hit.document_id for hit in hits]


async def finds(retrieval: Retrieval, question: str, expected: Callable[[list[str]], bool]) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                if expected(await found(retrieval, question)):
                    return
            except RetrievalUnavailable:
                pass
            await asyncio.sleep(0.05)


def state_of(service: Service) -> dict[str, tuple[int, bytes]]:
    files = index_path(service.settings).iterdir()
    return {file.name: (file.stat().st_mtime_ns, file.read_bytes()) for file in files}


@asynccontextmanager
async def completed(service: Service) -> AsyncIterator[Retrieval]:
    async with service.open() as retrieval:
        await until(retrieval.index_updater.complete.is_set)
        yield retrieval


async def built(service: Service) -> None:
    async with completed(service):
        pass


async def test_it_is_complete_when_all_is_indexed_and_follows_what_changes(service, store):
    async with service.open() as retrieval:
        with pytest.raises(RetrievalUnavailable, match="index_incomplete"):
            await found(retrieval, "factuur")
        await until(retrieval.index_updater.complete.is_set)
        assert retrieval.index_updater.first_update_done.is_set()
        assert (retrieval.index_updater.indexed, retrieval.index_updater.pending) == (2, 0)
        assert (await found(retrieval, "hoe verstuur ik facturen?"))[0] == "invoice"
        put(store, 2, "invoice", None)
        await finds(retrieval, "facturen", lambda ids: "invoice" not in ids)
        put(store, 3, "leave", INVOICE)
        put(store, 4, "new", LEAVE)
        await finds(retrieval, "facturen versturen", lambda ids: ids[0] == "leave" and "new" in ids)


async def test_without_documents_it_is_complete_at_once_and_nothing_is_started(service, store):
    put(store, 2, "invoice", None)
    put(store, 3, "leave", None)
    async with completed(service) as retrieval:
        asked = await retrieval.retriever.retrieve("factuur", "nl", 20)
        assert (asked.hits, asked.is_sufficient) == ((), False)
        assert not service.embedding.starts
        put(store, 4, "late", INVOICE)
        await finds(retrieval, "factuur", lambda ids: ids == ["late"])


async def test_a_restart_with_the_same_documents_starts_and_writes_nothing(service):
    await built(service)
    before = state_of(service)
    async with completed(service) as retrieval:
        assert (await found(retrieval, "facturen versturen"))[0] == "invoice"
        assert not service.embedding.starts
    assert state_of(service) == before


async def test_a_restart_with_other_documents_indexes_only_these(service, store):
    await built(service)
    put(store, 2, "new", LEAVE)
    async with completed(service) as retrieval:
        assert retrieval.index_updater.indexed == 3
        assert service.embedding.embedded == [[f"new\n\n{LEAVE}"]]


@pytest.mark.parametrize("kind", ["fast", "fieldnorm", "idx", "pos", "store", "term", "json", "with"])
@pytest.mark.parametrize("share", [None, 0, 0.5, 0.98])
async def test_a_restart_with_a_file_that_is_gone_or_cut_off_builds_the_index_anew(service, kind, share):
    await built(service)
    for file in index_path(service.settings).glob(f"*{kind}"):
        content = file.read_bytes()
        file.unlink()
        if share is not None:
            file.write_bytes(content[: int(share * len(content))])
    async with service.open() as retrieval:
        await until(lambda: service.embedding.starts)
        await until(retrieval.index_updater.complete.is_set)
        await finds(retrieval, "facturen versturen", lambda ids: ids[0] == "invoice")


async def test_a_byte_that_is_not_as_it_was_written_is_damage(service):
    await built(service)
    (file,) = index_path(service.settings).glob("*.store")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    async with service.open() as retrieval:
        await finds(retrieval, "facturen versturen", lambda ids: set(ids) == {"invoice", "leave"})
        assert service.embedding.starts


async def test_what_a_worker_had_not_committed_when_it_was_killed_is_no_damage(service, store):
    await built(service)
    put(store, 2, "invoice", None)
    await built(service)
    (segment,) = index_path(service.settings).glob("*.store")
    segment.with_suffix(".99.del").write_bytes(b"half of what was to be")
    segment.with_name(f"{'0' * 32}.store").write_bytes(b"the same")
    async with completed(service) as retrieval:
        assert await found(retrieval, "verlof") == ["leave"]
        assert not service.embedding.starts


async def test_an_index_built_in_other_pieces_is_built_anew(service, monkeypatch):
    await built(service)
    monkeypatch.setattr(index_updates, "MAX_CHARACTERS", 64)
    monkeypatch.setattr(index_updates, "OVERLAP", 0)
    async with completed(service) as retrieval:
        hits = (await retrieval.retriever.retrieve("facturen", "nl", 20)).hits
        assert hits
        assert all(hit.end - hit.start <= 64 for hit in hits)


async def test_a_deleted_index_is_built_anew(service):
    async with completed(service) as retrieval:
        shutil.rmtree(index_path(service.settings).parent)
        await until(lambda: len(service.embedding.embedded) == 2)
        await finds(retrieval, "facturen versturen", lambda ids: ids[0] == "invoice")


async def test_an_index_that_searches_cannot_read_is_opened_anew_and_if_damaged_built_anew(
    service, monkeypatch
):
    async with completed(service) as retrieval:
        first = retrieval.index_updater.index
        retrieval.index_updater.request_reopen()
        await until(lambda: retrieval.index_updater.index is not first)
        assert service.embedding.embedded == [service.embedding.embedded[0]]
        (index_path(service.settings) / "meta.json").write_text("damaged")
        with monkeypatch.context() as patched:
            patched.setattr("streams.search.service.Search.__call__", _raise)
            with pytest.raises(RetrievalUnavailable, match="index_failed"):
                await found(retrieval, "factuur")
        await until(lambda: len(service.embedding.embedded) == 2)
        await finds(retrieval, "facturen versturen", lambda ids: ids[0] == "invoice")


def _raise(*_: object) -> None:
    raise IndexFailed("index_damaged")


async def test_a_full_disk_takes_nothing_away_and_is_tried_again(service, store, monkeypatch):
    async with completed(service) as retrieval:

        def fail(*_: object) -> None:
            raise FULL

        with monkeypatch.context() as patched:
            patched.setattr(PassageIndex, "_write", fail)
            put(store, 2, "new", LEAVE)
            await until(lambda: service.failures > 5)
            reason = f"{errno.errorcode[28]} (No space left on device)"
            assert retrieval.index_updater.failure == f"{reason} ({index_path(service.settings)})"
            assert retrieval.index_updater.complete.is_set()
            assert set(await found(retrieval, "facturen versturen")) == {"invoice", "leave"}
        await finds(retrieval, "verlof", lambda ids: "new" in ids)
        await until(lambda: retrieval.index_updater.failure is None)  # the update ends after it is found


async def test_a_document_that_cannot_be_embedded_is_tried_again_and_leaves_the_rest_as_it_is(service, store):
    async with completed(service) as retrieval:
        service.embedding.failing, index = UNREACHABLE, retrieval.index_updater.index
        put(store, 2, "new", LEAVE)
        await until(lambda: service.failures > 5)
        assert retrieval.index_updater.index is index
        assert set(await found(retrieval, "facturen versturen")) == {"invoice", "leave"}
        service.embedding.failing = None
        await finds(retrieval, "verlof", lambda ids: "new" in ids)


async def test_a_first_update_that_fails_settles_it_and_leaves_it_incomplete(service):
    service.failing = UNREACHABLE
    async with service.open() as retrieval:
        await until(retrieval.index_updater.first_update_done.is_set)
        assert not retrieval.index_updater.complete.is_set()
        with pytest.raises(RetrievalUnavailable, match="index_incomplete"):
            await found(retrieval, "factuur")


async def test_processes_with_nothing_to_do_end_and_come_back_when_there_is(store, settings, embedder):
    start, processes = asyncio.Event(), LocalEmbedding(embedder)
    start.set()
    updater = IndexUpdater(settings, store, processes, start, idle_seconds=0.1)
    async with updater.run():
        await until(lambda: updater.complete.is_set() and not processes.is_running)
        put(store, 2, "new", LEAVE)
        await until(lambda: updater.indexed == 3)
        assert processes.starts == 2


async def test_a_second_worker_on_the_same_index_is_refused_in_one_line(service):
    async with service.open():
        with pytest.raises(InvalidSettings, match="is in use by another worker"):
            async with service.open():
                pass


async def test_what_is_found_in_an_index_that_misses_a_document_says_so(service, store):
    async with completed(service) as retrieval:
        assert not (await retrieval.retriever.retrieve("factuur", "nl", 20)).is_outdated
        service.embedding.failing = UNREACHABLE
        put(store, 2, "expense", "Dien een declaratie in via **Portaal / Declaraties**.")
        await until(lambda: service.failures)
        assert (await retrieval.retriever.retrieve("declaratie", "nl", 20)).is_outdated
        service.embedding.failing = None
        await until(lambda: not retrieval.index_updater.is_outdated)
        assert not (await retrieval.retriever.retrieve("declaratie", "nl", 20)).is_outdated


async def test_a_search_during_which_the_index_is_built_anew_has_found_nothing(service):
    async with completed(service) as retrieval:
        updater = retrieval.index_updater
        before = updater.index

        def search(_question: str, _language: str | None) -> RetrievalResult:
            shutil.rmtree(index_path(service.settings))
            while updater.index is before:
                time.sleep(0.01)
            return RetrievalResult((), is_sufficient=False)

        with pytest.raises(RetrievalUnavailable, match="index_incomplete"):
            await IndexRetriever(lambda: search, updater).retrieve("factuur", "nl", 20)


async def test_a_document_without_text_is_no_context_however_much_its_title_is_like_the_question(
    service, store
):
    empty = KnowledgeDocument("empty", "nl", "Hoe dien ik een declaratie in?", "", NOW)
    store.apply([DocumentChange("empty", empty, 0, 2, 2)], {0: 3})
    async with completed(service) as retrieval:
        found = await retrieval.retriever.retrieve("Hoe dien ik een declaratie in?", "nl", 20)
    assert found.hits
    assert "empty" not in {hit.document_id for hit in found.hits}


@pytest.mark.parametrize("question", ["", "  \n"])
async def test_a_question_that_says_nothing_finds_nothing(service, question):
    async with completed(service) as retrieval:
        found = await retrieval.retriever.retrieve(question, "nl", 20)
    assert (found.hits, found.is_sufficient) == ((), False)


async def test_an_update_that_fails_in_a_way_that_nobody_thought_of_is_a_failure_like_others(
    service, monkeypatch
):
    async with completed(service) as retrieval:

        def fail() -> bool:
            raise ZeroDivisionError

        with monkeypatch.context() as patched:
            patched.setattr(retrieval.index_updater, "_update", fail)
            await until(lambda: service.failures)
        await until(lambda: not retrieval.index_updater.is_outdated)


def test_the_index_lies_beside_the_documents(service):
    assert index_path(service.settings).parent.parent == service.settings.documents.store
