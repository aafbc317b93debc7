"""The components of a worker besides its consumer, as context managers."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

from schemas import Codec
from scoring.policy import NO_PAUSES, SETTINGS_POLICY
from scoring.scorer.profile import get_profile
from scoring.scorer.scorer import ScorerOptions
from scoring.values.opinion import Opinion
from scoring.values.rules import Reason
from scoring.values.scored_answer import PolicyDecision, ScoredAnswer
from streams.delivery.dead_letters import make_dead_letter
from streams.delivery.publisher import Publisher
from streams.documents.company_terms import REBUILD_INTERVAL_SECONDS, TermsUpdater, terms_source
from streams.documents.follower import DocumentFollower
from streams.documents.store import DocumentStore
from streams.documents.versions import BadDocument
from streams.kafka.consumer_groups import client_id
from streams.kafka.kafka_clients import open_producer
from streams.kafka.topic_follower import keep_following
from streams.kafka.topic_reader import open_reader
from streams.kafka.topics import Topics, message_limits
from streams.known_answers.known_follower import KnownAnswersFollower
from streams.known_answers.known_state import KnownAnswers
from streams.llm.budget_file import open_budget
from streams.llm.cascade import AskJudges, Cascade, max_waiting_for_judges
from streams.llm.endpoints.opening import open_judges
from streams.llm.inquiry import chain_from_settings
from streams.llm.opinion_cache import open_opinion_cache
from streams.observability.failures import InfrastructureFailure
from streams.observability.health import Health
from streams.observability.stages import Stages
from streams.pause.pause_follower import PauseFollower
from streams.pause.pause_state import PauseState
from streams.pipeline.context import DocumentLookup
from streams.pipeline.intake import OutcomePublisher
from streams.pipeline.pipeline import Pipeline, TracedRetriever
from streams.pipeline.traces import AnswerTraces
from streams.reviews.policy_follower import PolicyFollower, ShareChanged
from streams.reviews.policy_state import PolicyState
from streams.scorers.options import AsyncScorer, DisabledScorer, worker_options
from streams.scorers.pool import ScoringPool
from streams.search.service import Retrieval, open_retrieval
from streams.search.types import Retriever
from streams.settings import Settings
from streams.translating.opening import open_translation
from streams.translating.translation_stage import TranslationStage
from streams.web.verdict_endpoint import PUBLISH_SECONDS
from streams.worker.process_lifetime import failure_callback
from streams.worker.worker_metrics import WorkerMetrics

#: The topic has a few records for each policy: if reading takes longer, the broker cannot be reached.
_POLICY_SECONDS = 30.0
#: Verdicts that are ready within so many milliseconds go to the broker in one request.
_LINGER_MS = 2


@asynccontextmanager
async def open_publisher(settings: Settings) -> AsyncIterator[Publisher]:
    """Open what sends verdicts and dead letters, or a shadow's verdicts alone; raises ServiceUnreachable."""
    limits = message_limits(settings)
    largest = max(limits.verdict, limits.dead_letter)
    options = {"max_request_size": largest, "linger_ms": _LINGER_MS, "client_id": client_id(settings.kafka)}
    async with open_producer(settings.kafka, **options) as producer:
        only = Topics(settings.kafka.topic_prefix).shadow_verdicts if settings.shadow.name else None
        yield Publisher(producer, settings.kafka.delivery_timeout_seconds, only)


@asynccontextmanager
async def open_request_publisher(
    settings: Settings, codec: Codec, traces: AnswerTraces
) -> AsyncIterator[OutcomePublisher | None]:
    """Open what publishes the verdicts that are requested over HTTP, if that is on.

    It gives up before the client gets its 503: a verdict that waited for a broker must not be published
    when the client has been told that it was not. Raises ServiceUnreachable.
    """
    if not settings.web.verdicts.publish:
        yield None
        return
    seconds = min(settings.kafka.delivery_timeout_seconds, PUBLISH_SECONDS)
    limited = settings.with_values("kafka", {"delivery_timeout_seconds": seconds})
    async with open_publisher(limited) as publisher:
        yield OutcomePublisher(codec, publisher, Topics(settings.kafka.topic_prefix), traces)


@asynccontextmanager
async def open_scorer(
    settings: Settings, metrics: WorkerMetrics, options: ScorerOptions | None = None
) -> AsyncIterator[AsyncScorer]:
    """Start the scoring processes, if scoring is on; raises InfrastructureFailure, InvalidSettings.

    ``options`` are what they are started with, those of a worker unless given.
    """
    scoring = settings.scoring
    if not scoring.enabled:
        yield DisabledScorer(scoring.profile)
        return
    options = replace(options or worker_options(settings), timed=settings.telemetry.parts)
    pool = ScoringPool(scoring.profile, scoring.processes, scoring.timeout_seconds, options)
    async with pool:
        metrics.scoring.watch(pool)
        yield pool


