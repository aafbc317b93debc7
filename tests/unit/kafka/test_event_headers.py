"""Events carry the headers that CloudEvents asks for."""

from __future__ import annotations

from streams.kafka.event_headers import event_headers


def test_an_event_has_the_attributes_that_cloudevents_requires_and_its_content_type() -> None:
    assert event_headers("id-é", "Verdict", "worker") == (
        ("ce_specversion", b"1.0"),
        ("ce_id", "id-é".encode()),
        ("ce_type", b"truthgate.Verdict"),
        ("ce_source", b"/truthgate/worker"),
        ("content-type", b"application/avro"),
    )
