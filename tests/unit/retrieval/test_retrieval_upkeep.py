"""The index follows the store, survives what befalls it, and is left alone where nothing changed."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from streams.documents.store import DocumentStore
from streams.retrieval.service import Retrieval, index_location
from streams.retrieval.types import RetrievalUnavailable
from streams.retrieval.upkeep import IndexUpkeep
from streams.settings import Settings
from tests.support.local_retrieval import INVOICE, LEAVE, LocalBuilder, Service, put

FULL = RuntimeError("lance error: LanceError(IO): No space left on device (os error 28), writer.rs:191:9")
DAMAGED = RuntimeError("lance error: LanceError(IO): failed to fill whole buffer, function.rs:250:5")


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


def files_of(settings: Settings) -> set[Path]:
    return {path for path in Path(index_location(settings)).rglob("*.*") if path.suffix != ".json"}


async def rested(service: Service, retrieval: Retrieval) -> None:
    """Wait until the index is complete and what it has is noted."""
    await until(retrieval.upkeep.complete.is_set)
    await until((Path(index_location(service.settings)) / "complete.json").exists)


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
    async with service.open() as retrieval:
        await rested(service, retrieval)
    before = files_of(service.settings)
    async with service.open() as retrieval:
        await until(retrieval.upkeep.complete.is_set)
        assert (await found(retrieval, "facturen versturen"))[0] == "invoice"
        assert not service.builder.starts
    assert files_of(service.settings) == before


async def test_a_restart_with_other_documents_indexes_only_these(
    service: Service, store: DocumentStore
) -> None:
    async with service.open() as retrieval:
        await rested(service, retrieval)
    put(store, 2, "new", LEAVE)
    async with service.open() as retrieval:
        await until(retrieval.upkeep.complete.is_set)
        assert retrieval.upkeep.indexed == 3
        (first, *_) = service.builder.works
        assert [document.document_id for document in getattr(first, "documents", ())] == ["new"]


async def test_a_restart_with_a_file_of_the_index_lost_does_not_take_it_for_complete(
    service: Service,
) -> None:
    async with service.open() as retrieval:
        await rested(service, retrieval)
    for file in files_of(service.settings):
        if file.suffix == ".lance" and file.parent.name == "data":
            file.unlink()
    async with service.open() as retrieval:
        await finds(retrieval, "facturen versturen", lambda ids: ids[0] == "invoice")
        assert service.builder.starts
        assert service.failures


async def test_an_index_built_in_other_pieces_is_built_anew(service: Service) -> None:
    async with service.open() as retrieval:
        await rested(service, retrieval)
    async with service.open(chunk_characters=64, overlap_characters=0) as retrieval:
        await until(retrieval.upkeep.complete.is_set)
        hits = (await retrieval.retriever.retrieve("facturen", "nl", 20)).hits
        assert hits
        assert all(hit.end - hit.start <= 64 for hit in hits)


async def test_a_deleted_index_is_built_anew(service: Service) -> None:
    async with service.open() as retrieval:
        await until(retrieval.upkeep.complete.is_set)
        shutil.rmtree(index_location(service.settings))
        await until(lambda: service.builder.starts > 1)
        await finds(retrieval, "facturen versturen", lambda ids: ids[0] == "invoice")


async def test_an_index_that_searches_find_damaged_is_built_anew(service: Service) -> None:
    async with service.open() as retrieval:
        await until(retrieval.upkeep.complete.is_set)
        for file in files_of(service.settings):
            if file.is_file():
                file.write_bytes(b"damaged")
        retrieval.retriever.forget()
        await finds(retrieval, "facturen versturen", lambda ids: ids[0] == "invoice")


async def test_an_index_that_the_builder_finds_damaged_is_built_anew_once_and_then_after_a_while(
    service: Service, store: DocumentStore
) -> None:
    async with service.open(retry_interval=0.01) as retrieval:
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
        assert retrieval.upkeep.complete.is_set()
        assert set(await found(retrieval, "facturen versturen")) == {"invoice", "leave"}
        service.builder.failing = None
        await finds(retrieval, "verlof", lambda ids: "new" in ids)


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
    location, after = index_location(settings), asyncio.Event()
    builder = LocalBuilder(location, settings.retrieval)
    after.set()
    async with IndexUpkeep(
        store, location, builder, settings.retrieval, after, on_replaced=_nothing, idle_seconds=0.1
    ) as upkeep:
        await until(lambda: upkeep.complete.is_set() and not builder.running)
        put(store, 2, "new", LEAVE)
        await until(lambda: upkeep.indexed == 3)
        assert builder.starts == 2


async def _nothing() -> None:
    pass
