"""What an answer is judged against, and what waits for it."""

import asyncio
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import ChatbotAnswer, ContextPassage, KnowledgeDocument
from scoring.values.exchange import Passage
from scoring.values.rules import Reason
from streams.documents.follower import DocumentWaiters
from streams.documents.versions import VersionedDocument, version_name
from streams.pipeline.context import (
    ContextSource,
    DocumentLookup,
    PassageSpan,
    ResolvedContext,
    StaticDocuments,
    resolve_context,
)
from streams.search.types import Hit, RetrievalResult, RetrievalUnavailable, Retriever
from tests.support.virtual_time import run_virtually

WHEN = datetime(2026, 3, 2, tzinfo=UTC)


def answer(*document_ids: str, context: tuple[ContextPassage, ...] = ()) -> ChatbotAnswer:
    return ChatbotAnswer("a", "c", "How?", "So.", WHEN, context, document_ids)


def library(*document_ids: str, text: str = "the text") -> StaticDocuments:
    return StaticDocuments(
        {key: KnowledgeDocument(key, "en", f"title {key}", text, WHEN) for key in document_ids}
    )


def whole(document_id: str, text: str = "the text") -> Passage:
    version = version_name(KnowledgeDocument(document_id, "en", f"title {document_id}", text, WHEN))
    return Passage(document_id, text, f"title {document_id}", version=version)


URL = "https://help/d"


def all_of(document_id: str, version: str) -> Passage:
    return Passage(document_id, f"all of {document_id}", "title", version=version, url=URL)


class LateDocuments:
    """Documents that never come; notes how it was asked."""

    def __init__(self, *, stale: bool = False) -> None:
        self.asked: list[tuple[tuple[str, ...], datetime, float]] = []
        self.is_stale = stale

    async def wait_for(
        self, document_ids: Collection[str], produced_at: datetime, seconds: float
    ) -> Mapping[str, VersionedDocument]:
        self.asked.append((tuple(document_ids), produced_at, seconds))
        return {}

    def get_version(self, document_id: str, version: str, produced_at: datetime) -> KnowledgeDocument | None:
        if (document_id, version) not in {("d", "v1"), ("e", "v2")}:
            return None
        return KnowledgeDocument(document_id, "en", "title", f"all of {document_id}", WHEN, URL)

    def current(self, document_id: str) -> None:
        """There is none."""


HITS = (
    Hit("d", "v1", "en", "title", "one", 0, 3, 0.03, 0.8, keyword_rank=1),
    Hit("e", "v2", "en", "title", "two", 512, 515, 0.02, 0.7, vector_rank=1),
)


class Found:
    """Finds always the same; notes how it was asked."""

    def __init__(self, hits: tuple[Hit, ...] = HITS, *, sufficient: bool = True) -> None:
        self.asked: list[tuple[str, str | None, float]] = []
        self._found = RetrievalResult(hits, sufficient)

    async def retrieve(self, question: str, language: str | None, seconds: float) -> RetrievalResult:
        self.asked.append((question, language, seconds))
        return self._found


class Failing:
    """Raises what it is given, or hangs."""

    def __init__(self, error: Exception | None) -> None:
        self._error = error

    async def retrieve(self, question: str, language: str | None, seconds: float) -> RetrievalResult:
        if self._error:
            raise self._error
        await asyncio.Event().wait()
        raise AssertionError("unreachable")


async def test_inline_passages_are_used_as_they_come_and_ids_beside_them_are_not_looked_up():
    documents = LateDocuments()
    inline = (
        ContextPassage("x", "text", "title", 0.5),
        ContextPassage("y", " "),
        ContextPassage("x", "text"),
    )
    resolved = await resolve_context(answer("z", context=inline), documents, 5)
    assert resolved == ResolvedContext(
        (Passage("x", "text", "title", 0.5), Passage("y", " "), Passage("x", "text")),
        source=ContextSource.INLINE,
    )
    assert documents.asked == []


