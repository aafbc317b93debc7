"""The process that judges over HTTP alone.

Answers come by request, documents were read before, and verdicts go back to who asks. Where a cluster is
named it follows the pauses there, and publishes its verdicts if it is set so.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import structlog

from schemas import KnowledgeDocument
from streams.kafka.schema_topic import create_codec
from streams.kafka.topics import Topics, check_topics, refuse_wrong_topics
from streams.observability.failures import InfrastructureFailure
from streams.observability.health import Health
from streams.observability.logs import configure_logging
from streams.observability.stages import Stages
from streams.observability.tracing import open_tracing
from streams.pause.pause_state import PauseState
from streams.pipeline.context import StaticDocuments
from streams.pipeline.intake import OutcomePublisher
from streams.pipeline.pipeline import Pipeline
from streams.pipeline.traces import AnswerTraces
from streams.rates.verdict_counts import to_epoch_ms
from streams.reviews.policy_follower import PolicyFollower
from streams.scorers.options import scorer_options
from streams.search.on_demand import OnDemandRetriever, open_on_demand_retriever
from streams.settings import InvalidSettings, Settings
from streams.web import create_web_app, page_url, serve
from streams.web.verdict_endpoint import MAX_IN_FLIGHT, VerdictEndpoint
from streams.worker import worker_components
from streams.worker.process_lifetime import (
    end_process,
    failed_start,
    send_heartbeats,
    set_first_failure,
    stop_signals,
    wait_for_first,
    watchdog,
)
from streams.worker.shadow import refuse_shadow
from streams.worker.worker_metrics import WorkerMetrics, open_metrics

log = structlog.get_logger(__name__)

_LOOPBACK = "127.0.0.1"
#: There are no partitions to share anything with: as if all answers came by one.
_SINGLE_PARTITION = frozenset({0}), 1


def run_server(settings: Settings, documents: Sequence[KnowledgeDocument]) -> int:
    """Judge over HTTP until asked to stop; returns the exit code, 0 for a clean stop.

    Args:
        settings: as :func:`server_settings` gives them.
        documents: what answers are judged against that bring no context of their own.

    Raises, where log lines are text for a person:
        InvalidSettings: something is set up wrong, such as a port that is taken.
        ServiceUnreachable: a cluster is named, or a schema registry, and does not answer at the start.
    """
    configure_logging(settings.log)
    try:
        asyncio.run(_run(settings, documents))
    except Exception as failure:  # noqa: BLE001 - one line says how it ended, such as by a full disk
        failed = failed_start(failure, settings.log)
        log.critical("server_failed", reason=str(failed), exit_code=failed.exit_code)
        return failed.exit_code
    return 0


def server_settings(settings: Settings, *, from_kafka: bool = False) -> Settings:
    """Return the settings of a server: without a token, it listens on this machine only.

    ``from_kafka``: the documents are those of a cluster, whose address must be set.

    Raises:
        InvalidSettings: an address that others can reach is set without a token, verdicts are to be
            published without a cluster, or ``shadow.name`` is set.
    """
    refuse_shadow(settings)
    web = settings.web
    if from_kafka:
        settings = settings.with_values("kafka", {"bootstrap_servers": settings.kafka.bootstrap_servers})
    if web.verdicts.publish and not settings.kafka.is_configured:
        raise InvalidSettings("web.verdicts.publish needs kafka.bootstrap_servers")
    if web.lacks_access_control:
        if "host" in web.model_fields_set:
            raise InvalidSettings(
                f"web.host {web.host} needs web.verdicts.token, or web.verdicts.anonymous where everybody "
                "who reaches it may ask"
            )
        settings = settings.with_values("web", {"host": _LOOPBACK})
    # What is shared out among the answers in work, such as who may wait for a judge, is so by these.
    return settings.with_values("flow", {"max_in_flight": MAX_IN_FLIGHT})


async def _run(settings: Settings, documents: Sequence[KnowledgeDocument]) -> None:
    stopping = stop_signals(_tell_stop)
    health = Health(settings.health.stall_timeout_seconds, settings.health.kafka_timeout_seconds)
    failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    fail = partial(set_first_failure, failed)
    async with AsyncExitStack() as stack:
        metrics = stack.enter_context(open_metrics(settings))
        metrics.process.ready.set_function(lambda: health.unready_reason is None)
        tracing = await stack.enter_async_context(open_tracing(settings))
        traces = AnswerTraces(settings, tracing, metrics.answers.observe_stage)
        beating = asyncio.create_task(send_heartbeats(health), name="heartbeat")
        stack.callback(beating.cancel)
        stack.enter_context(watchdog(health, settings.health.check_interval_seconds, _end_at_once))
        pages = create_web_app(health, metrics.registry)
        verdicts = VerdictEndpoint(settings, metrics.answers, metrics.requests, traces, fail)
        verdicts.add_to(pages)
        port = await stack.enter_async_context(serve(pages, settings.web))
        log.info("server_starts", port=port)
        board = PauseState() if settings.kafka.is_configured else None
        policies = None
        if board:
            await stack.enter_async_context(
                worker_components.follow_pauses(settings, board, metrics, health, fail)
            )
            health.add_impairment_check(board.impairment)
            policies = await stack.enter_async_context(_policies(settings, documents, metrics, health, fail))
        publisher = await stack.enter_async_context(_publisher(settings, traces))
        pipeline = await stack.enter_async_context(
            _open_pipeline(settings, board, policies, documents, metrics, traces.stages, health, stopping)
        )
        async with verdicts.serving(pipeline, stopping.is_set, publisher):
            if not stopping.is_set():
                health.set_waiting_for(None)
                address = page_url(settings.web.host, port)
                log.info("server_ready", address=address, documents=len(documents))
            await wait_for_first(stopping.wait(), failed)
            health.set_waiting_for("the end")
    if failed.done():
        failed.result()
    log.info("server_stopped")


@asynccontextmanager
async def _policies(
    settings: Settings,
    documents: Sequence[KnowledgeDocument],
    metrics: WorkerMetrics,
    health: Health,
    on_failure: Callable[[BaseException], None],
) -> AsyncIterator[PolicyFollower | None]:
    """Follow the policies of the cluster; the documents are as old as they say they are."""

    async def share_changed(since: int) -> float:
        changed = sum(to_epoch_ms(each.updated_at) > since for each in documents)
        return changed / max(1, len(documents))

    async with (
        worker_components.follow_policies(settings, metrics, health, on_failure) as policies,
        worker_components.watch_policy_documents(policies, share_changed, on_failure),
    ):
        yield policies


@asynccontextmanager
async def _publisher(settings: Settings, traces: AnswerTraces) -> AsyncIterator[OutcomePublisher | None]:
    """Open the publisher of verdicts, if one is wanted; raises InvalidSettings, ServiceUnreachable."""
    if not settings.web.verdicts.publish:
        yield None
        return
    topics = Topics(settings.kafka.topic_prefix)
    checks = await check_topics(settings, any_partitions=True)
    refuse_wrong_topics([each for each in checks if each.spec.name in (*topics.outputs, topics.schemas)])
    codec = create_codec(settings)
    await codec.prepare()
    async with worker_components.open_request_publisher(settings, codec, traces) as publisher:
        yield publisher


@asynccontextmanager
async def _open_pipeline(
    settings: Settings,
    pause_state: PauseState | None,
    policies: PolicyFollower | None,
    documents: Sequence[KnowledgeDocument],
    metrics: WorkerMetrics,
    stages: Stages,
    health: Health,
    stopping: asyncio.Event,
) -> AsyncIterator[Pipeline]:
    """Open what judges; the documents are searchable then, unless they need not be at the start."""
    async with (
        worker_components.open_scorer(settings, metrics, scorer_options(settings)) as scorer,
        worker_components.open_worker_translation(settings, metrics) as translation,
        open_on_demand_retriever(documents, settings) as retrieval,
        worker_components.open_cascade(
            settings, metrics, stages, lambda: _SINGLE_PARTITION, policies
        ) as ask_judges,
    ):
        if retrieval and not settings.retrieval.ready_before_complete:
            health.set_waiting_for("the index of the documents")
            await _wait_until_indexed(retrieval, stopping)
        given = StaticDocuments.of(documents)
        yield worker_components.build_pipeline(
            settings,
            pause_state,
            given,
            scorer,
            translation,
            retrieval,
            ask_judges,
            metrics,
            stages,
            policies=policies,
        )


async def _wait_until_indexed(retrieval: OnDemandRetriever, stopping: asyncio.Event) -> None:
    opening = asyncio.ensure_future(retrieval.open())
    await wait_for_first(opening, stopping.wait())
    if opening.done():
        opening.result()
    else:
        opening.cancel()


def _end_at_once(failure: InfrastructureFailure) -> None:
    log.critical("server_ends", reason=str(failure), exit_code=failure.exit_code)
    end_process(failure.exit_code)


def _tell_stop(name: str) -> None:
    log.info("server_stops", signal=name)
