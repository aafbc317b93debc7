"""Attributes of spans about records, by OpenTelemetry's semantic conventions for messaging and Kafka."""

from __future__ import annotations

from typing import Final

from opentelemetry.util.types import AttributeValue

from streams.kafka.received import Received

Attributes = dict[str, AttributeValue]

#: Whoever sends a key may send anything: no identifier is longer.
_IDENTIFIER_CHARACTERS: Final = 256

_SYSTEM: Final = {"messaging.system": "kafka"}


def processing(received: Received, group: str, client_id: str) -> Attributes:
    """Describe the processing of one record."""
    described: Attributes = {
        **_SYSTEM,
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": received.topic,
        "messaging.destination.partition.id": str(received.partition),
        "messaging.kafka.offset": received.offset,
        "messaging.consumer.group.name": group,
        "messaging.client.id": client_id,
        "messaging.message.body.size": len(received.value or b""),
        **_keyed(received.key),
    }
    if received.value is None:
        described["messaging.kafka.message.tombstone"] = True
    return described


def sending(topic: str, key: bytes | None, client_id: str) -> Attributes:
    """Describe the sending of one record."""
    return {
        **_SYSTEM,
        "messaging.operation.name": "send",
        "messaging.operation.type": "send",
        "messaging.destination.name": topic,
        "messaging.client.id": client_id,
        **_keyed(key),
    }


def sending_batch(topic: str, messages: int, client_id: str) -> Attributes:
    """Describe the sending of several records at once."""
    return {**sending(topic, None, client_id), "messaging.batch.message_count": messages}


def written(partition: int, offset: int) -> Attributes:
    """Say where a record that was sent has come to stand."""
    return {"messaging.destination.partition.id": str(partition), "messaging.kafka.offset": offset}


def identifier(value: str | bytes) -> str:
    """Return an identifier as it can be exported: valid UTF-8, and not too long."""
    encoded = value.encode("utf-8", "backslashreplace") if isinstance(value, str) else value
    return encoded[: 4 * _IDENTIFIER_CHARACTERS].decode("utf-8", "backslashreplace")[:_IDENTIFIER_CHARACTERS]


def _keyed(key: bytes | None) -> Attributes:
    return {"messaging.kafka.message.key": identifier(key)} if key is not None else {}
