"""Whatever bytes arrive: a record or a DecodeError, at once, without the texts in its message."""

import json
import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas import ChatbotAnswer, Codec, DecodeError
from schemas.catalogue import current_schema, read_schema
from schemas.codec import read_values
from tests.support.record_strategies import ANSWER, answers

CODEC = Codec(json_input=True)
HEADER = b"\xc3\x01" + current_schema(ChatbotAnswer).fingerprint
IDS_AND_TEXTS = b"\x02a\x02c\x02q\x02x"
HUGE = 2**60
SECONDS, BYTES = 10, 2_000_000
"""Bounds for a value of under 100 bytes; the figures seen are 1,000 times smaller."""


def zigzag(number: int) -> bytes:
    """Encode an Avro long (Avro 1.11, "Binary encoding")."""
    rest = ((number << 1) ^ (number >> 63)) & (2**64 - 1)
    encoded = bytearray()
    while rest > 0x7F:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*encoded, rest])


def refusal(body: bytes) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        CODEC.decode(HEADER + body, ChatbotAnswer)
    return caught.value


def decode_or_refuse(value: bytes) -> ChatbotAnswer | DecodeError:
    try:
        return CODEC.decode(value, ChatbotAnswer)
    except DecodeError as error:
        return error


@given(st.binary(max_size=400))
def test_arbitrary_bytes_are_refused(value):
    assert isinstance(decode_or_refuse(value), DecodeError)


@given(st.binary(max_size=400))
@settings(max_examples=500)
def test_arbitrary_bytes_behind_our_header_give_a_record_or_a_refusal(body):
    assert isinstance(decode_or_refuse(HEADER + body), (ChatbotAnswer, DecodeError))


@given(answers, st.data())
@settings(max_examples=500)
def test_a_damaged_record_gives_a_record_or_a_refusal(answer, data):
    value = bytearray(CODEC.encode(answer))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(len(HEADER), len(value)))
        end = data.draw(st.integers(start, min(start + 12, len(value))))
        value[start:end] = data.draw(st.binary(max_size=12))
    outcome = decode_or_refuse(bytes(value))
    if isinstance(outcome, ChatbotAnswer):
        assert CODEC.decode(CODEC.encode(outcome), ChatbotAnswer) == outcome
    else:
        assert outcome.code not in {"unknown_format", "unknown_fingerprint"}


@given(answers, st.data())
def test_a_record_cut_short_is_refused(answer, data):
    value = CODEC.encode(answer)
    cut = value[: data.draw(st.integers(0, len(value) - 1))]
    assert isinstance(decode_or_refuse(cut), DecodeError)


@given(answers, st.binary(min_size=1, max_size=20))
def test_bytes_behind_a_record_are_refused(answer, garbage):
    assert decode_or_refuse(CODEC.encode(answer) + garbage).code == "trailing_bytes"  # type: ignore[union-attr]


@pytest.mark.parametrize("length", [4, 2**31, 2**62, 2**63 - 1, -1, -5, -(2**63)])
def test_a_text_longer_than_the_value_or_below_nothing_is_refused(length):
    assert refusal(zigzag(length) + b"abc").code == "truncated"


@pytest.mark.parametrize("items", ["context", "document_ids", "metadata"])
@pytest.mark.parametrize("count", [HUGE, 2**63 - 1, -HUGE, -(2**63) + 1])
def test_a_huge_block_count_without_data_costs_neither_time_nor_memory(items, count):
    before = {"context": b"", "document_ids": b"\0", "metadata": b"\0\0\0\0\0"}[items]
    tracemalloc.start()
    begun = time.perf_counter()
    assert refusal(IDS_AND_TEXTS + before + zigzag(count) + b"\0\0\0").stage == "decode"
    elapsed = time.perf_counter() - begun
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert elapsed < SECONDS
    assert peak < BYTES


def test_many_blocks_are_read_and_then_counted():
    body = IDS_AND_TEXTS + b"\0" + (zigzag(1) + b"\x02d") * 5_000 + b"\0" + b"\0\0\0\0"
    error = refusal(body)
    assert (error.code, error.stage) == ("invalid_record", "validate")


