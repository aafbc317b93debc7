"""The worker process: what is started in which order, and how it ends.

It ends in one of three ways: asked to (SIGTERM, SIGINT), after finishing and committing what is
in work; unable to start, with one clear error; or at once, when something fails that every
answer needs. The last one acknowledges nothing, so nothing is lost.
"""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager, suppress
from typing import Any

import structlog
from aiokafka.errors import InvalidSessionTimeoutError, KafkaError
from faust.exceptions import ConsumerNotStarted
from faust.types import TP

from schemas import RegistryUnreachable
from streams.delivery.dead_letter_progress import follow_waiting
from streams.delivery.faust_consumer import SafeConsumer
from streams.delivery.publisher import max_settling_seconds
from streams.documents.company_terms import TermsUpdater, check_terms_file
from streams.documents.follower import DocumentFollower
from streams.documents.store import SETTING, DocumentStore
from streams.kafka.kafka_clients import ServiceUnreachable, open_consumer
from streams.kafka.schema_topic import create_codec, keep_published
from streams.kafka.topics import Topics
from streams.observability.failures import (
    EXIT_SOFTWARE,
    InfrastructureFailure,
)
from streams.observability.health import Health
from streams.observability.instruments import Gauge
from streams.observability.logs import configure_logging
from streams.observability.tracing import open_tracing
from streams.pause.pause_state import PauseState
from streams.pipeline.intake import Intake, OutcomePublisher
from streams.pipeline.traces import AnswerTraces
from streams.rates.leader_thread import rate_leader_thread
from streams.reviews.policy_follower import ShareChanged
from streams.search.service import Retrieval
from streams.settings import InvalidSettings, LogSettings, Settings
from streams.storage.directory import check_writable
from streams.web import create_web_app, page_url, serve
from streams.web.verdict_endpoint import VerdictEndpoint
from streams.worker import worker_components
from streams.worker.faust_application import TruthgateApp, create_app
from streams.worker.preflight import recheck_groups_later, run_preflight_checks
from streams.worker.process_lifetime import (
    as_infrastructure_failure,
    end_process,
    failed_start,
    failure_callback,
    send_heartbeats,
    stop_signals,
    wait_for_first,
    watchdog,
)
from streams.worker.progress_probe import ProgressProbe
from streams.worker.shadow import worker_settings
from streams.worker.worker_metrics import open_metrics

log = structlog.get_logger(__name__)

#: Seconds between checks of readiness.
_READINESS_SECONDS = 0.5
#: The longest wait for the existing documents at the start. A restarted worker continues where its store
#: ends, so a large topic can take several starts, and a start that hangs is noticed.
_CATCH_UP_TIMEOUT_SECONDS = 600.0
#: The longest wait of the first answers for the company's terms; a thousand documents take half a second.
_FIRST_TERMS_SECONDS = 30.0
#: The timeout of a request for the group's offsets; after it, the new coordinator is looked up.
_ASK_MS = 5_000
#: How long the process tries to reset the group's offsets before it ends.
_REWIND_SECONDS = 5.0


def run_worker(settings: Settings) -> int:
    """Run a worker until a signal stops it, and return the exit code: 0 for a clean stop.

    Raises, where log lines are text for a person:
        InvalidSettings: a setting is wrong, or for example a topic is missing.
        ServiceUnreachable: Kafka or the schema registry does not respond at the start.
    """
    configure_logging(settings.log)
    try:
        asyncio.run(_run(worker_settings(settings)))
    except (InfrastructureFailure, InvalidSettings, ServiceUnreachable, RegistryUnreachable) as failure:
        return _report_failed_start(failure, settings.log)
    return 0


def report_invalid_settings(error: InvalidSettings) -> int:
    """Log settings that cannot be loaded, and return the exit code.

    Of these settings only the variable ``TRUTHGATE_LOG__FORMAT`` counts. Raises the error instead if a person
    reads the log.
    """
    wanted = os.environ.get("TRUTHGATE_LOG__FORMAT", "").lower()
    settings = LogSettings.model_validate({"format": wanted} if wanted in ("json", "console") else {})
    configure_logging(settings)
    return _report_failed_start(error, settings)


def _report_failed_start(failure: Exception, settings: LogSettings) -> int:
    failed = failed_start(failure, settings)
    log.critical("worker_failed", reason=str(failed), exit_code=failed.exit_code)
    return failed.exit_code


