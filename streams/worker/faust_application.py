"""The Faust application: what it consumes, and the agent that hands it on."""

import logging
from collections.abc import Callable
from typing import Any

import faust
from faust.events import Event
from faust.streams import Stream
from faust.types import StreamT

from streams.delivery.faust_consumer import SafeConsumer, SafeTransport
from streams.delivery.publisher import max_settling_seconds
from streams.kafka.consumer_groups import client_id
from streams.kafka.kafka_clients import faust_broker_credentials, faust_broker_urls
from streams.kafka.topics import Topics
from streams.pipeline.intake import Intake
from streams.settings import Settings

#: A worker whose buffers were full for longer than this would leave its group and stay alive in
#: silence. So it is never reached: the health check is what ends a worker that does not get on.
_MAX_POLL_INTERVAL_SECONDS = 7 * 24 * 3600.0
_REQUEST_TIMEOUT_SECONDS = 90.0
_BUFFERED_MESSAGES = 256
#: Partitions that were added are noticed within this; the alert on a time without a commit is slower.
_METADATA_MAX_AGE_MS = 60_000
#: What a worker that is killed was given longer ago than this is not delivered again.
_COMMIT_INTERVAL_SECONDS = 1.0
#: Fewer than the buffer holds, so that the records of one poll fit into it.
_MAX_POLL_RECORDS = 200


class PrivateEvent(Event):
    """An event whose representation has no key and no value: Faust puts it into log lines."""

    def __repr__(self) -> str:
        """Name the message by its place in the topic."""
        return f"<{type(self).__name__}: {self.message.tp} offset={self.message.offset}>"


class TruthgateApp(faust.App):
    """A Faust application that reports its crashes instead of staying alive with a dead part."""

    #: Faust's own lines keep its name: at the level of its others, and never under ours.
    logger = logging.getLogger("faust")

    #: Called with the reason when any service of the application crashes.
    on_crash: Callable[[BaseException], None] | None = None

    def _crash(self, reason: BaseException) -> None:
        super()._crash(reason)
        if self.on_crash:
            self.on_crash(reason)


def create_app(
    settings: Settings, topics: Topics, intake: Intake, on_rebalance: Callable[[], None]
) -> TruthgateApp:
    """Build the application that reads ``answers`` and hands every message to ``intake``.

    ``on_rebalance`` is called whenever the worker is given its partitions.

    Messages stay raw bytes until they are in work: a message that Faust cannot decode would be
    acknowledged before any of our code sees it. Topics are never declared or created from here.
    """
    flow = settings.flow
    app = TruthgateApp(
        settings.kafka.consumer_group,
        broker=faust_broker_urls(settings.kafka),
        broker_credentials=faust_broker_credentials(settings.kafka),
        broker_client_id=client_id(settings.kafka),
        consumer_group_instance_id=settings.kafka.group_instance_id,
        processing_guarantee="at_least_once",
        key_serializer="raw",
        value_serializer="raw",
        topic_allow_declare=False,
        topic_disable_leader=True,
        store="memory://",
        datadir=settings.documents.store / "faust",
        Event=PrivateEvent,
        web_enabled=False,
        broker_commit_interval=_COMMIT_INTERVAL_SECONDS,
        broker_commit_every=500,
        broker_session_timeout=flow.session_timeout_seconds,
        broker_heartbeat_interval=min(3.0, flow.session_timeout_seconds / 3),
        broker_rebalance_timeout=max_settling_seconds(settings),
        broker_request_timeout=max(_REQUEST_TIMEOUT_SECONDS, flow.session_timeout_seconds),
        broker_max_poll_interval=_MAX_POLL_INTERVAL_SECONDS,
        broker_max_poll_records=_MAX_POLL_RECORDS,
        stream_buffer_maxsize=_BUFFERED_MESSAGES,
        stream_wait_empty=True,
        consumer_auto_offset_reset="earliest",
        consumer_metadata_max_age_ms=_METADATA_MAX_AGE_MS,
        consumer_max_fetch_size=max(1_048_576, 2 * settings.encoding.max_value_bytes),
    )
    app.transport = SafeTransport(app.conf.broker_consumer, app)
    answers = app.topic(topics.answers, key_serializer="raw", value_serializer="raw")

    @app.agent(answers, name="judge-answers")
    async def judge_answers(stream: StreamT[bytes]) -> None:
        consumer = app.consumer
        assert isinstance(consumer, SafeConsumer)
        assert isinstance(stream, Stream)
        async for event in stream.noack().events():
            await intake.accept(event.message, consumer)

    async def partitions_assigned(*_: Any, **__: Any) -> None:
        on_rebalance()

    app.on_partitions_assigned.connect(partitions_assigned, weak=False)
    return app
