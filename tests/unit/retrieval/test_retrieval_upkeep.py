"""The index follows the store, survives what befalls it, and is left alone where nothing changed."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest

from streams.documents.store import DocumentStore
from streams.retrieval.index_file import IndexFile
from streams.retrieval.indexed import built_with
from streams.retrieval.service import Retrieval, index_path
from streams.retrieval.types import RetrievalUnavailable
from streams.retrieval.upkeep import IndexUpkeep
from streams.settings import Settings
from tests.support.local_retrieval import INVOICE, LEAVE, LocalBuilder, Service, put, sqlite_error

FULL = sqlite_error("SQLITE_FULL")
DAMAGED = sqlite_error("SQLITE_CORRUPT")


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


def state_of(service: Service) -> tuple[int, int, bytes]:
    path = index_path(service.settings)
    return path.stat().st_ino, path.stat().st_mtime_ns, path.read_bytes()


async def built(service: Service) -> None:
    async with service.open() as retrieval:
        await until(retrieval.upkeep.complete.is_set)


async def test_it_is_complete_when_all_is_indexed_and_follows_what_changes(
    service: Service, store: DocumentStore
) -> None:
    async with service.open() as retrieval:
        with pytest.raises(RetrievalUnavailable, match="index_incomplete"):
            await found(retrieval, "factuur")
        await until(retrieval.upkeep.complete.is_set)
        assert retrieval.upkeep.settled.is_set()
        assert (retrieval.upkeep.indexed, retrieval.upkeep.to_do) == (2, 0)
        assert (await found(retrieval, "hoe verstuur ik facturen?"))[0] == "invoice"
        put(store, 2, "invoice", None)
        await finds(retrieval, "facturen", lambda ids: "invoice" not in ids)
        put(store, 3, "leave", INVOICE)
        put(store, 4, "new", LEAVE)
        await finds(retrieval, "facturen versturen", lambda ids: ids[0] == "leave" and "new" in ids)


async def test_without_documents_it_is_complete_at_once_and_nothing_is_started(
    service: Service, store: DocumentStore
) -> None:
    put(store, 2, "invoice", None)
    put(store, 3, "leave", None)
    async with service.open() as retrieval:
        await until(retrieval.upkeep.complete.is_set)
        asked = await retrieval.retriever.retrieve("factuur", "nl", 20)
        assert (asked.hits, asked.sufficient) == ((), False)
        assert not service.builder.starts
        put(store, 4, "late", INVOICE)
        await finds(retrieval, "factuur", lambda ids: ids == ["late"])


async def test_a_restart_with_the_same_documents_starts_and_writes_nothing(service: Service) -> None:
    await built(service)
    before = state_of(service)
    async with service.open() as retrieval:
        await until(retrieval.upkeep.complete.is_set)
        assert (await found(retrieval, "facturen versturen"))[0] == "invoice"
        assert not service.builder.starts
    assert state_of(service) == before


async def test_a_restart_with_other_documents_indexes_only_these(
    service: Service, store: DocumentStore
) -> None:
    await built(service)
    put(store, 2, "new", LEAVE)
    async with service.open() as retrieval:
        await until(retrieval.upkeep.complete.is_set)
        assert retrieval.upkeep.indexed == 3
        (first, *_) = service.builder.works
        assert [document.document_id for document in first.documents] == ["new"]


@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
async def test_a_restart_with_a_part_of_the_index_lost_builds_it_anew(service: Service, share: float) -> None:
    await built(service)
    with index_path(service.settings).open("r+b") as file:
        file.truncate(int(share * file.seek(0, 2)))
    async with service.open() as retrieval:
        await until(lambda: service.builder.starts)
        await until(retrieval.upkeep.complete.is_set)
        await finds(retrieval, "facturen versturen", lambda ids: ids[0] == "invoice")


async def test_a_vector_that_is_not_as_it_was_written_is_damage(service: Service) -> None:
    await built(service)
    with closing(sqlite3.connect(index_path(service.settings))) as database:
        database.execute("UPDATE documents SET codes = zeroblob(length(codes)) WHERE document_id = 'leave'")
        database.commit()
    async with service.open() as retrieval:
        await finds(retrieval, "facturen versturen", lambda ids: set(ids) == {"invoice", "leave"})
        assert service.builder.starts


async def test_an_index_built_in_other_pieces_is_built_anew(service: Service) -> None:
    await built(service)
    async with service.open(chunk_characters=64, overlap_characters=0) as retrieval:
        await until(retrieval.upkeep.complete.is_set)
        hits = (await retrieval.retriever.retrieve("facturen", "nl", 20)).hits
        assert hits
        assert all(hit.end - hit.start <= 64 for hit in hits)


async def test_a_deleted_index_is_built_anew(service: Service) -> None:
    async with service.open() as retrieval:
        await until(retrieval.upkeep.complete.is_set)
        shutil.rmtree(index_path(service.settings).parent)
        await until(lambda: service.builder.starts > 1)
        await finds(retrieval, "facturen versturen", lambda ids: ids[0] == "invoice")


async def test_an_index_that_searches_find_damaged_is_built_anew(service: Service) -> None:
    async with service.open() as retrieval:
        await until(retrieval.upkeep.complete.is_set)
        index_path(service.settings).write_bytes(b"damaged")
        retrieval.retriever.forget()
        await finds(retrieval, "facturen versturen", lambda ids: ids[0] == "invoice")


async def test_an_index_that_the_builder_finds_damaged_is_built_anew_once_and_then_after_a_while(
    service: Service, store: DocumentStore
) -> None:
    async with service.open(retry_interval_seconds=0.01) as retrieval:
        await until(retrieval.upkeep.complete.is_set)
        service.builder.failing = DAMAGED
        put(store, 2, "new", LEAVE)
        await until(lambda: not retrieval.upkeep.complete.is_set())
        service.builder.failing = None
        await finds(retrieval, "verlof", lambda ids: "new" in ids)


async def test_a_full_disk_takes_nothing_away_and_is_tried_again(
    service: Service, store: DocumentStore
) -> None:
    async with service.open() as retrieval:
        await until(retrieval.upkeep.complete.is_set)
        service.builder.failing = FULL
        put(store, 2, "new", LEAVE)
        await until(lambda: service.failures > 5)
        assert retrieval.upkeep.failure == f"SQLITE_FULL ({index_path(service.settings)})"
        assert retrieval.upkeep.complete.is_set()
        assert set(await found(retrieval, "facturen versturen")) == {"invoice", "leave"}
        service.builder.failing = None
        await finds(retrieval, "verlof", lambda ids: "new" in ids)
        await until(lambda: retrieval.upkeep.failure is None)  # the update ends after it is found


async def test_a_first_update_that_fails_settles_it_and_leaves_it_incomplete(
    service: Service,
) -> None:
    service.failing = FULL
    async with service.open() as retrieval:
        await until(retrieval.upkeep.settled.is_set)
        assert not retrieval.upkeep.complete.is_set()
        with pytest.raises(RetrievalUnavailable, match="index_incomplete"):
            await found(retrieval, "factuur")


async def test_a_builder_with_nothing_to_do_ends_and_comes_back_when_there_is(
    service: Service, store: DocumentStore, settings: Settings
) -> None:
    index, after = IndexFile(index_path(settings), built_with(settings.retrieval)), asyncio.Event()
    builder = LocalBuilder(index.path, settings.retrieval)
    after.set()
    async with IndexUpkeep(
        store, index, builder, settings.retrieval, after, on_replaced=_nothing, idle_seconds=0.1
    ) as upkeep:
        await until(lambda: upkeep.complete.is_set() and not builder.running)
        put(store, 2, "new", LEAVE)
        await until(lambda: upkeep.indexed == 3)
        assert builder.starts == 2


async def _nothing() -> None:
    pass