@pytest.mark.parametrize("blank", ["", " ", "\n\t\u00a0\u2003"])
async def test_inline_passages_of_nothing_but_blanks_count_as_none(blank):
    inline = (ContextPassage("x", blank),)
    resolved = await resolve_context(answer("d", context=inline), library("d"), 5)
    assert resolved == ResolvedContext((whole("d"),), source=ContextSource.BY_ID)
    nothing = await resolve_context(answer(context=inline), library("d"), 5)
    assert nothing == ResolvedContext((), (), (Reason.CONTEXT_MISSING,))


async def test_an_answer_without_any_context_is_degraded_at_once():
    documents = LateDocuments()
    assert await resolve_context(answer(), documents, 5) == ResolvedContext((), (), (Reason.CONTEXT_MISSING,))
    assert documents.asked == []


async def test_a_document_without_text_is_no_context():
    resolved = await resolve_context(answer("d"), library("d", text=" \n"), 5)
    assert resolved.degraded == (Reason.CONTEXT_MISSING,)
    assert resolved.missing_ids == ()


async def test_all_ids_are_waited_for_together_and_once():
    documents = LateDocuments()
    resolved = await resolve_context(answer("b", "a", "b"), documents, 1.5)
    assert documents.asked == [(("b", "a"), WHEN, 1.5)]
    assert resolved == ResolvedContext((), ("b", "a"), (Reason.CONTEXT_MISSING,))


class StaleDocuments(StaticDocuments):
    """Documents of a copy that could not be confirmed for too long."""

    is_stale = True


async def test_what_was_looked_up_in_a_stale_copy_is_degraded():
    copy = StaleDocuments(library("d").by_id)
    there = await resolve_context(answer("d"), copy, 5)
    assert there == ResolvedContext(
        (whole("d"),), degraded=(Reason.DOCUMENTS_STALE,), source=ContextSource.BY_ID
    )
    missing = await resolve_context(answer("d", "e"), copy, 5)
    assert missing.degraded == (Reason.CONTEXT_MISSING, Reason.DOCUMENTS_STALE)


async def test_a_stale_copy_does_not_matter_where_nothing_is_looked_up():
    copy = LateDocuments(stale=True)
    inline = await resolve_context(answer("d", context=(ContextPassage("x", "text"),)), copy, 5)
    assert inline.degraded == ()
    assert (await resolve_context(answer(), copy, 5)).degraded == (Reason.CONTEXT_MISSING,)


@given(wanted=st.lists(st.sampled_from("abcdef"), min_size=1), there=st.sets(st.sampled_from("abcdef")))
def test_documents_come_in_the_order_of_the_answer_each_once(wanted, there):
    resolved = asyncio.run(resolve_context(answer(*wanted), library(*there), 1))
    distinct = list(dict.fromkeys(wanted))
    assert [passage.document_id for passage in resolved.passages] == [key for key in distinct if key in there]
    assert list(resolved.missing_ids) == [key for key in distinct if key not in there]
    assert resolved.degraded == (() if set(wanted) <= there else (Reason.CONTEXT_MISSING,))


async def test_passages_are_retrieved_for_an_answer_that_brings_neither_passages_nor_ids():
    retriever = Found()
    blank = answer(context=(ContextPassage("x", " \n"),))
    resolved = await resolve_context(blank, LateDocuments(), 5, retriever, search_timeout_seconds=3)
    assert resolved == ResolvedContext(
        (
            Passage("d", "one", "title", 0.03, "v1", 0, URL),
            Passage("e", "two", "title", 0.02, "v2", 512, URL),
        ),
        source=ContextSource.RETRIEVED,
        spans=(PassageSpan(0, 3, 0.0), PassageSpan(512, 515, 0.0)),
        whole_documents=(all_of("d", "v1"), all_of("e", "v2")),
    )
    assert resolved.scoring_passages == resolved.whole_documents
    assert retriever.asked == [("How?", None, 3)]


