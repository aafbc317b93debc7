"""The process that judges over HTTP alone.

Answers come by request, documents were read before, and verdicts go back to who asks. Where a cluster is
named it follows the holds on sending there, and publishes its verdicts if it is set so.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import structlog

from schemas import Codec, KnowledgeDocument, RegistryUnreachable
from streams.kafka.clients import ServiceUnreachable
from streams.kafka.topics import Topics, check_topics, refuse_wrong_topics
from streams.observability.failures import InfrastructureFailure
from streams.observability.health import Health
from streams.observability.logs import configure
from streams.observability.stages import Stages
from streams.observability.tracing import open_tracing
from streams.pause.board import HoldBoard
from streams.pipeline.context import GivenDocuments
from streams.pipeline.intake import OutcomePublisher
from streams.pipeline.pipeline import Pipeline
from streams.pipeline.traces import AnswerTraces
from streams.scorers.options import scorer_options
from streams.search.on_demand import OnDemandRetriever, retriever_on_demand
from streams.settings import Settings, WrongSettings
from streams.web import address_of, create_pages, serve
from streams.web.verdicts import Verdicts
from streams.worker import parts
from streams.worker.lifetime import beat, end_process, first, stop_signals, watchdog
from streams.worker.metrics import Metrics, open_metrics

log = structlog.get_logger(__name__)

_LOOPBACK = "127.0.0.1"
#: There are no partitions to share anything with: as if all answers came by one.
_WHOLE = frozenset({0}), 1


def run_server(settings: Settings, documents: Sequence[KnowledgeDocument]) -> int:
    """Judge over HTTP until asked to stop; returns the exit code, 0 for a clean stop.

    Args:
        settings: as :func:`for_serving` gives them.
        documents: what answers are judged against that bring no context of their own.

    Raises:
        WrongSettings: something is set up wrong, such as a port that is taken.
        ServiceUnreachable: a cluster is named, or a schema registry, and does not answer at the start.
    """
    configure(settings.log)
    try:
        asyncio.run(_run(settings, documents))
    except InfrastructureFailure as failure:
        log.critical("server_failed", reason=str(failure), exit_code=failure.exit_code)
        return failure.exit_code
    except RegistryUnreachable as failure:
        raise ServiceUnreachable(str(failure)) from failure
    return 0


def for_serving(settings: Settings, *, from_kafka: bool = False) -> Settings:
    """Give the settings to serve with: where nobody has to show a token, this machine alone may ask.

    ``from_kafka``: who takes the documents of a cluster names it by that.

    Raises:
        WrongSettings: the address is chosen, everybody may reach it, and nobody said that they may ask; or
            verdicts are to be published nowhere.
    """
    web = settings.web
    if from_kafka:
        settings = settings.changed("kafka", {"bootstrap_servers": settings.kafka.bootstrap_servers})
    if web.verdicts.publish and not settings.kafka.named:
        raise WrongSettings("web.verdicts.publish needs kafka.bootstrap_servers")
    if web.judges_for_anybody:
        if "host" in web.model_fields_set:
            raise WrongSettings(
                f"web.host {web.host} needs web.verdicts.token, or web.verdicts.anonymous where everybody "
                "who reaches it may ask"
            )
        settings = settings.changed("web", {"host": _LOOPBACK})
    # What is shared out among the answers in work, such as who may wait for a judge, is so by these.
    return settings.changed("flow", {"max_in_flight": web.verdicts.max_in_flight})


async def _run(settings: Settings, documents: Sequence[KnowledgeDocument]) -> None:
    stopping = stop_signals(_tell_stop)
    health = Health(settings.health.stall_timeout_seconds, settings.health.kafka_timeout_seconds)
    failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    fail = partial(_fail, failed)
    async with AsyncExitStack() as stack:
        metrics = stack.enter_context(open_metrics(settings))
        metrics.process.ready.show(lambda: health.not_ready is None)
        tracing = await stack.enter_async_context(open_tracing(settings))
        traces = AnswerTraces(settings, tracing, metrics.answers.observe_stage)
        beating = asyncio.create_task(beat(health), name="heartbeat")
        stack.callback(beating.cancel)
        stack.enter_context(watchdog(health, settings.health.check_interval_seconds, _end_at_once))
        pages = create_pages(health, metrics.registry)
        verdicts = Verdicts(settings, metrics.answers, metrics.requests, traces, fail)
        verdicts.add_to(pages)
        port = await stack.enter_async_context(serve(pages, settings.web))
        log.info("server_starts", port=port)
        board = HoldBoard() if settings.kafka.named else None
        if board:
            health.waits_for("the holds on sending")
            await stack.enter_async_context(parts.holds(settings, board, metrics, fail))
            health.may_be_impaired(board.impairment)
        publisher = await stack.enter_async_context(_publisher(settings, traces))
        way = await stack.enter_async_context(
            _opened(settings, board, documents, metrics, traces.stages, health, stopping)
        )
        async with verdicts.judging(way, stopping.is_set, publisher):
            if not stopping.is_set():
                health.waits_for(None)
                address = address_of(settings.web.host, port)
                log.info("server_ready", address=address, documents=len(documents))
            await first(stopping.wait(), failed)
            health.waits_for("the end")
    if failed.done():
        failed.result()
    log.info("server_stopped")


@asynccontextmanager
async def _publisher(settings: Settings, traces: AnswerTraces) -> AsyncIterator[OutcomePublisher | None]:
    """Open what publishes verdicts, if they are to be published; raises WrongSettings, ServiceUnreachable."""
    if not settings.web.verdicts.publish:
        yield None
        return
    topics = Topics(settings.kafka.topic_prefix)
    checks = await check_topics(settings, any_partitions=True)
    refuse_wrong_topics([each for each in checks if each.spec.name in topics.outputs])
    codec = Codec(settings.encoding.schema_registry_url)
    await codec.prepare()
    async with parts.publisher(settings) as publisher:
        yield OutcomePublisher(codec, publisher, topics, traces)


@asynccontextmanager
async def _opened(
    settings: Settings,
    board: HoldBoard | None,
    documents: Sequence[KnowledgeDocument],
    metrics: Metrics,
    stages: Stages,
    health: Health,
    stopping: asyncio.Event,
) -> AsyncIterator[Pipeline]:
    """Open what judges; the documents are searchable then, unless they need not be at the start."""
    async with (
        parts.assessor(settings, metrics, scorer_options(settings)) as assessor,
        parts.translation(settings, metrics) as translation,
        retriever_on_demand(documents, settings) as retrieval,
        parts.judges(settings, metrics, stages, lambda: _WHOLE) as advise,
    ):
        if retrieval and not settings.retrieval.ready_before_complete:
            health.waits_for("the index of the documents")
            await _indexed(retrieval, stopping)
        given = GivenDocuments.of(documents)
        yield parts.way(settings, board, given, assessor, translation, retrieval, advise, metrics, stages)


async def _indexed(retrieval: OnDemandRetriever, stopping: asyncio.Event) -> None:
    opening = asyncio.ensure_future(retrieval.opened())
    await first(opening, stopping.wait())
    if opening.done():
        opening.result()
    else:
        opening.cancel()


def _fail(failed: asyncio.Future[None], failure: BaseException) -> None:
    if not failed.done():
        failed.set_exception(failure)


def _end_at_once(failure: InfrastructureFailure) -> None:
    log.critical("server_ends", reason=str(failure), exit_code=failure.exit_code)
    end_process(failure.exit_code)


def _tell_stop(name: str) -> None:
    log.info("server_stops", signal=name)
