"""What a worker's process does with its documents: it starts, finds contexts in three ways, and judges."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace

import psutil

from schemas import ChatbotAnswer, Codec, ContextPassage
from scoring import Scorer
from streams.documents.follower import DocumentFollower
from streams.documents.store import DocumentStore
from streams.pipeline.context import DocumentLookup, ResolvedContext, resolve_context
from streams.pipeline.verdict import make_exchange
from streams.scorers.options import worker_options
from streams.search.service import Retrieval, open_retrieval
from streams.settings import Settings
from tests.benchmarks.varied import asked, originals, varied_id

_WAYS = ("inline", "by id", "retrieved")
#: So many answers are in work at once.
_AT_ONCE = 16
_WAIT_SECONDS = 30.0
_LIMIT_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Way:
    """What one way of finding the context costs, in one run.

    ``milliseconds`` are of processor time an answer; ``cold`` and ``warm`` those of judging it in one scoring
    process that has none of its documents prepared, and all.
    """

    name: str
    answers_a_second: float
    milliseconds: float
    cold: float
    warm: float

    @property
    def share(self) -> float:
        """What finding costs beside judging, warm."""
        return self.milliseconds / self.warm


@dataclass(frozen=True, slots=True)
class Start:
    """What a start with a filled store and a complete index costs.

    Seconds until the store is open, and then until the index is known to be complete; how many documents
    were put into the index meanwhile, how many were parsed for ``answers``, and how many came parsed
    from the file. ``megabytes`` are those of the process: with the store alone, and after some searches.
    """

    store_seconds: float
    index_seconds: float
    indexed: int
    answers: int
    parsed: int
    from_file: int
    store_megabytes: float
    search_megabytes: float


def ways(settings: Settings, count: int, events: int, judged: int, seed: int) -> list[Way]:
    """Measure each way once on so many ``events``, of which some are ``judged`` too."""
    return asyncio.run(_ways(settings, count, events, judged, seed))


async def _ways(settings: Settings, count: int, events: int, judged: int, seed: int) -> list[Way]:
    answers = drawn(count, events, seed)
    async with _opened(settings) as (documents, retrieval):
        inline = [await _with_passages(answer, documents) for answer in answers]
        bare = [replace(answer, document_ids=()) for answer in answers]
        given = dict(zip(_WAYS, (inline, answers, bare), strict=True))
        await asyncio.wait_for(retrieval.index_updater.complete.wait(), _LIMIT_SECONDS)
        await _resolved(bare[:_AT_ONCE], documents, retrieval)
        return [await _way(name, some, documents, retrieval, judged) for name, some in given.items()]


async def _way(
    name: str, answers: Sequence[ChatbotAnswer], documents: DocumentLookup, retrieval: Retrieval, judged: int
) -> Way:
    began, worked = time.perf_counter(), time.process_time()
    contexts = await _resolved(answers, documents, retrieval)
    seconds, spent = time.perf_counter() - began, time.process_time() - worked
    if not all(context.source == name.replace(" ", "_") for context in contexts):
        raise RuntimeError(f"an answer's context is not {name}")
    scorer = Scorer()
    pairs = list(zip(answers, contexts, strict=True))[:judged]
    cold, warm = _judging(scorer, pairs), _judging(scorer, pairs)
    return Way(name, len(answers) / seconds, spent * 1_000 / len(answers), cold, warm)


async def _resolved(
    answers: Sequence[ChatbotAnswer], documents: DocumentLookup, retrieval: Retrieval
) -> list[ResolvedContext]:
    free = asyncio.Semaphore(_AT_ONCE)

    async def resolved(answer: ChatbotAnswer) -> ResolvedContext:
        async with free:
            return await resolve_context(answer, documents, _WAIT_SECONDS, retrieval.retriever)

    return await asyncio.gather(*map(resolved, answers))


def _judging(scorer: Scorer, pairs: Sequence[tuple[ChatbotAnswer, ResolvedContext]]) -> float:
    began = time.process_time()
    for answer, context in pairs:
        scorer.score(make_exchange(answer, context.passages))
    return (time.process_time() - began) * 1_000 / len(pairs)


def first_life(settings: Settings, count: int, judged: int) -> int:
    """Be the worker that parses documents first; returns how many it parsed."""
    parsed, _ = asyncio.run(_parsed(settings, drawn(count, judged, 0)))
    return parsed


def start(settings: Settings, count: int, judged: int) -> Start:
    """Start on what is there, search, and judge the answers of the first life."""
    return asyncio.run(_start(settings, drawn(count, judged, 0)))


async def _start(settings: Settings, answers: Sequence[ChatbotAnswer]) -> Start:
    indexed: list[int] = []
    began = time.perf_counter()
    async with _opened(settings, indexed.append) as (documents, retrieval):
        opened, store_memory = time.perf_counter() - began, _megabytes()
        await asyncio.wait_for(retrieval.index_updater.complete.wait(), _LIMIT_SECONDS)
        complete = time.perf_counter() - began - opened
        await _resolved([replace(one, document_ids=()) for one in answers], documents, retrieval)
        search_memory = _megabytes()
    parsed, found = await _parsed(settings, answers)
    return Start(opened, complete, sum(indexed), len(answers), parsed, found, store_memory, search_memory)


async def _parsed(settings: Settings, answers: Sequence[ChatbotAnswer]) -> tuple[int, int]:
    """Judge answers with the file of prepared documents: how many were parsed, how many came from it."""
    with closing(DocumentStore(settings.documents.store)) as store:
        documents = DocumentFollower(store, Codec(), settings)
        contexts = [await resolve_context(answer, documents, _WAIT_SECONDS) for answer in answers]
    with closing(Scorer(options=worker_options(settings))) as scorer:
        for answer, context in zip(answers, contexts, strict=True):
            scorer.score(make_exchange(answer, context.passages))
        return scorer.cache_use.misses, scorer.cache_use.disk_hits


@asynccontextmanager
async def _opened(
    settings: Settings, on_indexed: Callable[[int], None] = lambda _documents: None
) -> AsyncIterator[tuple[DocumentLookup, Retrieval]]:
    after = asyncio.Event()
    after.set()
    with closing(DocumentStore(settings.documents.store)) as store:
        # Not started: it looks documents up, and there is no topic to follow.
        documents = DocumentFollower(store, Codec(), settings)
        async with open_retrieval(settings, store, after, on_indexed=on_indexed) as retrieval:
            yield documents, retrieval


async def _with_passages(answer: ChatbotAnswer, documents: DocumentLookup) -> ChatbotAnswer:
    context = await resolve_context(answer, documents, _WAIT_SECONDS)
    passages = tuple(ContextPassage(one.document_id, one.text, one.title) for one in context.passages)
    return replace(answer, document_ids=(), context=passages)


def drawn(count: int, events: int, seed: int) -> list[ChatbotAnswer]:
    """Give answers of the sample that name variations of their documents, drawn from the first ``count``."""
    chance, bases, every = random.Random(seed), originals(), asked()
    return [
        replace(
            one.answer,
            answer_id=f"a-{number}",
            document_ids=tuple(
                varied_id(bases[place], chance.randrange(place, count, len(bases))) for place in one.documents
            ),
        )
        for number, one in enumerate(chance.choices(every, k=events))
    ]


def _megabytes() -> float:
    return float(psutil.Process().memory_info().rss) / 1e6