def end_at_once(failure: BaseException) -> None:
    """End the process without commits; answers in flight are delivered again."""
    reported = as_infrastructure_failure(failure)
    log.critical("worker_ends", reason=str(reported), exit_code=reported.exit_code)
    end_process(reported.exit_code)


def _run_in_background(stack: AsyncExitStack, work: Coroutine[Any, Any, None], name: str) -> None:
    """Run a coroutine as a task until the stack is closed."""
    task = asyncio.create_task(work, name=name)
    stack.callback(task.cancel)


def _check_files(settings: Settings) -> None:
    check_writable(settings.documents.store, SETTING)
    check_terms_file(settings)


async def _run(settings: Settings) -> None:
    topics = Topics(settings.kafka.topic_prefix)
    _check_files(settings)  # first, since nothing else is of use if one of them is wrong
    await run_preflight_checks(settings)
    stopping = stop_signals(lambda name: log.info("worker_stops", signal=name))
    health = Health(settings.health.stall_timeout_seconds, settings.health.kafka_timeout_seconds)
    board = PauseState()
    async with AsyncExitStack() as stack:
        metrics = stack.enter_context(open_metrics(settings))
        metrics.watch(health)
        tracing = await stack.enter_async_context(open_tracing(settings))
        traces = AnswerTraces(settings, tracing, metrics.answers.observe_stage)
        for name, work in (
            ("heartbeat", send_heartbeats(health)),
            ("other-deployments", recheck_groups_later(settings)),
            ("dead-letters", _count_dead_letters(settings, metrics.answers.dead_letters_waiting)),
        ):
            _run_in_background(stack, work, name)
        stack.enter_context(watchdog(health, settings.health.check_interval_seconds, end_at_once))
        pages = create_web_app(health, metrics.registry, settings, board)
        verdicts = VerdictEndpoint(settings, metrics.answers, metrics.requests, traces, end_at_once)
        if settings.web.verdicts.are_served_by_workers:
            verdicts.add_to(pages)
        port = await stack.enter_async_context(serve(pages, settings.web))
        codec = create_codec(settings)
        await codec.prepare()
        _run_in_background(stack, keep_published(settings), "schemas")
        publisher = await stack.enter_async_context(worker_components.open_publisher(settings))
        await stack.enter_async_context(
            worker_components.follow_pauses(settings, board, metrics, health, end_at_once)
        )
        policies = await stack.enter_async_context(
            worker_components.follow_policies(settings, metrics, health, end_at_once)
        )
        scorer = await stack.enter_async_context(worker_components.open_scorer(settings, metrics))
        store = stack.enter_context(closing(DocumentStore(settings.documents.store)))
        translation = await stack.enter_async_context(
            worker_components.open_worker_translation(settings, metrics)
        )
        documents = await stack.enter_async_context(
            worker_components.follow_documents(settings, store, codec, metrics, publisher)
        )
        _run_in_background(stack, _exit_when_failed(documents), "end-with-documents")
        terms = await stack.enter_async_context(
            worker_components.maintain_company_terms(settings, store, documents, metrics)
        )
        retrieval = await stack.enter_async_context(
            worker_components.maintain_retrieval(settings, store, documents, metrics)
        )
        _watch_impairments(health, board, documents, terms, retrieval)
        ask_judges = await stack.enter_async_context(
            worker_components.open_cascade(
                settings, metrics, traces.stages, lambda: _partition_share(app, topics), policies
            )
        )
        pipeline = worker_components.build_pipeline(
            settings,
            board,
            documents,
            scorer,
            translation,
            retrieval.retriever if retrieval else None,
            ask_judges,
            metrics,
            traces.stages,
            await stack.enter_async_context(
                worker_components.follow_known_answers(settings, metrics, health, end_at_once)
            ),
            policies,
        )
        outcomes = OutcomePublisher(codec, publisher, topics, traces, settings.shadow.name)
        intake = Intake(codec, pipeline, outcomes, metrics.answers, traces, settings, end_at_once)
        app = create_app(settings, topics, intake, metrics.kafka.rebalances.add)
        await stack.enter_async_context(_probe(settings, app, health))
        await stack.enter_async_context(
            rate_leader_thread(
                settings, metrics.rates, tracing, lambda: TP(topics.answers, 0) in _owned(app), stopping
            )
        )
        log.info("worker_starts", port=port, group=settings.kafka.consumer_group)

        def tell_ready() -> None:
            log.info(
                "worker_ready",
                address=page_url(settings.web.host, port),
                documents=documents.documents,
                partitions=len(_owned(app)),
            )

        if await _wait_until_caught_up(documents, health, stopping):
            await _wait_until_prepared(settings, terms, retrieval, health, stopping)
            await stack.enter_async_context(
                worker_components.watch_policy_documents(policies, _share_changed(store), end_at_once)
            )
            requested = await stack.enter_async_context(
                worker_components.open_request_publisher(settings, codec, traces)
            )
            await stack.enter_async_context(verdicts.serving(pipeline, stopping.is_set, requested))
            await _consume(app, intake, health, stopping, settings, tell_ready)
        health.set_waiting_for("the end", _longest_wait(settings))
    log.info("worker_stopped")


