"""Span attributes by OpenTelemetry's semantic conventions, and trace context in headers.

The client's address and user agent are not included: both may identify a person. Incoming context is
untrusted: anything but exactly one valid ``traceparent`` is ignored, and so is an invalid ``tracestate``.
"""

from typing import Final

from opentelemetry.context import Context
from opentelemetry.propagators.textmap import Getter
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

from streams.kafka.kafka_records import Headers, ReceivedRecord

Attributes = dict[str, AttributeValue]

#: A sender may use any key; this is the maximum length of an exported identifier.
_IDENTIFIER_CHARACTERS: Final = 256

_SYSTEM: Final = {"messaging.system": "kafka"}


def process_attributes(received: ReceivedRecord, group: str, client_id: str) -> Attributes:
    """Return the attributes of processing one record."""
    attributes: Attributes = {
        **_SYSTEM,
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.destination.name": received.topic,
        "messaging.destination.partition.id": str(received.partition),
        "messaging.kafka.offset": received.offset,
        "messaging.consumer.group.name": group,
        "messaging.client.id": client_id,
        "messaging.message.body.size": len(received.value or b""),
        **_key_attributes(received.key),
    }
    if received.value is None:
        attributes["messaging.kafka.message.tombstone"] = True
    return attributes


def send_attributes(topic: str, key: bytes | None, client_id: str) -> Attributes:
    """Return the attributes of sending one record."""
    return {
        **_SYSTEM,
        "messaging.operation.name": "send",
        "messaging.operation.type": "send",
        "messaging.destination.name": topic,
        "messaging.client.id": client_id,
        **_key_attributes(key),
    }


def send_batch_attributes(topic: str, messages: int, client_id: str) -> Attributes:
    """Return the attributes of sending a batch of records."""
    return {**send_attributes(topic, None, client_id), "messaging.batch.message_count": messages}


def sent_record_attributes(partition: int, offset: int) -> Attributes:
    """Return the attributes of a sent record's position."""
    return {"messaging.destination.partition.id": str(partition), "messaging.kafka.offset": offset}


def exportable_identifier(value: str | bytes) -> str:
    """Return an identifier that can be exported: valid UTF-8 with a maximum length."""
    encoded = value.encode("utf-8", "backslashreplace") if isinstance(value, str) else value
    return encoded[: 4 * _IDENTIFIER_CHARACTERS].decode("utf-8", "backslashreplace")[:_IDENTIFIER_CHARACTERS]


def _key_attributes(key: bytes | None) -> Attributes:
    return {"messaging.kafka.message.key": exportable_identifier(key)} if key is not None else {}


def request_attributes(method: str, route: str, scheme: str) -> Attributes:
    """Return the attributes of one HTTP request."""
    return {"http.request.method": method, "http.route": route, "url.path": route, "url.scheme": scheme}


def response_attributes(status: int, code: str | None) -> Attributes:
    """Return the attributes of an HTTP response; ``code`` is that of its problem, if any."""
    status_code: Attributes = {"http.response.status_code": status}
    return status_code if code is None else {**status_code, "error.type": code}


_PARENT, _STATE = "traceparent", "tracestate"
_FIELDS = frozenset({_PARENT, _STATE})
#: W3C Trace Context requires support for this length of ``tracestate``; ``traceparent`` has 55 characters.
_MAX_HEADER_BYTES = 512

_propagator = TraceContextTextMapPropagator()


class _HeaderGetter(Getter[Headers]):
    """Reads headers for the propagator."""

    def get(self, carrier: Headers, key: str) -> list[str] | None:
        found = [value for name, value in carrier if name == key]
        repeated = len(found) > 1 and key == _PARENT
        if not found or repeated or sum(map(len, found)) > _MAX_HEADER_BYTES:
            return None
        if not all(value.isascii() for value in found):
            return None
        return [value.decode("ascii") for value in found]

    def keys(self, carrier: Headers) -> list[str]:
        return [name for name, _ in carrier]


_header_getter = _HeaderGetter()


def extract_context(headers: Headers) -> Context | None:
    """Return the trace context of a record, or None if it has no valid one."""
    if not any(name == _PARENT for name, _ in headers):
        return None
    return _propagator.extract(headers, Context(), _header_getter) or None


def inject_context(headers: Headers) -> Headers:
    """Return the headers with the current span's context, which replaces theirs."""
    carrier: dict[str, str] = {}
    _propagator.inject(carrier)
    others = tuple((name, value) for name, value in headers if name not in _FIELDS)
    return (*others, *((name, value.encode()) for name, value in carrier.items()))
