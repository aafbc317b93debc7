"""What an HTTP status means for a request to a judge."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.llm.endpoints.faults import EndpointFault, NoReply, no_reply_from_status, retry_after

NOW = datetime(2026, 3, 2, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        (301, EndpointFault.REDIRECTED),
        (307, EndpointFault.REDIRECTED),
        (400, EndpointFault.REJECTED),
        (401, EndpointFault.UNAUTHORIZED),
        (403, EndpointFault.UNAUTHORIZED),
        (402, EndpointFault.QUOTA_SPENT),
        (404, EndpointFault.NOT_FOUND),
        (408, EndpointFault.TIMEOUT),
        (413, EndpointFault.TOO_LONG),
        (418, EndpointFault.REJECTED),
        (422, EndpointFault.REJECTED),
        (429, EndpointFault.RATE_LIMITED),
        (500, EndpointFault.SERVER_ERROR),
        (501, EndpointFault.SERVER_ERROR),
        (503, EndpointFault.SERVER_ERROR),
        (999, EndpointFault.SERVER_ERROR),
    ],
)
def test_each_status_has_a_code(status, fault):
    assert no_reply_from_status(status, {}, b"<html>") == NoReply(fault)


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (400, b'{"error": {"code": "context_length_exceeded"}}', NoReply(EndpointFault.TOO_LONG)),
        (400, b'{"error": {"type": "exceed_context_size_error"}}', NoReply(EndpointFault.TOO_LONG)),
        (
            400,
            b'{"message": "This model\'s maximum context length is 4096"}',
            NoReply(EndpointFault.TOO_LONG),
        ),
        (400, b'{"error": {"code": "content_filter"}}', NoReply(EndpointFault.FILTERED)),
        (
            400,
            b"Invalid parameter: 'response_format' of type 'json_schema' is not supported",
            NoReply(
                EndpointFault.REJECTED, rejected_parameters=frozenset({"response_format", "json_schema"})
            ),
        ),
        (
            403,
            b"You are not allowed to request logprobs from this model",
            NoReply(EndpointFault.REJECTED, rejected_parameters=frozenset({"logprobs"})),
        ),
        (
            404,
            b'{"error": "model \'x\' not found, try pulling it first"}',
            NoReply(EndpointFault.UNKNOWN_MODEL),
        ),
        (404, b'{"message": "The model `x` does not exist."}', NoReply(EndpointFault.UNKNOWN_MODEL)),
        (404, b'{"detail": "Not Found"}', NoReply(EndpointFault.NOT_FOUND)),
        (429, b'{"error": {"code": "insufficient_quota"}}', NoReply(EndpointFault.QUOTA_SPENT)),
        (429, b'{"error": {"code": "rate_limit_exceeded"}}', NoReply(EndpointFault.RATE_LIMITED)),
        (403, b"You are not allowed", NoReply(EndpointFault.UNAUTHORIZED)),
        (500, b"response_format", NoReply(EndpointFault.SERVER_ERROR)),
        (400, b"logprobs_of_mine" + b" " * 30_000 + b"seed", NoReply(EndpointFault.REJECTED)),
    ],
)
def test_what_an_endpoint_says_tells_more_than_its_status(status, body, expected):
    assert no_reply_from_status(status, {}, body) == expected


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
def test_retry_after_is_seconds_or_a_date_or_nothing(asked, seconds):
    assert retry_after({"retry-after": asked}, NOW) == seconds


def test_without_a_header_nothing_is_asked_for():
    assert retry_after({}, NOW) is None


@given(st.integers(100, 999), st.text(), st.binary())
def test_whatever_comes_there_is_a_fault(status, asked, body):
    found = no_reply_from_status(status, {"retry-after": asked}, body)
    assert isinstance(found.fault, EndpointFault)
    assert found.retry_after is None or found.retry_after >= 0
