"""The headers of an event: CloudEvents 1.0 in Kafka's binary mode."""

from __future__ import annotations

from streams.kafka.received import Headers


def event_headers(event_id: str, event_type: str, source: str) -> Headers:
    """Give the headers of an event that is written as Avro.

    Args:
        event_id: the same for an event that is sent again.
        event_type: what it is, without ``truthgate.``, such as the record's name in the schemas.
        source: what of ours sends it.
    """
    return (
        ("ce_specversion", b"1.0"),
        ("ce_id", event_id.encode()),
        ("ce_type", b"truthgate." + event_type.encode()),
        ("ce_source", b"/truthgate/" + source.encode()),
        ("content-type", b"application/avro"),
    )