async def _count_dead_letters(settings: Settings, waiting: Gauge) -> None:
    if not settings.shadow.name:  # which has none, and another group than that of who replays them
        await follow_waiting(settings.kafka, waiting)


def _share_changed(store: DocumentStore) -> ShareChanged:
    async def share_changed(since: int) -> float:
        return await asyncio.to_thread(store.share_changed, since)

    return share_changed


def _watch_impairments(
    health: Health,
    pause_state: PauseState,
    documents: DocumentFollower,
    terms: TermsUpdater | None,
    retrieval: Retrieval | None,
) -> None:
    """Let readiness report conditions that keep a healthy worker from sending answers."""
    health.add_impairment_check(pause_state.impairment)
    health.add_impairment_check(lambda: "the documents may be out of date" if documents.is_stale else None)
    if terms:
        health.add_impairment_check(
            lambda: _with_reason("the company's words cannot be built or read", terms.failure)
        )
    if retrieval:
        upkeep = retrieval.index_updater
        health.add_impairment_check(lambda: _with_reason("documents cannot be indexed", upkeep.failure))


def _with_reason(what: str, reason: str | None) -> str | None:
    return f"{what}: {reason}" if reason else None


async def _wait_until_prepared(
    settings: Settings,
    terms: TermsUpdater | None,
    retrieval: Retrieval | None,
    health: Health,
    stopping: asyncio.Event,
) -> None:
    """Wait for terms and index, so that the first answers are judged like later ones."""
    if terms:
        await wait_for_first(terms.ready.wait(), stopping.wait(), asyncio.sleep(_FIRST_TERMS_SECONDS))
    if retrieval and not settings.retrieval.ready_before_complete:
        health.set_waiting_for("the index of the documents")
        await wait_for_first(retrieval.index_updater.first_update_done.wait(), stopping.wait())


async def _consume(
    app: TruthgateApp,
    intake: Intake,
    health: Health,
    stopping: asyncio.Event,
    settings: Settings,
    on_ready: Callable[[], None],
) -> None:
    """Consume until asked to stop; then finish what is in work, commit it, and leave the group.

    ``tell_ready`` is called once, when answers can be judged.
    """
    app.on_crash = end_at_once
    readiness = asyncio.create_task(_follow_readiness(app, health, settings, on_ready))
    readiness.add_done_callback(failure_callback(end_at_once))
    starting = asyncio.create_task(app.start())
    await wait_for_first(starting, stopping.wait())
    if not starting.done():
        end_process(0)  # Faust cannot be stopped in mid-start; it has not been given anything yet
    try:
        await starting
    except KafkaError as error:
        raise InfrastructureFailure(f"the consumer does not start: {type(error).__name__}") from error
    await stopping.wait()
    readiness.cancel()
    health.set_waiting_for("the end", _longest_wait(settings))
    with _stop_timeout(max_settling_seconds(settings), health):
        _stop_consuming(app)
        await intake.drain()
        await app.consumer.commit()
        await app.stop()


def _stop_consuming(app: TruthgateApp) -> None:
    """Stop consuming, and drop answers whose processing has not started."""
    app.consumer.stop_flow()
    app.flow_control.suspend()
    app.flow_control.clear()


async def _follow_readiness(
    app: TruthgateApp, health: Health, settings: Settings, on_ready: Callable[[], None]
) -> None:
    reported = False
    while True:
        _refuse_session_timeout(app, settings)
        settled = app.started and app.consumer_generation_id and not app.rebalancing and not app.in_recovery
        health.set_waiting_for(None if settled else "the consumer group", _longest_wait(settings))
        if settled and not reported:
            reported = True
            on_ready()
        await asyncio.sleep(_READINESS_SECONDS)


