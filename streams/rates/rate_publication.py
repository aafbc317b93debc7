"""Publications of a leader: one transaction each, with its trace."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from aiokafka import AIOKafkaProducer
from opentelemetry.context import Context
from opentelemetry.trace import Link, SpanKind, get_current_span

from schemas import Codec, RateAlert, RateWindow
from schemas.records import rfc3339
from streams.kafka.consumer_groups import client_id
from streams.kafka.kafka_clients import open_producer
from streams.kafka.kafka_records import Headers, published_headers
from streams.kafka.topics import Topics
from streams.observability import span_attributes as messaging
from streams.observability.span_attributes import extract_context, inject_context
from streams.observability.stages import managed_span
from streams.observability.tracing import Tracing
from streams.settings import KafkaSettings, Settings

#: The SDK's limit of links of one span; a person reads no more.
_MAX_LINKS = 128


class PublicationTraces:
    """Traces each publication as a span ``send`` and the topic, linked to the verdicts behind it.

    A publication without traced verdicts has no span. Without tracing nothing is stored.
    """

    def __init__(self, settings: KafkaSettings, tracing: Tracing) -> None:
        self._client = client_id(settings)
        self._tracer = tracing.tracer
        self._links: list[Link] = []
        self._records = 0

    def add_source(self, headers: Headers) -> None:
        """Add a verdict by the headers of its record; only the first 128 are linked."""
        if self._tracer is None:
            return
        self._records += 1
        if len(self._links) < _MAX_LINKS and (context := extract_context(headers)) is not None:
            found = get_current_span(context).get_span_context()
            if found.trace_flags.sampled:
                self._links.append(Link(found))

    def clear(self) -> None:
        """Clear the verdicts, such as those that are read again after a failure."""
        self._links, self._records = [], 0

    @contextmanager
    def send(self, topic: str, messages: int) -> Iterator[Headers]:
        """Trace the block as the sending of that many messages; yield the headers for them.

        The verdicts are cleared on success; a publication that fails is retried with them.
        """
        if self._tracer is None or not self._links:
            self._records = 0
            yield ()
            return
        attributes = messaging.send_batch_attributes(topic, messages, self._client)
        attributes["truthgate.records"] = self._records
        span = self._tracer.start_span(
            f"send {topic}", Context(), SpanKind.PRODUCER, attributes, links=tuple(self._links)
        )
        with managed_span(span):
            yield inject_context(())
            self.clear()


ALL = "all"
#: The brokers abort a transaction that is open for longer; readers of committed records wait until then.
_TRANSACTION_MS = 30_000
#: The producer of a transaction that takes longer is given up.
_PUBLISH_SECONDS = 20.0
#: The limit of the topics of rates; see ``truthgate topics create``.
_MAX_REQUEST_BYTES = 2 * 1024 * 1024
#: Records that are encoded before the event loop runs other tasks.
_SLICE = 100


@dataclass(frozen=True, slots=True)
class Publication:
    """What is published in one transaction; the next leader resumes from ``state`` (keys and values)."""

    windows: Sequence[RateWindow]
    alerts: Sequence[RateAlert]
    state: Sequence[tuple[bytes, bytes | None]]


@dataclass(frozen=True, eq=False)
class RatePublisher:
    """Publishes under a transactional id; a later producer with that id fences this one.

    Args:
        producer: started, with the transactional id.
        topics: the topics of the deployment.
        codec: prepared for the records.
        traces: traces the publications.
    """

    producer: AIOKafkaProducer
    topics: Topics
    codec: Codec
    traces: PublicationTraces

    async def publish(self, publication: Publication) -> None:
        """Commit a publication, or raise; after that its outcome is unknown, and this publisher unusable.

        Raises KafkaError (ProducerFenced when another one leads), TimeoutError.
        """
        windows = len(publication.windows)
        async with asyncio.timeout(_PUBLISH_SECONDS):
            with self.traces.send(self.topics.rates, messages=windows) as trace:
                await self.producer.begin_transaction()
                await self._send_all(publication, trace)
                await self.producer.commit_transaction()

    async def _send_all(self, publication: Publication, trace: Headers) -> None:
        sent: list[asyncio.Future[object]] = []
        for number, record in enumerate(self._records(publication, trace), start=1):
            sent.append(await self.producer.send(**record))
            sent[-1].add_done_callback(_note_failure)
            if number % _SLICE == 0:
                await asyncio.sleep(0)
        await asyncio.gather(*sent)

    def _records(self, publication: Publication, trace: Headers) -> Iterator[dict[str, object]]:
        for window in publication.windows:
            yield {
                "topic": self.topics.rates,
                "key": window.message_type.encode(),
                "value": self.codec.encode(window),
                "headers": [*_window_headers(window), *trace],
            }
        for alert in publication.alerts:
            yield {
                "topic": self.topics.rate_alerts,
                "key": (alert.message_type or ALL).encode(),
                "value": self.codec.encode(alert),
                "headers": [*_alert_headers(alert), *trace],
            }
        for key, value in publication.state:
            yield {"topic": self.topics.rates_state, "key": key, "value": value, "partition": 0}


@asynccontextmanager
async def open_rate_publisher(
    settings: Settings, codec: Codec, publications: PublicationTraces
) -> AsyncIterator[RatePublisher]:
    """Open the only publisher of the deployment; it fences the last one, and aborts its open transaction.

    Raises ServiceUnreachable.
    """
    options = {
        # With the prefix: deployments on one cluster may share the name of the group.
        "transactional_id": f"{settings.kafka.topic_prefix}{settings.kafka.consumer_group}.rates",
        "transaction_timeout_ms": _TRANSACTION_MS,
        "request_timeout_ms": int(_PUBLISH_SECONDS * 1000),
        "max_request_size": _MAX_REQUEST_BYTES,
    }
    async with open_producer(settings.kafka, **options) as producer:
        yield RatePublisher(producer, Topics(settings.kafka.topic_prefix), codec, publications)


def _note_failure(sent: asyncio.Future[object]) -> None:
    # The first failure is raised; asyncio would warn about the others.
    if not sent.cancelled():
        sent.exception()


def _window_headers(window: RateWindow) -> Headers:
    # The id has the counts, since a window that is published again has others. The time is that of events:
    # the same counts are the same event, whichever worker publishes them.
    place = f"{rfc3339(window.window_start)}/{rfc3339(window.window_end)}"
    counts = f"{window.answers}.{window.scored}.{window.hallucinated}.{window.late}.{int(window.final)}"
    window_id = f"{window.message_type}/{window.language or ''}/{place}/{counts}"
    return published_headers(window_id, window, subject=window.message_type, time=window.window_end)


def _alert_headers(alert: RateAlert) -> Headers:
    alert_id = f"{alert.alert_id}/{alert.status}"
    return published_headers(alert_id, alert, subject=alert.alert_id, time=alert.window_end)