@asynccontextmanager
async def open_worker_translation(
    settings: Settings, metrics: WorkerMetrics
) -> AsyncIterator[TranslationStage | None]:
    """Open the translation stage; yields None if nothing is translated."""
    if not settings.scoring.enabled or settings.translation.provider is None:
        yield None
        return
    opened = open_translation(settings, observer=metrics.translation)
    async with opened as step:
        yield step


@asynccontextmanager
async def open_cascade(
    settings: Settings,
    metrics: WorkerMetrics,
    stages: Stages,
    partition_share: Callable[[], tuple[frozenset[int], int]],
    policies: PolicyFollower | None = None,
) -> AsyncIterator[AskJudges | None]:
    """Open the cascade of judges; yields None if no endpoint is set.

    ``partition_share`` returns this worker's partitions of ``answers`` and the number of all.
    ``policies``: None if they are not followed. Raises InvalidSettings for files that cannot be used.
    """
    judges = settings.judges
    if not (judges.endpoints and settings.scoring.enabled):
        yield None
        return
    directory = settings.documents.store
    with open_opinion_cache(directory, metrics.opinion_cache) as opinion_cache:
        async with (
            open_judges(judges, metrics.judges, stages) as endpoints,
            open_budget(judges.budget, directory, metrics.judge_budget) as budget,
        ):
            cascade = Cascade(
                settings.policy,
                chain_from_settings(judges),
                endpoints,
                budget,
                opinion_cache,
                judges.timeout_seconds,
                max_waiting_for_judges(settings.flow.max_in_flight),
                partition_share,
                lambda: policies.active if policies else SETTINGS_POLICY,
            )
            metrics.judge_budget.watch(budget)
            metrics.judges.watch(endpoints, lambda: cascade.in_flight)
            yield cascade.ask_judges


@asynccontextmanager
async def follow_pauses(
    settings: Settings,
    pause_state: PauseState,
    metrics: WorkerMetrics,
    health: Health,
    on_failure: Callable[[BaseException], None],
) -> AsyncIterator[None]:
    """Keep ``pause_state`` up to date with the topic; it is read to its end before this yields.

    ``on_failure`` is called when they cannot be followed any more. Raises ServiceUnreachable, PausesLost.
    """
    metrics.pauses.watch(settings.policy, pause_state)
    health.set_waiting_for("the pauses of sending")
    topic = Topics(settings.kafka.topic_prefix).controls
    # An open transaction in the topic must not hide a pause.
    async with open_reader(settings.kafka, topic, isolation_level="read_uncommitted") as reader:
        follower = PauseFollower(pause_state, topic, reader)
        await follower.read_to_end()
        following = asyncio.create_task(follower.run())
        following.add_done_callback(failure_callback(on_failure))
        try:
            yield
        finally:
            following.cancel()


@asynccontextmanager
async def follow_policies(
    settings: Settings, metrics: WorkerMetrics, health: Health, on_failure: Callable[[BaseException], None]
) -> AsyncIterator[PolicyFollower | None]:
    """Follow the policies, which are read to their end before this yields; yields None in a shadow.

    Later on the policy is unknown as long as they cannot be read. A shadow decides by its own settings:
    certificates are about the profile and judges of those that decide, and would let it send nothing. Raises
    InfrastructureFailure.
    """
    if settings.shadow.name:
        yield None
        return
    follower = PolicyFollower(PolicyState(), asks_judges=bool(settings.judges.endpoints))
    topic = Topics(settings.kafka.topic_prefix).policies
    metrics.policies.watch(follower)
    health.set_waiting_for("the policies")
    following = asyncio.create_task(
        keep_following(follower, "the policies", settings.kafka, topic, follower.on_lost)
    )
    following.add_done_callback(failure_callback(on_failure))
    try:
        try:
            async with asyncio.timeout(_POLICY_SECONDS):
                await follower.is_read.wait()
        except TimeoutError as error:
            raise InfrastructureFailure(f"the policies cannot be read from topic {topic}") from error
        health.add_impairment_check(follower.impairment)
        health.set_waiting_for("the start")
        yield follower
    finally:
        following.cancel()


@asynccontextmanager
async def watch_policy_documents(
    follower: PolicyFollower | None, share_changed: ShareChanged, on_failure: Callable[[BaseException], None]
) -> AsyncIterator[None]:
    """End promises of the policy when too many documents have changed; they were counted when this yields."""
    if follower is None:
        yield
        return
    await follower.measure_documents(share_changed)
    watching = asyncio.create_task(follower.watch_documents(share_changed))
    watching.add_done_callback(failure_callback(on_failure))
    try:
        yield
    finally:
        watching.cancel()


