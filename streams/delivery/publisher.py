"""Every record that leaves the worker: awaited, and acknowledged by all in-sync replicas."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError, RecordListTooLargeError

from streams.delivery.dead_letters import DeadLetter, without_value
from streams.kafka.kafka_records import Headers
from streams.observability.failures import BadAnswer, InfrastructureFailure, Stage
from streams.observability.instruments import Instruments
from streams.settings import Settings

#: The producer gives up by itself after the delivery timeout; this is for when it does not.
_GRACE_SECONDS = 5.0
_MARGIN_SECONDS = 30.0


def max_send_seconds(delivery_timeout: float) -> float:
    """Return the seconds after which one send has failed."""
    return delivery_timeout + _GRACE_SECONDS


def max_settling_seconds(settings: Settings) -> float:
    """Return the seconds within which everything in work has its verdict or dead letter.

    An answer is judged in its time from receipt; its verdict may then be refused at the last
    moment, and be followed by a dead letter. What waits behind it in its conversation is by then
    out of time too, and only published.
    """
    sends = 2 * max_send_seconds(settings.kafka.delivery_timeout_seconds)
    return settings.flow.answer_timeout_seconds + sends + _MARGIN_SECONDS


#: What the broker, or the client on its behalf, answers when this one record is at fault.
_RECORD_REFUSED = (MessageSizeTooLargeError, RecordListTooLargeError)


class RecordLocation(NamedTuple):
    """Where a record has come to stand in its topic."""

    partition: int
    offset: int


class Publisher:
    """Writes verdicts and dead letters, each awaited until the brokers have it.

    Args:
        producer: a started producer with ``acks=all``.
        delivery_timeout: seconds after which one send has failed.
    """

    def __init__(self, producer: AIOKafkaProducer, delivery_timeout: float) -> None:
        self._producer = producer
        self._limit = max_send_seconds(delivery_timeout)

    async def publish(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        partition: int | None = None,
    ) -> RecordLocation:
        """Write one record and wait until it is safe; without a ``partition`` it goes to that of its key.

        Returns:
            Where it stands.

        Raises:
            BadAnswer: the broker refuses this record, for example for its size.
            InfrastructureFailure: it could not be delivered in time, or not at all.
        """
        try:
            return await self._send(topic, key, value, headers, partition)
        except _RECORD_REFUSED as error:
            reason = f"{topic} refuses the record of {len(value or b'')} bytes: {error}"
            raise BadAnswer(Stage.PUBLISH, type(error).__name__, reason) from error

    async def publish_dead_letter(self, topic: str, letter: DeadLetter) -> RecordLocation:
        """Write one dead letter and wait until it is safe; one that does not fit goes without its value.

        Returns:
            Where it stands.

        Raises:
            InfrastructureFailure: it could not be delivered. A dead letter has nowhere else to
                go, so one that is refused without its value counts too.
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
        try:
            async with asyncio.timeout(self._limit):
                sending = await self._producer.send(topic, value, key, partition, headers=list(headers))
                sent = await sending
                return RecordLocation(sent.partition, sent.offset)
        except _RECORD_REFUSED:
            raise
        except TimeoutError as error:
            raise InfrastructureFailure(f"{topic} did not take a record within {self._limit:g} s") from error
        except KafkaError as error:
            raise InfrastructureFailure(
                f"{topic} does not take records: {type(error).__name__}: {error}"
            ) from error


class KafkaMetrics:
    """The instruments of the connection to the brokers; both are shown from their first answer on."""

    def __init__(self, instruments: Instruments) -> None:
        self._up = instruments.gauge(
            "truthgate.kafka_up",
            "Whether the brokers have told this worker how far its group is (1), or not for "
            "`health.kafka_timeout_seconds` (0).",
            "The brokers and the network to them; the log line `progress_unknown`.",
        )
        self._silence = instruments.gauge(
            "truthgate.kafka_silence",
            "Time since the brokers last told this worker how far its group is.",
            "At `health.stall_timeout_seconds` the worker ends itself; the brokers, the network to them.",
            unit="s",
        )

    def watch(self, silence: Callable[[], float | None], is_up: Callable[[], bool]) -> None:
        """Show what these give, called from any thread; nothing while ``silence`` gives None."""
        self._silence.set_function(silence)
        self._up.set_function(lambda: None if silence() is None else is_up())
