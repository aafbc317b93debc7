"""Publishing of records: each send is awaited until all in-sync replicas have the record."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError, RecordListTooLargeError

from streams.delivery.dead_letters import DeadLetter, without_value
from streams.kafka.kafka_records import Headers
from streams.observability.failures import EXIT_SOFTWARE, BadAnswer, InfrastructureFailure, Stage
from streams.observability.instruments import Instruments
from streams.settings import Settings

#: The producer stops retrying after the delivery timeout; this margin covers a producer that does not.
_GRACE_SECONDS = 5.0
_MARGIN_SECONDS = 30.0


def max_send_seconds(delivery_timeout: float) -> float:
    """Return the timeout of one send in seconds."""
    return delivery_timeout + _GRACE_SECONDS


def max_settling_seconds(settings: Settings) -> float:
    """Return the seconds within which everything in progress gets its verdict or dead letter.

    An answer is judged within its timeout from receipt; its verdict may then be refused at the last
    moment, and be followed by a dead letter. Answers queued behind it in its conversation have then timed
    out too, and are only published.
    """
    sends = 2 * max_send_seconds(settings.kafka.delivery_timeout_seconds)
    return settings.flow.answer_timeout_seconds + sends + _MARGIN_SECONDS


#: Errors of the broker, or of the client on its behalf, that concern a single record.
_RECORD_REFUSED = (MessageSizeTooLargeError, RecordListTooLargeError)


class RecordLocation(NamedTuple):
    """The position of a published record."""

    partition: int
    offset: int


class Publisher:
    """Publishes verdicts and dead letters; each send is awaited until the brokers have the record.

    Args:
        producer: a started producer with ``acks=all``.
        delivery_timeout: the timeout of one send in seconds.
        only: the topic of a worker in shadow: whatever else it would write to fails.
    """

    def __init__(self, producer: AIOKafkaProducer, delivery_timeout: float, only: str | None = None) -> None:
        self._producer = producer
        self._only = only
        self._timeout = max_send_seconds(delivery_timeout)

    async def publish(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        partition: int | None = None,
    ) -> RecordLocation:
        """Publish a record and return its position; without a ``partition``, the key determines it.

        Raises:
            BadAnswer: the broker refuses this record, e.g. for its size.
            InfrastructureFailure: the record could not be delivered, or not in time.
        """
        try:
            return await self._send(topic, key, value, headers, partition)
        except _RECORD_REFUSED as error:
            reason = f"{topic} refuses the record of {len(value or b'')} bytes: {error}"
            raise BadAnswer(Stage.PUBLISH, type(error).__name__, reason) from error

    async def publish_dead_letter(self, topic: str, letter: DeadLetter) -> RecordLocation:
        """Publish a dead letter and return its position; one that is too large is sent without its value.

        Raises:
            InfrastructureFailure: it could not be delivered. A dead letter has no fallback, so a
                refusal without the value counts too.
        """
        try:
            return await self._send(topic, letter.key, letter.value, letter.headers)
        except _RECORD_REFUSED:
            letter = without_value(letter)
        try:
            return await self._send(topic, letter.key, letter.value, letter.headers)
        except _RECORD_REFUSED as error:
            raise InfrastructureFailure(
                f"{topic} refuses a dead letter even without its value ({type(error).__name__}): "
                "raise its max.message.bytes"
            ) from error

    async def _send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        partition: int | None = None,
    ) -> RecordLocation:
        if self._only not in (None, topic):
            raise InfrastructureFailure(f"a worker in shadow does not write to {topic}", EXIT_SOFTWARE)
        try:
            async with asyncio.timeout(self._timeout):
                sent = await (await self._producer.send(topic, value, key, partition, headers=list(headers)))
                return RecordLocation(sent.partition, sent.offset)
        except _RECORD_REFUSED:
            raise
        except TimeoutError as error:
            raise InfrastructureFailure(
                f"{topic} did not acknowledge a record within {self._timeout:g} s"
            ) from error
        except KafkaError as error:
            reason = f"{topic} does not accept records: {type(error).__name__}: {error}"
            raise InfrastructureFailure(reason) from error


class KafkaMetrics:
    """Metrics of the connection to the brokers; those of its silence appear after the first answer.

    Attributes:
        rebalances: how often this worker was given its partitions.
    """

    def __init__(self, instruments: Instruments) -> None:
        self._up = instruments.gauge(
            "truthgate.kafka_up",
            "Whether the brokers have answered this worker's requests for group offsets (1), or not for "
            "`health.kafka_timeout_seconds` (0).",
            "The brokers and the network to them; the log line `progress_unknown`.",
        )
        self._silence = instruments.gauge(
            "truthgate.kafka_silence",
            "Time since the brokers last answered a request for this worker's group offsets.",
            "At `health.stall_timeout_seconds` the worker exits; the brokers, the network to them.",
            unit="s",
        )
        self.rebalances = instruments.counter(
            "truthgate.rebalances",
            "Rebalances of the consumer group that gave this worker its partitions. Meanwhile no worker of "
            "the group judges.",
            "Workers that restart or are scaled often; `flow.session_timeout_seconds`; "
            "`kafka.group_instance_id`.",
            unit="{rebalance}",
        )
        self._certificate_end = instruments.gauge(
            "truthgate.kafka_certificate_end",
            "When the client certificate that this worker loaded from `kafka.ssl_certfile` expires, in "
            "seconds since 1970.",
            "Renew the file, and restart the worker: it reads the file at its start.",
            unit="s",
        )

    def watch_certificate(self, end: float | None) -> None:
        """Show when the client certificate expires, in seconds since 1970; nothing for None."""
        self._certificate_end.set_function(lambda: end)

    def watch(self, silence: Callable[[], float | None], is_up: Callable[[], bool]) -> None:
        """Show the values of these functions, called from any thread; nothing while ``silence`` is None."""
        self._silence.set_function(silence)
        self._up.set_function(lambda: None if silence() is None else is_up())
