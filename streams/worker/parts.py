"""What a worker opens beside its consumer, each closed in every case."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

from schemas import Codec
from scoring.policy.thresholds import NO_HOLDS
from scoring.scorer.profile import profile_named
from scoring.scorer.scorer import ScorerOptions
from scoring.values.assessment import Assessment, Decided
from scoring.values.opinion import Opinion
from streams.delivery.dead_letters import bury
from streams.delivery.publisher import Publisher
from streams.documents.company_terms import TermsUpkeep, terms_source
from streams.documents.follower import DocumentFollower
from streams.documents.store import DocumentStore
from streams.documents.versions import BadDocument
from streams.kafka.clients import open_producer
from streams.kafka.groups import client_id
from streams.kafka.topic_reader import open_reader
from streams.kafka.topics import Topics, message_limits
from streams.llm.cached_opinions import open_kept_opinions
from streams.llm.cascade import Advise, Cascade, chain_of
from streams.llm.endpoints.judges import Model
from streams.llm.endpoints.observed import ObservedModel
from streams.llm.endpoints.opening import open_judges
from streams.llm.spending import open_budget
from streams.observability.stages import Stages
from streams.pause.board import HoldBoard
from streams.pause.follower import HoldFollower
from streams.pipeline.context import Documents
from streams.pipeline.pipeline import ObservedRetriever, Pipeline
from streams.scorers.options import Assessor, ScoringOff, worker_options
from streams.scorers.pool import ScoringPool
from streams.search.service import Retrieval, open_retrieval
from streams.search.types import Retriever
from streams.settings import EndpointSettings, Settings
from streams.translating.opening import open_translation
from streams.translating.step import Translation
from streams.worker.lifetime import when_failed
from streams.worker.metrics import Metrics

#: Verdicts that are ready within so many milliseconds go to the broker in one request.
_LINGER_MS = 2


@asynccontextmanager
async def publisher(settings: Settings) -> AsyncIterator[Publisher]:
    """Open what sends verdicts and dead letters; raises ServiceUnreachable."""
    limits = message_limits(settings)
    largest = max(limits.verdict, limits.dead_letter)
    options = {"max_request_size": largest, "linger_ms": _LINGER_MS, "client_id": client_id(settings.kafka)}
    async with open_producer(settings.kafka, **options) as producer:
        yield Publisher(producer, settings.kafka.delivery_timeout_seconds)


@asynccontextmanager
async def assessor(
    settings: Settings, metrics: Metrics, options: ScorerOptions | None = None
) -> AsyncIterator[Assessor]:
    """Start the scoring processes, if scoring is on; raises InfrastructureFailure, WrongSettings.

    ``options`` are what they are started with, those of a worker unless given.
    """
    scoring = settings.scoring
    if not scoring.enabled:
        yield ScoringOff(scoring.profile)
        return
    options = replace(options or worker_options(settings), timed=settings.telemetry.parts)
    pool = ScoringPool(scoring.profile, scoring.processes, scoring.timeout_seconds, options)
    async with pool:
        metrics.scoring.watch(pool)
        yield pool


@asynccontextmanager
async def translation(settings: Settings, metrics: Metrics) -> AsyncIterator[Translation | None]:
    """Open the translation of exchanges, or what leaves them as they are."""
    if not settings.scoring.enabled or settings.translation.mode == "off":
        yield None
        return
    opened = open_translation(
        settings.translation, observer=metrics.translation, own_lexicons=settings.scoring.lexicons
    )
    async with opened as step:
        yield step


@asynccontextmanager
async def judges(
    settings: Settings, metrics: Metrics, stages: Stages, share: Callable[[], tuple[frozenset[int], int]]
) -> AsyncIterator[Advise | None]:
    """Open what asks judges for advice, or nothing where none is named.

    ``share`` gives this worker's partitions of ``answers`` and how many there are. Raises WrongSettings for
    files that cannot be used.
    """
    asking = settings.judges
    if not (asking.endpoints and settings.scoring.enabled):
        yield None
        return
    directory = settings.documents.store

    def observed(name: str, endpoint: EndpointSettings, model: Model) -> Model:
        return ObservedModel(name, endpoint, model, metrics.judges, stages)

    with open_kept_opinions(asking.kept, directory, metrics.kept_opinions) as kept:
        async with (
            open_judges(asking, metrics.judges, observed) as models,
            open_budget(asking.budget, directory, metrics.judge_budget) as budget,
        ):
            metrics.judge_budget.watch(budget)
            assert models is not None
            chain = chain_of(asking)
            limit, most = asking.time_limit_seconds, asking.most_in_flight(settings.flow.max_in_flight)
            cascade = Cascade(settings.policy, chain, models, budget, kept, limit, most, share)
            metrics.judges.watch(models.names, lambda: cascade.in_flight)
            yield cascade.advise


@asynccontextmanager
async def holds(
    settings: Settings, board: HoldBoard, metrics: Metrics, on_failure: Callable[[BaseException], None]
) -> AsyncIterator[None]:
    """Follow the holds on sending on ``board``, all that there are beforehand.

    ``on_failure`` is called when they cannot be followed any more. Raises ServiceUnreachable, HoldsLost.
    """
    metrics.holds.watch(settings.policy, board)
    topic = Topics(settings.kafka.topic_prefix).controls
    # A transaction that somebody left open there must not keep a hold from being seen.
    async with open_reader(settings.kafka, topic, isolation_level="read_uncommitted") as reader:
        follower = HoldFollower(board, topic, reader)
        await follower.read_to_end()
        following = [asyncio.create_task(each) for each in (follower.follow(), follower.watch())]
        for task in following:
            task.add_done_callback(when_failed(on_failure))
        try:
            yield
        finally:
            for task in following:
                task.cancel()


@asynccontextmanager
async def documents(
    settings: Settings, store: DocumentStore, codec: Codec, metrics: Metrics, publisher: Publisher
) -> AsyncIterator[DocumentFollower]:
    """Follow the documents topic, its bad records into the dead letters; raises ServiceUnreachable.

    Every worker follows the whole topic, so each writes a letter about a bad document, and again when it
    builds its store anew: none relies on another that may die before. Letters with the same ``dlq.topic``,
    ``dlq.partition`` and ``dlq.offset`` are about the same record.
    """
    letters = Topics(settings.kafka.topic_prefix).dead_letters

    async def report(bad: BadDocument) -> None:
        await publisher.bury(letters, bury(bad.received, bad.reason, datetime.now(UTC)))
        metrics.documents.bad.add()

    follower = DocumentFollower(store, codec, settings, on_bad_document=report)
    await follower.start()
    metrics.documents.stored.show(lambda: follower.documents)
    try:
        yield follower
    finally:
        await follower.stop()
        metrics.documents.stored.replace({})  # the store is about to be closed


@asynccontextmanager
async def company_terms(
    settings: Settings, store: DocumentStore, follower: DocumentFollower, metrics: Metrics
) -> AsyncIterator[TermsUpkeep | None]:
    """Keep the company's words up to date with the documents, where the profile looks for them."""
    if not profile_named(settings.scoring.profile).needs_company_terms:
        yield None
        return
    upkeep = TermsUpkeep(
        terms_source(settings, store),
        settings.company_terms.rebuild_interval_seconds,
        follower.caught_up,
        on_terms=metrics.documents.show_terms,
        on_failure=metrics.documents.terms_failures.add,
    )
    metrics.documents.terms_age.show(lambda: upkeep.age)
    async with upkeep:
        yield upkeep