def _refuse_session_timeout(app: TruthgateApp, settings: Settings) -> None:
    """Refuse a session timeout that the brokers reject; only they know their limits."""
    consumer = app.consumer
    if isinstance(consumer, SafeConsumer) and isinstance(
        consumer.group_failure(), InvalidSessionTimeoutError
    ):
        raise InvalidSettings(
            f"flow.session_timeout_seconds {settings.flow.session_timeout_seconds:g} is refused by Kafka: it"
            " takes what lies between its group.min.session.timeout.ms and group.max.session.timeout.ms, as"
            " shipped 6 to 1800 seconds"
        )


def _longest_wait(settings: Settings) -> float:
    # Joining may take as long as the other workers take to hand over, and so may the end.
    return settings.health.stall_timeout_seconds + max_settling_seconds(settings)


@contextmanager
def _stop_timeout(seconds: float, health: Health) -> Iterator[None]:
    """End the process at once if what is inside takes longer."""
    too_late = InfrastructureFailure(f"stopping took longer than {seconds:g} s", EXIT_SOFTWARE)
    timer = threading.Timer(seconds, lambda: end_at_once(health.kafka_failure() or too_late))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


async def _wait_until_caught_up(documents: DocumentFollower, health: Health, stopping: asyncio.Event) -> bool:
    """Wait for the documents that exist already; False when asked to stop before that."""
    health.set_waiting_for("the documents that exist already")
    await wait_for_first(
        documents.caught_up.wait(), stopping.wait(), asyncio.sleep(_CATCH_UP_TIMEOUT_SECONDS)
    )
    if not documents.caught_up.is_set() and not stopping.is_set():
        raise InfrastructureFailure(
            f"the documents topic was not read to its end within {_CATCH_UP_TIMEOUT_SECONDS:g} seconds"
        )
    return not stopping.is_set()


@asynccontextmanager
async def _probe(settings: Settings, app: TruthgateApp, health: Health) -> AsyncIterator[None]:
    # Often enough that Kafka is not called silent where one answer is late.
    interval = settings.health.check_interval_seconds
    options = {"group_id": settings.kafka.consumer_group, "request_timeout_ms": _ASK_MS}
    async with open_consumer(settings.kafka, **options) as consumer:
        probe = ProgressProbe(
            settings.kafka,
            consumer,
            Topics(settings.kafka.topic_prefix).answers,
            lambda: _owned(app),
            health,
            interval,
            lambda: _rewind(app),
            lambda tp: isinstance(app.consumer, SafeConsumer) and app.consumer.offsets.has_unfinished(tp),
        )
        await probe.identify()
        task = asyncio.create_task(probe.run())
        task.add_done_callback(failure_callback(end_at_once))
        try:
            yield
        finally:
            task.cancel()


def _owned(app: TruthgateApp) -> set[TP]:
    if not app.started:
        return set()
    try:
        return set(app.consumer.assignment())
    except ConsumerNotStarted:  # the application counts as started before its consumer is
        return set()


def _partition_share(app: TruthgateApp, topics: Topics) -> tuple[frozenset[int], int]:
    """Return the own partitions of ``answers``, and how many it has; 0 while that is not known."""
    own = frozenset(each.partition for each in _owned(app) if each.topic == topics.answers)
    consumer = app.consumer
    assert isinstance(consumer, SafeConsumer)
    return own, consumer.partition_count(topics.answers)


async def _rewind(app: TruthgateApp) -> None:
    """Commit the beginning of every own partition, in place of offsets that were those of another topic.

    What was committed between the topic's replacement and its detection would skip answers.
    """
    if not (owned := _owned(app)):
        return
    consumer = app.consumer
    assert isinstance(consumer, SafeConsumer)
    _stop_consuming(app)
    consumer.offsets.forget(owned)  # so that Faust commits nothing any more
    with suppress(TimeoutError):
        async with asyncio.timeout(_REWIND_SECONDS):
            await consumer._commit(dict.fromkeys(owned, 0))  # noqa: SLF001 - commit() never goes back


async def _exit_when_failed(documents: DocumentFollower) -> None:
    end_at_once(await documents.wait_failed())