@pytest.mark.parametrize(
    ("stated", "told"), [("nl", "nl"), ("nl-BE", "nl"), ("Dutch", None), ("", None), (None, None)]
)
async def test_the_retriever_is_told_the_language_that_the_answer_states_if_it_is_one(stated, told):
    retriever = Found()
    await resolve_context(replace(answer(), language=stated), LateDocuments(), 5, retriever)
    assert retriever.asked == [("How?", told, 5)]


async def test_nothing_is_retrieved_for_an_answer_that_names_its_documents_even_missing_ones():
    retriever = Found()
    missing = await resolve_context(answer("d", "gone"), library("d"), 0, retriever)
    assert (missing.passages, missing.missing_ids) == ((whole("d"),), ("gone",))
    assert (missing.degraded, missing.source) == ((Reason.CONTEXT_MISSING,), ContextSource.BY_ID)
    none = await resolve_context(answer("gone"), library("d"), 0, retriever)
    assert (none.degraded, none.source) == ((Reason.CONTEXT_MISSING,), ContextSource.NONE)
    inline = await resolve_context(answer(context=(ContextPassage("x", "text"),)), library(), 0, retriever)
    assert (inline.degraded, inline.source) == ((), ContextSource.INLINE)
    assert retriever.asked == []


async def test_what_is_retrieved_below_the_floor_is_shown_and_degraded():
    resolved = await resolve_context(answer(), LateDocuments(), 5, Found(sufficient=False))
    assert [passage.text for passage in resolved.passages] == ["one", "two"]
    assert (resolved.degraded, resolved.source) == ((Reason.CONTEXT_INSUFFICIENT,), ContextSource.RETRIEVED)


@pytest.mark.parametrize(("hits", "source"), [((), "none"), ((replace(HITS[0], text=" "),), "retrieved")])
async def test_what_says_nothing_is_insufficient_whatever_the_retriever_says(hits, source):
    resolved = await resolve_context(answer(), LateDocuments(), 5, Found(hits))
    assert (resolved.degraded, resolved.source) == ((Reason.CONTEXT_INSUFFICIENT,), source)


@pytest.mark.parametrize(
    "error", [RetrievalUnavailable("index_incomplete"), OSError(28, "No space left"), TimeoutError(), None]
)
async def test_a_retriever_that_fails_or_hangs_costs_its_time_and_no_more(error):
    began = time.monotonic()
    resolved = await resolve_context(answer(), library(), 5, Failing(error), search_timeout_seconds=0.05)
    assert resolved == ResolvedContext((), degraded=(Reason.RETRIEVAL_UNAVAILABLE,))
    assert time.monotonic() - began < 20


async def test_what_was_retrieved_is_judged_in_its_whole_documents_each_once():
    """A component that stands beside the passage that was found is defined none the less."""
    twice = (*HITS, replace(HITS[0], text="three", start=600, end=605))
    resolved = await resolve_context(answer(), LateDocuments(), 5, Found(twice))
    assert [passage.text for passage in resolved.passages] == ["one", "two", "three"]
    assert resolved.scoring_passages == (all_of("d", "v1"), all_of("e", "v2"))
    by_id = await resolve_context(answer("d"), library("d"), 5, Found(twice))
    assert by_id.scoring_passages == by_id.passages


def test_of_given_documents_with_one_id_the_last_is_found_by_it_and_each_by_its_version():
    dutch, english, other = (
        KnowledgeDocument(key, language, "t", "text", WHEN)
        for key, language in (("a", "nl"), ("a", "en"), ("b", "nl"))
    )
    given = StaticDocuments.of([dutch, english, other])
    assert given.by_id == {"a": english, "b": other}
    for document in (dutch, english, other):
        assert given.get_version(document.document_id, version_name(document), WHEN) == document
    assert given.get_version("b", "another", WHEN) is None


