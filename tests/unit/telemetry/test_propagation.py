"""The trace context of a record: continued where it is valid, and nothing where it is anything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, get_current_span, use_span

from streams.observability.span_attributes import extract_context, inject_context

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
VALID = f"00-{TRACE}-{SPAN}-01".encode()


def test_a_valid_context_is_continued_with_its_state():
    context = extract_context((("traceparent", VALID), ("tracestate", b"a=1,b=2"), ("other", b"x")))
    assert context is not None
    found = get_current_span(context).get_span_context()
    assert (f"{found.trace_id:032x}", f"{found.span_id:016x}") == (TRACE, SPAN)
    assert found.trace_flags.sampled
    assert found.trace_state.to_header() == "a=1,b=2"


@pytest.mark.parametrize(
    "headers",
    [
        (),
        (("traceparent", b""),),
        (("traceparent", b"garbage"),),
        (("traceparent", b"\xff\xfe\x00"),),
        (("traceparent", VALID + b"0"),),
        (("traceparent", VALID.upper()),),
        (("traceparent", VALID), ("traceparent", VALID)),
        (("traceparent", VALID + b"-" + b"x" * 10_000_000),),
        (("traceparent", f"00-{'0' * 32}-{SPAN}-01".encode()),),
        (("traceparent", f"00-{TRACE}-{'0' * 16}-01".encode()),),
        (("traceparent", f"ff-{TRACE}-{SPAN}-01".encode()),),
        (("tracestate", b"a=1"),),
    ],
)
def test_what_is_not_exactly_one_valid_parent_is_none(headers):
    assert extract_context(headers) is None


@pytest.mark.parametrize(
    "state", [b"", b"x" * 1_000_000, b"\xff", b"no pairs", b"a=1," * 40 + b"b=2", b"a=1,a=2", b"A=\x01"]
)
def test_a_state_that_is_not_valid_leaves_the_parent_as_it_is_and_the_log_empty(state, worker_log):
    context = extract_context((("traceparent", VALID), ("tracestate", state)))
    assert context is not None
    assert f"{get_current_span(context).get_span_context().trace_id:032x}" == TRACE
    assert not worker_log.records


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["traceparent", "tracestate", "baggage", "Traceparent"]),
            st.binary(max_size=600)
            | st.from_regex(r"\A[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-.{0,4}\Z").map(str.encode),
        ),
        max_size=4,
    )
)
def test_no_headers_whatever_fail_and_what_is_sent_on_is_one_valid_context(headers):
    context = extract_context(tuple(headers))
    span = get_current_span(context) if context else _span()
    with use_span(span):
        sent = inject_context(tuple(headers))
    assert [name for name, _ in sent].count("traceparent") == 1
    assert extract_context(sent) is not None
    assert [pair for pair in sent if pair[0] in {"baggage", "Traceparent"}] == [
        pair for pair in headers if pair[0] in {"baggage", "Traceparent"}
    ]


def test_without_a_current_span_no_context_is_sent_and_that_of_before_is_not_either():
    assert inject_context((("traceparent", VALID), ("tracestate", b"a=1"), ("ce_id", b"1"))) == (
        ("ce_id", b"1"),
    )


def _span() -> NonRecordingSpan:
    return NonRecordingSpan(
        SpanContext(int(TRACE, 16), int(SPAN, 16), is_remote=False, trace_flags=TraceFlags(1))
    )
