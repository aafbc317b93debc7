"""What an HTTP status means for a request to a judge."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.llm.endpoints.faults import Fault, NotAnswered
from streams.llm.endpoints.statuses import not_answered, retry_after

NOW = datetime(2026, 3, 2, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        (301, Fault.REDIRECTED),
        (307, Fault.REDIRECTED),
        (400, Fault.REJECTED),
        (401, Fault.UNAUTHORIZED),
        (403, Fault.UNAUTHORIZED),
        (402, Fault.QUOTA_SPENT),
        (404, Fault.NOT_FOUND),
        (408, Fault.TIMEOUT),
        (413, Fault.TOO_LONG),
        (418, Fault.REJECTED),
        (422, Fault.REJECTED),
        (429, Fault.RATE_LIMITED),
        (500, Fault.SERVER_ERROR),
        (501, Fault.SERVER_ERROR),
        (503, Fault.SERVER_ERROR),
        (999, Fault.SERVER_ERROR),
    ],
)
def test_each_status_has_a_code(status: int, fault: Fault) -> None:
    assert not_answered(status, {}, b"<html>") == NotAnswered(fault)


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (400, b'{"error": {"code": "context_length_exceeded"}}', NotAnswered(Fault.TOO_LONG)),
        (400, b'{"error": {"type": "exceed_context_size_error"}}', NotAnswered(Fault.TOO_LONG)),
        (400, b'{"message": "This model\'s maximum context length is 4096"}', NotAnswered(Fault.TOO_LONG)),
        (400, b'{"error": {"code": "content_filter"}}', NotAnswered(Fault.FILTERED)),
        (
            400,
            b"Invalid parameter: 'response_format' of type 'json_schema' is not supported",
            NotAnswered(Fault.REJECTED, named=frozenset({"response_format", "json_schema"})),
        ),
        (
            403,
            b"You are not allowed to request logprobs from this model",
            NotAnswered(Fault.REJECTED, named=frozenset({"logprobs"})),
        ),
        (404, b'{"error": "model \'x\' not found, try pulling it first"}', NotAnswered(Fault.UNKNOWN_MODEL)),
        (404, b'{"message": "The model `x` does not exist."}', NotAnswered(Fault.UNKNOWN_MODEL)),
        (404, b'{"detail": "Not Found"}', NotAnswered(Fault.NOT_FOUND)),
        (429, b'{"error": {"code": "insufficient_quota"}}', NotAnswered(Fault.QUOTA_SPENT)),
        (429, b'{"error": {"code": "rate_limit_exceeded"}}', NotAnswered(Fault.RATE_LIMITED)),
        (403, b"You are not allowed", NotAnswered(Fault.UNAUTHORIZED)),
        (500, b"response_format", NotAnswered(Fault.SERVER_ERROR)),
        (400, b"logprobs_of_mine" + b" " * 30_000 + b"seed", NotAnswered(Fault.REJECTED)),
    ],
)
def test_what_an_endpoint_says_tells_more_than_its_status(
    status: int, body: bytes, expected: NotAnswered
) -> None:
    assert not_answered(status, {}, body) == expected


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        ("7", 7),
        ("0.5", 0.5),
        (" 3 ", 3),
        ("Mon, 02 Mar 2026 12:00:20 GMT", 20),
        ("Mon, 02 Mar 2026 12:00:20 -0000", 20),
        ("Mon, 02 Mar 2026 11:00:00 GMT", None),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("1e999", None),
        ("soon", None),
        ("", None),
        ("Mon, 99 Mar 2026 12:00:20 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date_or_nothing(asked: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": asked}, NOW) == seconds


def test_without_a_header_nothing_is_asked_for() -> None:
    assert retry_after({}, NOW) is None


@given(st.integers(100, 999), st.text(), st.binary())
def test_whatever_comes_there_is_a_fault(status: int, asked: str, body: bytes) -> None:
    found = not_answered(status, {"retry-after": asked}, body)
    assert isinstance(found.fault, Fault)
    assert found.retry_after is None or found.retry_after >= 0