@pytest.mark.parametrize("passage", [b"\0\0\0\0", b"\x02d\0\0\0"])
def test_a_mebibyte_of_the_smallest_passages_is_refused_in_seconds(passage):
    count = 2**20 // len(passage)
    begun = time.perf_counter()
    error = refusal(IDS_AND_TEXTS + zigzag(count) + passage * count + b"\0" * 6)
    assert (error.code, error.detail[:7]) == ("invalid_record", "context")
    assert time.perf_counter() - begun < 10 * SECONDS


def test_blocks_with_their_sizes_are_legal():
    body = IDS_AND_TEXTS + b"\0" + zigzag(-1) + zigzag(2) + b"\x02d" + b"\0" + b"\0\0\0\0"
    assert CODEC.decode(HEADER + body, ChatbotAnswer).document_ids == ("d",)


@pytest.mark.parametrize("text", [b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\x80"])
def test_a_text_that_is_no_utf_8_is_refused(text):
    assert refusal(zigzag(len(text)) + text + b"\0" * 9).code == "invalid_utf8"


@pytest.mark.parametrize("millis", [253_402_300_800_000, 2**53, 2**62, -(2**63), -62_135_596_800_001])
def test_a_time_that_no_calendar_has_is_refused(millis):
    assert refusal(IDS_AND_TEXTS + b"\0\0\0\0" + zigzag(millis) + b"\0").code == "invalid_timestamp"


@pytest.mark.parametrize("branch", [2, 7, HUGE])
def test_a_union_branch_that_is_none_is_refused(branch):
    assert refusal(IDS_AND_TEXTS + b"\0\0" + zigzag(branch) + b"\0\0\0").code == "malformed"


@pytest.mark.parametrize("length", [-1, -3, 2**62])
def test_a_bad_length_in_a_field_that_is_passed_over_is_refused(length):
    """There fastavro itself checks nothing and reads up to the end of the value."""
    schema = json.loads(current_schema(ChatbotAnswer).text)
    schema["fields"].append({"name": "tone", "type": "string", "default": ""})
    newer = read_schema(json.dumps(schema), ChatbotAnswer)
    with pytest.raises(DecodeError, match="truncated"):
        read_values(CODEC.encode(ANSWER)[len(HEADER) :] + zigzag(length) + b"abc", 0, newer)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (b"{", "invalid_json"),
        (b'{"answer_id": "a"} {}', "invalid_json"),
        (b'{"answer_id": "\xff"}', "invalid_json"),
        (b'{"answer_id": "\\ud800"}', "invalid_json"),
        (b'{"x": ' + b"[" * 100_000, "invalid_json"),
        (b'{"x": ' * 100_000, "invalid_json"),
        (b"{}", "invalid_record"),
    ],
)
def test_bad_json_is_refused(value, code):
    assert decode_or_refuse(value).code == code  # type: ignore[union-attr]


@given(st.text(max_size=100))
def test_a_text_behind_a_brace_is_refused(text):
    assert isinstance(decode_or_refuse(b"{" + text.encode("utf-8", "surrogatepass")), DecodeError)


@pytest.mark.parametrize(
    "value",
    [
        CODEC.encode(ANSWER)[:-4],
        CODEC.encode(ANSWER) + b"Geheim",
        HEADER + b"\x0cGeheim" + b"\xff" * 30,
        b'{"answer_id": "Geheim", "question": {"Geheim": "Geheim"}, "answer": ["Geheim"]}',
        b'{"answer_id": "Geheim" "Geheim"}',
        b'{"Geheim": 1, "Geheim": 2}',
        b'{"metadata": {"Geheim": 5}, "produced_at": "Geheim"}',
        b"Geheim",
    ],
)
def test_a_refusal_does_not_repeat_the_value(value):
    outcome = decode_or_refuse(value)
    assert isinstance(outcome, DecodeError)
    assert "Geheim" not in f"{outcome} {outcome.detail} {outcome.args}"
    assert "credit" not in str(outcome).lower()