@asynccontextmanager
async def retrieval(
    settings: Settings, store: DocumentStore, follower: DocumentFollower, metrics: Metrics
) -> AsyncIterator[Retrieval | None]:
    """Keep the index of the documents up to date, if answers without context are to be searched for."""
    if not (settings.retrieval.enabled and settings.scoring.enabled):
        yield None
        return
    opened = open_retrieval(
        settings,
        store,
        follower.caught_up,
        on_failure=metrics.retrieval.failures.add,
        on_indexed=lambda number: metrics.retrieval.indexed.add(number=number),
    )
    async with opened as service:
        metrics.retrieval.watch(service.upkeep)
        yield service


def way(
    settings: Settings,
    board: HoldBoard | None,
    documents: Documents,
    assessor: Assessor,
    translation: Translation | None,
    retriever: Retriever | None,
    advise: Advise | None,
    metrics: Metrics,
    stages: Stages,
) -> Pipeline:
    """Return the way of an answer through these parts, each step timed and counted.

    ``board`` has what operators hold back; None where none are followed, and the policy's own hold counts.
    """
    found = ObservedRetriever(retriever, stages) if retriever else None
    profile = settings.scoring.profile

    def decide(assessment: Assessment, opinions: Sequence[Opinion]) -> Decided:
        return settings.policy.decide(assessment, opinions, board.holds if board else NO_HOLDS)

    def count(assessment: Assessment) -> None:
        metrics.prepared.count(assessment.documents)

    return Pipeline(documents, assessor, decide, profile, translation, found, advise, stages, count)
