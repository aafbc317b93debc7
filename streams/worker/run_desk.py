"""The process of the review desk."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager, suppress
from functools import partial
from typing import Final

import structlog

from schemas import Codec, Review
from streams.delivery.publisher import Publisher
from streams.desk.decisions import DecisionStore
from streams.desk.desk import Desk
from streams.desk.desk_election import DeskElection
from streams.desk.desk_follower import DeskFollower, desk_topics
from streams.desk.desk_login import DeskLogin
from streams.desk.desk_metrics import DeskMetrics
from streams.desk.desk_pages import MAX_FORM_BYTES, DeskPages
from streams.desk.desk_state import DeskState
from streams.desk.known_answer_publishing import KnownAnswerPublishing
from streams.desk.known_answers_page import KnownAnswersPage
from streams.desk.lead_page import LeadPage
from streams.desk.page_templates import PageTemplates
from streams.desk.policies_page import PoliciesPage
from streams.desk.policy_publishing import PolicyPublishing
from streams.desk.review_publishing import ReviewPublishing
from streams.desk.sessions import Sessions, stored_key
from streams.kafka.kafka_clients import open_producer
from streams.kafka.schema_topic import create_codec
from streams.kafka.topics import Topics, check_topics, message_limits, refuse_wrong_topics
from streams.observability.failures import InfrastructureFailure
from streams.observability.health import Health
from streams.observability.logs import configure_logging
from streams.observability.tracing import otel_resource, otel_setup_errors
from streams.reviews.audit_sample import AuditSample
from streams.reviews.policy_watch import PolicyWatch
from streams.reviews.rating_follower import RatingFollower
from streams.reviews.rating_store import RatingStore, rating_topics
from streams.settings import InvalidSettings, Settings
from streams.storage.directory import lock_directory
from streams.web import create_web_app, page_url, serve
from streams.worker.process_lifetime import (
    end_process,
    failed_start,
    failure_callback,
    send_heartbeats,
    set_first_failure,
    stop_signals,
    wait_for_first,
    watchdog,
)
from streams.worker.shadow import refuse_shadow
from streams.worker.worker_metrics import metric_readers

log = structlog.get_logger(__name__)

#: At the end, Kafka has so long to take what is decided; the rest is published at the next start.
_END_SECONDS: Final = 10.0
_METRICS_END_SECONDS: Final = 2.0


def run_desk(settings: Settings) -> int:
    """Serve the desk until asked to stop; returns the exit code, 0 for a clean stop.

    Raises, where log lines are text for a person:
        InvalidSettings: something is set up wrong, such as a desk for everybody, or a port that is taken.
        ServiceUnreachable: Kafka or the schema registry does not answer at the start.
    """
    configure_logging(settings.log)
    try:
        asyncio.run(_run(settings))
    except Exception as failure:  # noqa: BLE001 - one line says how it ended, such as by a full disk
        failed = failed_start(failure, settings.log)
        log.critical("desk_failed", reason=str(failed), exit_code=failed.exit_code)
        return failed.exit_code
    return 0


async def _run(settings: Settings) -> None:
    refuse_shadow(settings)
    if settings.desk.lacks_access_control:
        raise InvalidSettings(
            f"desk.host {settings.desk.host} needs desk.token, desk.oidc.issuer, or desk.user_header behind "
            "a trusted proxy"
        )
    stopping = stop_signals(_tell_stop)
    health = Health(settings.health.stall_timeout_seconds, settings.health.kafka_timeout_seconds)
    failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    async with AsyncExitStack() as stack:
        metrics = stack.enter_context(_open_metrics(settings))
        desk, state, key = stack.enter_context(_open_desk(settings))
        metrics.watch(desk, health)
        beating = asyncio.create_task(send_heartbeats(health), name="heartbeat")
        stack.callback(beating.cancel)
        stack.enter_context(watchdog(health, settings.health.check_interval_seconds, _end_at_once))
        pages = create_web_app(health, metrics.registry, max_request_bytes=MAX_FORM_BYTES)
        templates = PageTemplates()
        login = DeskLogin(desk, Sessions(key, settings.desk), settings.desk, templates)
        desk_pages = DeskPages(desk, login, templates)
        desk_pages.add_to(pages)
        LeadPage(desk_pages, state).add_to(pages)
        topics, codec = Topics(settings.kafka.topic_prefix), create_codec(settings)
        ratings = stack.enter_context(closing(RatingStore(settings.desk.store, codec)))
        watch = _policy_watch(settings, desk, ratings, state.sample, metrics)
        policies = PolicyPublishing(watch.state, topics.policies)
        PoliciesPage(desk_pages, login, watch, policies, state.sample.share).add_to(pages)
        known_answers = KnownAnswerPublishing(desk, state, topics.known_answers)
        if desk.known_answers:
            KnownAnswersPage(desk_pages, login, state, known_answers).add_to(pages)
        port = await stack.enter_async_context(serve(pages, settings.desk, "desk"))
        log.info("desk_starts", port=port)
        await _check(settings, state, codec)
        if settings.desk.standby:  # at the end it gives way after it has published what is decided
            election = DeskElection(settings.kafka, desk)
            await stack.enter_async_context(_running(election.run(), failed))
        publisher = policies.publisher = await stack.enter_async_context(_open_publisher(settings))
        publishing = await stack.enter_async_context(
            _open_publishing(settings, desk, codec, publisher, metrics)
        )
        works = [DeskFollower(settings.kafka, codec, state, desk).run(), publishing.run(), watch.follow()]
        if desk.known_answers:
            works.append(known_answers.run(publisher))
        if state.sample.share:
            follower = RatingFollower(settings.kafka, codec, ratings, watch.note_ratings)
            works += [_follow_ratings(follower, desk), watch.run(publisher)]
        for work in works:
            await stack.enter_async_context(_running(work, failed))
        health.add_impairment_check(lambda: desk.problem)
        address = page_url(settings.desk.host, port)
        await wait_for_first(stopping.wait(), failed, _show_readiness(desk, health, address))
        health.set_waiting_for("the end")
    if failed.done():
        failed.result()
    log.info("desk_stopped")


@contextmanager
def _open_metrics(settings: Settings) -> Iterator[DeskMetrics]:
    with otel_setup_errors():
        metrics = DeskMetrics(otel_resource(settings), metric_readers(settings.telemetry))
    try:
        yield metrics
    finally:
        metrics.close(_METRICS_END_SECONDS)


@contextmanager
def _open_desk(settings: Settings) -> Iterator[tuple[Desk, DeskState, bytes]]:
    """Open what the desk stores; raises InvalidSettings, InfrastructureFailure."""
    folder = settings.desk.store
    with lock_directory(folder, "desk.lock", "desk.store"):
        key = settings.desk.audit_key
        audit_key = key.get_secret_value().encode() if key else stored_key(folder, "audit")
        sample = AuditSample(audit_key, settings.desk.audit_share)
        state = DeskState(folder, settings.desk, sample, known_answers=settings.policy.known_answers)
        try:
            decisions = DecisionStore(folder)
            try:
                yield Desk(state, decisions, settings), state, stored_key(folder, "session")
            finally:
                decisions.close()
        finally:
            state.close()


async def _check(settings: Settings, state: DeskState, codec: Codec) -> None:
    topics = Topics(settings.kafka.topic_prefix)
    used = {*desk_topics(topics, state), *rating_topics(topics), topics.schemas, topics.known_answers}
    checks = await check_topics(settings, any_partitions=True)
    refuse_wrong_topics([each for each in checks if each.spec.name in used])
    await codec.prepare(Review)


def _policy_watch(
    settings: Settings, desk: Desk, ratings: RatingStore, sample: AuditSample, metrics: DeskMetrics
) -> PolicyWatch:
    """Return the watch on what the policy sends: the active desk withdraws it."""
    watch = PolicyWatch(
        settings.kafka,
        ratings,
        sample,
        settings.desk.blocked_time_limit_seconds,
        withdraws_on_drift=settings.desk.withdraw_on_drift,
        is_active=lambda: not desk.stands_by,
        on_withdrawn=metrics.policy_withdrawals.add,
    )
    metrics.watch_policy(watch)
    return watch


@asynccontextmanager
async def _open_publisher(settings: Settings) -> AsyncIterator[Publisher]:
    limit = message_limits(settings).input
    async with open_producer(settings.kafka, max_request_size=limit) as producer:
        yield Publisher(producer, settings.kafka.delivery_timeout_seconds)


@asynccontextmanager
async def _open_publishing(
    settings: Settings, desk: Desk, codec: Codec, publisher: Publisher, metrics: DeskMetrics
) -> AsyncIterator[ReviewPublishing]:
    """Open what publishes reviews; at the end, what could still be undone is published too."""
    topic = Topics(settings.kafka.topic_prefix).reviews
    publishing = ReviewPublishing(desk, codec, publisher, topic, metrics.count)
    try:
        yield publishing
    finally:
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                await publishing.publish_all()


@asynccontextmanager
async def _running(work: Coroutine[None, None, None], failed: asyncio.Future[None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    task.add_done_callback(failure_callback(partial(set_first_failure, failed)))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _follow_ratings(follower: RatingFollower, desk: Desk) -> None:
    """Follow once the desk has read its own: it decodes the same verdicts, and reviewers wait for that."""
    while True:
        changed = desk.changes.next
        if desk.caught_up:
            break
        await changed.wait()
    await follower.run()


async def _show_readiness(desk: Desk, health: Health, address: str) -> None:
    """Be ready while the desk gives answers out, without end."""
    was_ready = False
    while True:
        changed = desk.changes.next
        waits_for = "its turn: another desk is active" if desk.caught_up else "the verdicts and reviews"
        health.set_waiting_for(None if desk.is_ready else waits_for)
        if desk.is_ready and not was_ready:
            log.info("desk_ready", address=address)
        was_ready = desk.is_ready
        await changed.wait()


def _end_at_once(failure: InfrastructureFailure) -> None:
    log.critical("desk_ends", reason=str(failure), exit_code=failure.exit_code)
    end_process(failure.exit_code)


def _tell_stop(name: str) -> None:
    log.info("desk_stops", signal=name)
