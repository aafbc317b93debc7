"""What counts of a verdict is read without its texts and features, and agrees with the whole verdict."""

import time
from contextlib import suppress
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import Codec, DecodeError, KnowledgeDocument, Verdict
from schemas.catalogue import VERDICT_OUTCOME, VerdictOutcome, current_schema, released_schemas
from schemas.codec import CONFLUENT, write_record
from tests.support.ports import NOBODY
from tests.support.record_strategies import verdicts

CODEC = Codec()
NAMES = [field.name for field in fields(VerdictOutcome)]


def _outcome(verdict: Verdict) -> VerdictOutcome:
    return VerdictOutcome(**{name: getattr(verdict, name) for name in NAMES})


@given(verdicts)
def test_it_has_the_values_of_the_whole_verdict(verdict):
    assert CODEC.decode_projection(CODEC.encode(verdict), VERDICT_OUTCOME) == _outcome(verdict)


@given(verdicts)
def test_it_is_read_from_the_wire_format_of_a_registry_too(verdict):
    codec = Codec(f"http://{NOBODY}")
    codec._fetched[7] = current_schema(Verdict)
    value = write_record(verdict, CONFLUENT + (7).to_bytes(4, "big"))
    assert codec.decode_projection(value, VERDICT_OUTCOME) == _outcome(verdict)


@given(verdicts, st.data())
def test_a_damaged_verdict_gives_an_outcome_or_a_refusal(verdict, data):
    value = bytearray(CODEC.encode(verdict))
    for _ in range(data.draw(st.integers(1, 4))):
        value[data.draw(st.integers(0, len(value) - 1))] = data.draw(st.integers(0, 255))
    began = time.thread_time()
    with suppress(DecodeError):
        assert isinstance(CODEC.decode_projection(bytes(value), VERDICT_OUTCOME), VerdictOutcome)
    assert time.thread_time() - began < 1


@given(verdicts, st.data())
def test_a_verdict_cut_short_is_refused(verdict, data):
    value = CODEC.encode(verdict)
    with pytest.raises(DecodeError):
        CODEC.decode_projection(value[: data.draw(st.integers(0, len(value) - 1))], VERDICT_OUTCOME)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (None, "null_value"),
        (b"", "empty_value"),
        (b'{"verdict_id": "v"}', "unknown_format"),
        (b"\xc3\x01" + current_schema(KnowledgeDocument).fingerprint, "wrong_record"),
        (b"\xc3\x01" + current_schema(Verdict).fingerprint, "truncated"),
        (b"\xc3\x01" + bytes(8), "unknown_fingerprint"),
    ],
)
def test_what_is_no_verdict_is_refused_with_a_code(value, code):
    with pytest.raises(DecodeError) as caught:
        CODEC.decode_projection(value, VERDICT_OUTCOME)
    assert caught.value.code == code


def test_every_released_verdict_has_the_fields():
    for schema in released_schemas(Verdict).values():
        assert set(NAMES) <= {field["name"] for field in schema.parsed["fields"]}
