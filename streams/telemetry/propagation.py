"""The trace context that travels in the headers of records (W3C Trace Context).

What comes in is a stranger's: anything that is not exactly one valid ``traceparent`` counts as none, and a
``tracestate`` that is not valid is left out.
"""

from __future__ import annotations

from opentelemetry.context import Context
from opentelemetry.propagators.textmap import Getter
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from streams.kafka.received import Headers

_PARENT, _STATE = "traceparent", "tracestate"
_FIELDS = frozenset({_PARENT, _STATE})
#: W3C Trace Context asks for no more of a ``tracestate``, and its ``traceparent`` has 55 characters.
_MOST_BYTES = 512

_propagator = TraceContextTextMapPropagator()


class _Reader(Getter[Headers]):
    """Reads headers as the propagator wants them."""

    def get(self, carrier: Headers, key: str) -> list[str] | None:
        found = [value for name, value in carrier if name == key]
        repeated = len(found) > 1 and key == _PARENT
        if not found or repeated or sum(map(len, found)) > _MOST_BYTES:
            return None
        if not all(value.isascii() for value in found):
            return None
        return [value.decode("ascii") for value in found]

    def keys(self, carrier: Headers) -> list[str]:
        return [name for name, _ in carrier]


_reader = _Reader()


def context_of(headers: Headers) -> Context | None:
    """Return the context that a record came with, or None where it has none that is valid."""
    if not any(name == _PARENT for name, _ in headers):
        return None
    return _propagator.extract(headers, Context(), _reader) or None


def with_current(headers: Headers) -> Headers:
    """Return the headers with the context of the current span in the place of theirs, if they have any."""
    carrier: dict[str, str] = {}
    _propagator.inject(carrier)
    others = tuple((name, value) for name, value in headers if name not in _FIELDS)
    return (*others, *((name, value.encode()) for name, value in carrier.items()))
