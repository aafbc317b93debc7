"""The trace of a publication that many records have led to: one span, with links to theirs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry.context import Context
from opentelemetry.trace import Link, SpanKind, get_current_span

from streams.kafka.instance import client_id
from streams.kafka.received import Headers
from streams.settings import KafkaSettings
from streams.telemetry import messaging
from streams.telemetry.propagation import context_of, with_current
from streams.telemetry.stages import ended_span
from streams.telemetry.tracing import Tracing

#: What the SDK keeps of the links of one span, and a person reads.
_MOST_LINKS = 128


class Publications:
    """Notes whose records a publication rests on, and shows each publication as ``send`` and the topic.

    One that rests on no record that is traced is no trace of its own. Nothing is noted where nothing is
    traced.
    """

    def __init__(self, settings: KafkaSettings, tracing: Tracing) -> None:
        self._client = client_id(settings)
        self._tracer = tracing.tracer
        self._links: list[Link] = []
        self._records = 0

    def rests_on(self, headers: Headers) -> None:
        """Note a record by its headers; of more than a hundred or so only the first are linked."""
        if self._tracer is None:
            return
        self._records += 1
        if len(self._links) < _MOST_LINKS and (context := context_of(headers)) is not None:
            found = get_current_span(context).get_span_context()
            if found.trace_flags.sampled:
                self._links.append(Link(found))

    def forget(self) -> None:
        """Forget the records that were noted, such as those that are read anew after a failure."""
        self._links, self._records = [], 0

    @contextmanager
    def send(self, topic: str, messages: int) -> Iterator[Headers]:
        """Show what is inside as the sending of that many messages; gives the headers that go with them.

        What it rests on is forgotten when it succeeds; a publication that fails is tried again with it.
        """
        if self._tracer is None or not self._links:
            self._records = 0
            yield ()
            return
        described = messaging.sending_batch(topic, messages, self._client)
        described["truthgate.records"] = self._records
        span = self._tracer.start_span(
            f"send {topic}", Context(), SpanKind.PRODUCER, described, links=tuple(self._links)
        )
        with ended_span(span):
            yield with_current(())
            self.forget()