async def test_a_passage_of_a_version_that_was_replaced_or_deleted_is_shown_and_degraded():
    outdated = (HITS[0], replace(HITS[1], version="v0"))
    resolved = await resolve_context(answer(), LateDocuments(), 5, Found(outdated))
    assert [passage.text for passage in resolved.scoring_passages] == ["all of d", "two"]
    assert [passage.version for passage in resolved.passages] == ["v1", "v0"]
    assert (resolved.degraded, resolved.source) == ((Reason.DOCUMENTS_STALE,), ContextSource.RETRIEVED)


async def test_what_is_retrieved_from_a_stale_copy_is_degraded():
    resolved = await resolve_context(answer(), StaleDocuments({}), 5, Found())
    assert resolved.degraded == (Reason.DOCUMENTS_STALE,)
    assert len(resolved.spans) == 2
    unavailable = await resolve_context(answer(), StaleDocuments({}), 5, Failing(RetrievalUnavailable("x")))
    assert unavailable.degraded == (Reason.RETRIEVAL_UNAVAILABLE, Reason.DOCUMENTS_STALE)


HELP = "# Delete a draft\n\nClick **Delete**."
FAQ = KnowledgeDocument("faq", "en", "Delete a draft", HELP, WHEN, auto_send=True)
OTHERS = [KnowledgeDocument("else", "en", "Invoices", "OK.", WHEN, auto_send=True)]
QUOTING = replace(answer(), answer="\nClick **Delete**.\n")


async def published(
    quoting: ChatbotAnswer, documents: DocumentLookup, retriever: Retriever | None = None
) -> list[str]:
    context = await resolve_context(quoting, documents, 1, retriever)
    return [each.document_id for each in context.published_documents]


@pytest.mark.parametrize(
    "cited",
    [{"document_ids": ("faq",)}, {"context": (ContextPassage("faq", "Forged."),)}],
)
async def test_a_document_that_is_cited_and_marked_to_be_sent_is_published(cited):
    quoting = replace(QUOTING, **cited)
    assert await published(quoting, StaticDocuments.of([FAQ, *OTHERS])) == ["faq"]
    assert await published(quoting, StaticDocuments.of([replace(FAQ, auto_send=False), *OTHERS])) == []


async def test_what_is_not_in_the_current_documents_proves_nothing():
    inline = replace(QUOTING, context=(ContextPassage("faq", HELP, FAQ.title),))
    assert await published(inline, StaticDocuments.of([])) == []
    assert await published(inline, StaticDocuments.of([replace(FAQ, document_id="other")])) == []
    assert await published(inline, StaleDocuments.of([FAQ])) == []
    named = replace(QUOTING, document_ids=("faq", "gone"))
    assert await published(named, StaticDocuments.of([FAQ])) == []  # one is missing


async def test_an_answer_that_was_made_from_another_version_is_not_proved_by_the_current_one():
    class Changed(StaticDocuments):
        async def wait_for(
            self, document_ids: Collection[str], produced_at: datetime, seconds: float
        ) -> Mapping[str, VersionedDocument]:
            return {"faq": VersionedDocument(FAQ, version_name(FAQ))}

    named = replace(QUOTING, document_ids=("faq",))
    assert await published(named, Changed.of([replace(FAQ, text=f"{HELP}\n")])) == []
    assert await published(named, Changed.of([FAQ])) == ["faq"]
    assert await published(named, Changed.of([replace(FAQ, auto_send=False)])) == []


async def test_of_what_was_retrieved_the_whole_document_is_published():
    version = version_name(FAQ)
    hit = Hit("faq", version, "en", FAQ.title, "Click", 0, 5, 0.03, 0.8, keyword_rank=1)
    bare = replace(QUOTING, context=(), document_ids=())
    assert await published(bare, StaticDocuments.of([FAQ]), Found((hit,))) == ["faq"]
    old = replace(hit, version="old")
    assert await published(bare, StaticDocuments.of([FAQ]), Found((old,))) == []


