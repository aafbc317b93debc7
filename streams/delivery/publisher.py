"""Every record that leaves the worker: awaited, and acknowledged by all in-sync replicas."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError, RecordListTooLargeError

from streams.delivery.dead_letters import DeadLetter, without_value
from streams.delivery.limits import longest_send
from streams.failures import BadAnswer, InfrastructureFailure, Stage
from streams.kafka.received import Headers

#: What the broker, or the client on its behalf, answers when this one record is at fault.
_RECORD_REFUSED = (MessageSizeTooLargeError, RecordListTooLargeError)


class Place(NamedTuple):
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
        self._limit = longest_send(delivery_timeout)

    async def publish(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        partition: int | None = None,
    ) -> Place:
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

    async def bury(self, topic: str, letter: DeadLetter) -> Place:
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
    ) -> Place:
        try:
            async with asyncio.timeout(self._limit):
                sending = await self._producer.send(topic, value, key, partition, headers=list(headers))
                sent = await sending
                return Place(sent.partition, sent.offset)
        except _RECORD_REFUSED:
            raise
        except TimeoutError as error:
            raise InfrastructureFailure(f"{topic} did not take a record within {self._limit:g} s") from error
        except KafkaError as error:
            raise InfrastructureFailure(
                f"{topic} does not take records: {type(error).__name__}: {error}"
            ) from error