@asynccontextmanager
async def follow_known_answers(
    settings: Settings,
    metrics: WorkerMetrics,
    health: Health,
    on_failure: Callable[[BaseException], None],
) -> AsyncIterator[KnownAnswers | None]:
    """Follow the known answers, if they count; the worker does not wait for them."""
    if not settings.policy.known_answers:
        yield None
        return
    known = KnownAnswers(settings.desk.tenant_key)
    metrics.known_answers.watch(known)
    health.add_impairment_check(known.impairment)
    topic = Topics(settings.kafka.topic_prefix).known_answers
    task = asyncio.create_task(KnownAnswersFollower(known, settings.kafka, topic).run())
    task.add_done_callback(failure_callback(on_failure))
    try:
        yield known
    finally:
        task.cancel()


@asynccontextmanager
async def follow_documents(
    settings: Settings, store: DocumentStore, codec: Codec, metrics: WorkerMetrics, publisher: Publisher
) -> AsyncIterator[DocumentFollower]:
    """Follow the documents topic, its bad records into the dead letters; raises ServiceUnreachable.

    Every worker follows the whole topic, so each writes a letter about a bad document, and again when it
    builds its store anew: none relies on another that may die before. Letters with the same ``dlq.topic``,
    ``dlq.partition`` and ``dlq.offset`` are about the same record. A shadow leaves them to the others.
    """
    letters = Topics(settings.kafka.topic_prefix).dead_letters

    async def report(bad: BadDocument) -> None:
        if not settings.shadow.name:
            await publisher.publish_dead_letter(
                letters, make_dead_letter(bad.received, bad.reason, datetime.now(UTC))
            )
        metrics.documents.bad.add()

    follower = DocumentFollower(store, codec, settings, on_bad_document=report)
    await follower.start()
    metrics.documents.stored.set_function(lambda: follower.documents)
    try:
        yield follower
    finally:
        await follower.stop()
        metrics.documents.stored.replace({})  # the store is about to be closed


@asynccontextmanager
async def maintain_company_terms(
    settings: Settings, store: DocumentStore, follower: DocumentFollower, metrics: WorkerMetrics
) -> AsyncIterator[TermsUpdater | None]:
    """Keep the company's words up to date with the documents, where the profile looks for them."""
    if not get_profile(settings.scoring.profile).needs_company_terms:
        yield None
        return
    upkeep = TermsUpdater(
        terms_source(settings, store),
        REBUILD_INTERVAL_SECONDS,
        follower.caught_up,
        on_terms=metrics.documents.show_terms,
        on_failure=metrics.documents.terms_failures.add,
    )
    metrics.documents.terms_age.set_function(lambda: upkeep.age)
    async with upkeep:
        yield upkeep


@asynccontextmanager
async def maintain_retrieval(
    settings: Settings, store: DocumentStore, follower: DocumentFollower, metrics: WorkerMetrics
) -> AsyncIterator[Retrieval | None]:
    """Keep the index of the documents up to date, if answers without context are to be searched for."""
    if not (settings.retrieval.is_enabled and settings.scoring.enabled):
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
        metrics.retrieval.watch(service.index_updater)
        yield service


def build_pipeline(
    settings: Settings,
    pause_state: PauseState | None,
    documents: DocumentLookup,
    scorer: AsyncScorer,
    translation: TranslationStage | None,
    retriever: Retriever | None,
    ask_judges: AskJudges | None,
    metrics: WorkerMetrics,
    stages: Stages,
    known_answers: KnownAnswers | None = None,
    policies: PolicyFollower | None = None,
) -> Pipeline:
    """Return the way of an answer through these parts, each step timed and counted.

    ``pause_state`` has the pauses by operators; None if they are not followed: only the policy's own count.
    ``known_answers`` and ``policies``: None if they are not followed; then the settings' policy decides.
    """
    found = TracedRetriever(retriever, stages) if retriever else None
    profile = settings.scoring.profile

    def decide(
        scored_answer: ScoredAnswer,
        opinions: Sequence[Opinion],
        *,
        known: Reason | None,
        characters: int,
        model: str | None,
    ) -> PolicyDecision:
        pauses = pause_state.pauses if pause_state else NO_PAUSES
        active = policies.active if policies else SETTINGS_POLICY
        return settings.policy.decide(
            scored_answer, opinions, pauses, known, active, characters=characters, model=model
        )

    def count(scored: ScoredAnswer) -> None:
        metrics.prepared_documents.count(scored.cache_use)

    return Pipeline(
        documents, scorer, decide, profile, translation, found, ask_judges, stages, count, known_answers
    )