class Substituted(StaticDocuments):
    """Documents of which the version that was in force is not kept any more."""

    async def wait_for(
        self, document_ids: Collection[str], produced_at: datetime, seconds: float
    ) -> Mapping[str, VersionedDocument]:
        found = await super().wait_for(document_ids, produced_at, seconds)
        return {key: replace(each, is_substitute=True) for key, each in found.items()}


async def test_an_answer_judged_on_a_later_version_than_its_own_is_degraded():
    resolved = await resolve_context(answer("d"), Substituted(library("d").by_id), 5)
    assert resolved == ResolvedContext(
        (whole("d"),), degraded=(Reason.DOCUMENTS_STALE,), source=ContextSource.BY_ID
    )


async def test_everyone_who_waits_for_a_document_wakes_when_it_arrives():
    arrivals = DocumentWaiters()
    waits = [asyncio.create_task(arrivals.wait(["a", "b"], 30)) for _ in range(20)]
    await asyncio.sleep(0)
    arrivals.notify(["a", "other"])
    await asyncio.sleep(0)
    assert not any(wait.done() for wait in waits)
    arrivals.notify(["b"])
    await asyncio.wait_for(asyncio.gather(*waits), 30)
    assert len(arrivals) == 0


def test_waiting_ends_in_time_and_leaves_nothing_behind():
    arrivals = DocumentWaiters()

    async def wait() -> float:
        began = asyncio.get_running_loop().time()
        await arrivals.wait(["a", "b", "a"], 300)
        return asyncio.get_running_loop().time() - began

    assert run_virtually(wait()) == pytest.approx(300)
    assert len(arrivals) == 0
    arrivals.notify(["a"])


async def test_a_wait_that_is_cancelled_leaves_nothing_behind():
    arrivals = DocumentWaiters()
    patient, hasty = (asyncio.create_task(arrivals.wait(["a"], 30)) for _ in range(2))
    await asyncio.sleep(0)
    hasty.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hasty
    assert len(arrivals) == 1
    arrivals.notify(["a"])
    await asyncio.wait_for(patient, 30)
    assert len(arrivals) == 0


def test_a_document_that_others_waited_for_in_vain_is_absent_for_a_minute_or_until_it_arrives():
    arrivals = DocumentWaiters()

    async def seconds(*document_ids: str) -> float:
        loop = asyncio.get_running_loop()
        began = loop.time()
        await arrivals.wait(document_ids, 5)
        return loop.time() - began

    async def waits() -> list[float]:
        took = [await seconds("a"), await seconds("a"), await seconds("a", "b")]
        arrivals.notify(["a"])
        took += [await seconds("a"), await seconds("b")]
        await asyncio.sleep(60)
        return [*took, await seconds("b")]

    assert run_virtually(waits()) == pytest.approx([5, 0, 5, 5, 0, 5])


def test_only_so_many_wait_at_once_whatever_they_wait_for():
    arrivals = DocumentWaiters(most=64)

    async def wait_for(number: int) -> float:
        loop = asyncio.get_running_loop()
        began = loop.time()
        await asyncio.gather(*(arrivals.wait([f"unknown-{each}"], 5) for each in range(number)))
        return loop.time() - began

    async def in_turn() -> float:
        """Have 256 places that each of 3,000 answers takes in its turn."""
        loop, places = asyncio.get_running_loop(), asyncio.Semaphore(256)
        began = loop.time()

        async def judge(number: int) -> None:
            async with places:
                await arrivals.wait([f"other-{number}"], 5)
                await asyncio.sleep(0.01)

        await asyncio.gather(*map(judge, range(3_000)))
        return loop.time() - began

    assert run_virtually(wait_for(3_000)) == pytest.approx(5)
    assert run_virtually(in_turn()) < 6  # it was a minute
    assert len(arrivals) == 0
