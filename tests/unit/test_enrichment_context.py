"""What an answer is judged against, and what waits for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import ChatbotAnswer, ContextPassage, KnowledgeDocument
from scoring.reasons import Reason
from scoring.types import Passage
from streams.enrichment.arrivals import Arrivals
from streams.enrichment.context import GivenDocuments, ResolvedContext, resolve_context

WHEN = datetime(2026, 3, 2, tzinfo=UTC)


def answer(*document_ids: str, context: tuple[ContextPassage, ...] = ()) -> ChatbotAnswer:
    return ChatbotAnswer("a", "c", "How?", "So.", WHEN, context, document_ids)


def library(*document_ids: str, text: str = "the text") -> GivenDocuments:
    return GivenDocuments(
        {key: KnowledgeDocument(key, "en", f"title {key}", text, WHEN) for key in document_ids}
    )


class LateDocuments:
    """Documents that never come; notes how it was asked."""

    def __init__(self, *, stale: bool = False) -> None:
        self.asked: list[tuple[tuple[str, ...], float]] = []
        self.stale = stale

    async def wait_for(
        self, document_ids: Collection[str], seconds: float
    ) -> Mapping[str, KnowledgeDocument]:
        self.asked.append((tuple(document_ids), seconds))
        return {}


async def test_inline_passages_are_used_as_they_come_and_ids_beside_them_are_not_looked_up() -> None:
    documents = LateDocuments()
    inline = (
        ContextPassage("x", "text", "title", 0.5),
        ContextPassage("y", " "),
        ContextPassage("x", "text"),
    )
    resolved = await resolve_context(answer("z", context=inline), documents, 5)
    assert resolved == ResolvedContext(
        (Passage("x", "text", "title", 0.5), Passage("y", " "), Passage("x", "text"))
    )
    assert documents.asked == []


@pytest.mark.parametrize("blank", ["", " ", "\n\t\u00a0\u2003"])
async def test_inline_passages_of_nothing_but_blanks_count_as_none(blank: str) -> None:
    inline = (ContextPassage("x", blank),)
    resolved = await resolve_context(answer("d", context=inline), library("d"), 5)
    assert resolved == ResolvedContext((Passage("d", "the text", "title d"),))
    nothing = await resolve_context(answer(context=inline), library("d"), 5)
    assert nothing == ResolvedContext((), (), (Reason.CONTEXT_MISSING,))


async def test_an_answer_without_any_context_is_degraded_at_once() -> None:
    documents = LateDocuments()
    assert await resolve_context(answer(), documents, 5) == ResolvedContext((), (), (Reason.CONTEXT_MISSING,))
    assert documents.asked == []


async def test_a_document_without_text_is_no_context() -> None:
    resolved = await resolve_context(answer("d"), library("d", text=" \n"), 5)
    assert resolved.degraded == (Reason.CONTEXT_MISSING,)
    assert resolved.missing == ()


async def test_all_ids_are_waited_for_together_and_once() -> None:
    documents = LateDocuments()
    resolved = await resolve_context(answer("b", "a", "b"), documents, 1.5)
    assert documents.asked == [(("b", "a"), 1.5)]
    assert resolved == ResolvedContext((), ("b", "a"), (Reason.CONTEXT_MISSING,))


class StaleDocuments(GivenDocuments):
    """Documents of a copy that could not be confirmed for too long."""

    stale = True


async def test_what_was_looked_up_in_a_stale_copy_is_degraded() -> None:
    copy = StaleDocuments(library("d").by_id)
    there = await resolve_context(answer("d"), copy, 5)
    assert there == ResolvedContext(
        (Passage("d", "the text", "title d"),), degraded=(Reason.DOCUMENTS_STALE,)
    )
    missing = await resolve_context(answer("d", "e"), copy, 5)
    assert missing.degraded == (Reason.CONTEXT_MISSING, Reason.DOCUMENTS_STALE)


async def test_a_stale_copy_does_not_matter_where_nothing_is_looked_up() -> None:
    copy = LateDocuments(stale=True)
    inline = await resolve_context(answer("d", context=(ContextPassage("x", "text"),)), copy, 5)
    assert inline.degraded == ()
    assert (await resolve_context(answer(), copy, 5)).degraded == (Reason.CONTEXT_MISSING,)


@given(wanted=st.lists(st.sampled_from("abcdef"), min_size=1), there=st.sets(st.sampled_from("abcdef")))
def test_documents_come_in_the_order_of_the_answer_each_once(wanted: list[str], there: set[str]) -> None:
    resolved = asyncio.run(resolve_context(answer(*wanted), library(*there), 1))
    distinct = list(dict.fromkeys(wanted))
    assert [passage.document_id for passage in resolved.passages] == [key for key in distinct if key in there]
    assert list(resolved.missing) == [key for key in distinct if key not in there]
    assert resolved.degraded == (() if set(wanted) <= there else (Reason.CONTEXT_MISSING,))


async def test_everyone_who_waits_for_a_document_wakes_when_it_arrives() -> None:
    arrivals = Arrivals()
    waits = [asyncio.create_task(arrivals.wait(["a", "b"], 30)) for _ in range(20)]
    await asyncio.sleep(0)
    arrivals.announce(["a", "other"])
    await asyncio.sleep(0)
    assert not any(wait.done() for wait in waits)
    arrivals.announce(["b"])
    await asyncio.wait_for(asyncio.gather(*waits), 5)
    assert len(arrivals) == 0


async def test_waiting_ends_in_time_and_leaves_nothing_behind() -> None:
    arrivals = Arrivals()
    began = time.monotonic()
    await arrivals.wait(["a", "b", "a"], 0.05)
    assert 0.04 < time.monotonic() - began < 2
    assert len(arrivals) == 0
    arrivals.announce(["a"])


async def test_a_wait_that_is_cancelled_leaves_nothing_behind() -> None:
    arrivals = Arrivals()
    patient, hasty = (asyncio.create_task(arrivals.wait(["a"], 30)) for _ in range(2))
    await asyncio.sleep(0)
    hasty.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hasty
    assert len(arrivals) == 1
    arrivals.announce(["a"])
    await asyncio.wait_for(patient, 5)
    assert len(arrivals) == 0
