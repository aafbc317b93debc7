"""Records survive the way to bytes and back, and the three encodings are told apart."""

import json
import pickle
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given

from schemas import (
    ChatbotAnswer,
    Codec,
    DecodeError,
    EncodeError,
    KnowledgeDocument,
    Verdict,
    to_json,
)
from schemas.catalogue import current_schema, read_schema
from schemas.codec import MAX_REFUSALS, read_values, write_record
from schemas.validation import from_plain
from tests.support.ports import NOBODY
from tests.support.record_strategies import ANSWER, records
from tests.support.verdicts import any_verdict

CODEC = Codec()
REGISTRY = f"http://{NOBODY}"
BATCH = 500  # records that are read at once
JSON_CODEC = Codec(json_input=True)


def refusal(value: bytes | None, codec: Codec = CODEC) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        codec.decode(value, ChatbotAnswer)
    return caught.value


@given(records)
def test_a_record_comes_back_as_it_was(record):
    assert CODEC.decode(CODEC.encode(record), type(record)) == record


@given(records)
def test_a_record_comes_back_from_json_as_it_was(record):
    assert JSON_CODEC.decode(json.dumps(to_json(record)).encode(), type(record)) == record


def test_a_value_starts_with_the_marker_and_the_fingerprint():
    assert CODEC.encode(ANSWER).startswith(b"\xc3\x01" + current_schema(ChatbotAnswer).fingerprint)


def test_times_are_kept_to_the_millisecond():
    precise = replace(ANSWER, produced_at=datetime(2026, 3, 2, 9, 15, 0, 123_456, tzinfo=UTC))
    decoded = CODEC.decode(CODEC.encode(precise), ChatbotAnswer)
    assert decoded.produced_at == datetime(2026, 3, 2, 9, 15, 0, 123_000, tzinfo=UTC)


def test_times_are_written_to_json_in_utc():
    elsewhere = datetime(2026, 3, 2, 10, 15, tzinfo=timezone(timedelta(hours=1)))
    assert to_json(replace(ANSWER, produced_at=elsewhere))["produced_at"] == "2026-03-02T09:15:00Z"


def test_a_record_is_written_to_json_with_all_names_of_the_contract():
    written = to_json(ANSWER)
    assert written["context"] == [
        {"document_id": "d-1", "text": "Crediteren kan via Acties.", "title": "Creditnota", "score": 0.5}
    ]
    assert (written["document_ids"], written["model"]) == (["d-1", "d-2"], None)


def test_an_empty_answer_is_an_answer():
    empty = replace(ANSWER, question="", answer="")
    assert CODEC.decode(CODEC.encode(empty), ChatbotAnswer) == empty


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (None, "null_value"),
        (b"", "empty_value"),
        (b"   ", "unknown_format"),
        (b"hello", "unknown_format"),
        (b"\xc3", "unknown_format"),
        (b"\xc3\x01", "truncated"),
        (b"\xc3\x01\x00\x00", "truncated"),
        (b"\xc3\x01" + b"\0" * 8, "unknown_fingerprint"),
        (b"\0\0\0\0\1abc", "schema_registry_not_configured"),
        (b"\0", "schema_registry_not_configured"),
        (b"Obj\x01avro container file", "unknown_format"),
        (b'{"answer_id": "a-1"}', "json_not_accepted"),
    ],
)
def test_a_foreign_value_is_refused_with_its_code(value, code):
    error = refusal(value)
    assert (error.code, error.stage) == (code, "decode")


def test_a_record_of_another_kind_is_refused():
    document = KnowledgeDocument("d-1", "nl", "Titel", "Tekst", datetime(2026, 3, 2, tzinfo=UTC))
    assert refusal(CODEC.encode(document)).code == "wrong_record"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"answer_id": ""}, "answer_id"),
        ({"answer_id": "x" * 257}, "answer_id"),
        ({"conversation_id": ""}, "conversation_id"),
        ({"document_ids": ("d-1", "")}, "document_ids[1]"),
        ({"document_ids": ("d",) * 1_001}, "document_ids"),
        ({"context": (replace(ANSWER.context[0], score=float("nan")),)}, "context[0].score"),
        ({"context": (replace(ANSWER.context[0], score=float("-inf")),)}, "context[0].score"),
        ({"context": ANSWER.context * 1_001}, "context"),
        ({"metadata": {str(number): "" for number in range(1_001)}}, "metadata"),
        ({"produced_at": datetime(1969, 12, 31, tzinfo=UTC)}, "produced_at"),
        ({"produced_at": datetime(9999, 12, 31, tzinfo=UTC)}, "produced_at"),
    ],
)
def test_a_value_that_breaks_a_rule_is_refused_with_the_field(change, field):
    error = refusal(CODEC.encode(replace(ANSWER, **change)))  # type: ignore[arg-type]
    assert (error.code, error.stage) == ("invalid_record", "validate")
    assert error.detail.startswith(f"{field}: ")


def test_an_older_writer_s_record_is_read_with_the_defaults_of_today():
    schema = json.loads(current_schema(ChatbotAnswer).text)
    schema["fields"] = [field for field in schema["fields"] if field["name"] not in ("metadata", "model")]
    older = read_schema(json.dumps(schema), ChatbotAnswer)
    value = bytes.fromhex("0661 2d31 0663 2d31 0271 0278 00 00 00 00".replace(" ", ""))
    assert from_plain(read_values(value, 0, older), ChatbotAnswer) == ChatbotAnswer(
        answer_id="a-1",
        conversation_id="c-1",
        question="q",
        answer="x",
        produced_at=datetime(1970, 1, 1, tzinfo=UTC),
    )


def test_a_newer_writer_s_field_is_passed_over():
    schema = json.loads(current_schema(ChatbotAnswer).text)
    schema["fields"].append({"name": "tone", "type": "string", "default": ""})
    newer = read_schema(json.dumps(schema), ChatbotAnswer)
    value = write_record(ANSWER, b"") + b"\x0aquiet"
    assert from_plain(read_values(value, 0, newer), ChatbotAnswer) == ANSWER


def test_a_record_that_does_not_fit_its_schema_is_an_error_without_its_texts():
    with pytest.raises(EncodeError) as caught:
        CODEC.encode(replace(ANSWER, language=7))  # type: ignore[arg-type]
    assert str(caught.value) == "truthgate.ChatbotAnswer cannot be encoded (ValueError)"


def test_a_lone_surrogate_cannot_be_encoded():
    with pytest.raises(EncodeError):
        CODEC.encode(replace(ANSWER, answer="secret \ud800"))


def test_the_error_keeps_code_and_stage_across_processes():
    error = DecodeError("invalid_record", "answer_id: is missing", "validate")
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.code, copy.detail, copy.stage, str(copy)) == (
        error.code,
        error.detail,
        error.stage,
        str(error),
    )


def test_a_verdict_with_a_decision_of_tomorrow_is_read():
    verdict = any_verdict(decision="ask_the_user")
    assert CODEC.decode(CODEC.encode(verdict), Verdict).decision == "ask_the_user"


@pytest.mark.parametrize("url", ["registry:8081", "ftp://registry", "http://", "kafka"])
def test_an_address_that_is_none_is_refused_at_once(url):
    with pytest.raises(ValueError, match="http://host:8081"):
        Codec(url)


def _made_up(number: int) -> bytes:
    """Give a value with an id that no registry gives, so that none is asked."""
    return b"\x00" + (2**31 + number).to_bytes(4, "big") + b"body"


async def _look_up(codec: Codec, values: list[bytes]) -> None:
    for value in values:
        if codec.needs_lookup(value):
            await codec.lookup(value)


async def test_refusals_of_a_whole_batch_are_kept_however_many_came_before():
    codec = Codec(REGISTRY)
    await _look_up(codec, [_made_up(number) for number in range(MAX_REFUSALS - 100)])
    batch = [_made_up(10_000 + number) for number in range(BATCH)]
    await _look_up(codec, batch)
    assert not any(map(codec.needs_lookup, batch))
    assert {refusal(value, codec).code for value in batch} == {"unknown_schema_id"}
    assert codec.needs_lookup(_made_up(0))
    assert not codec.needs_lookup(_made_up(MAX_REFUSALS - 101))


async def test_a_refusal_that_was_forgotten_since_the_lookup_is_still_a_bad_value():
    codec = Codec(REGISTRY)
    await _look_up(codec, [_made_up(number) for number in range(MAX_REFUSALS + 1)])
    assert refusal(_made_up(0), codec).code == "unknown_schema_id"


def test_what_a_codec_reads_has_a_name_that_the_settings_change():
    codecs = (Codec(), Codec(json_input=True), Codec(REGISTRY), Codec(REGISTRY, json_input=True))
    assert len({codec.reader_id for codec in codecs}) == len(codecs)
    assert Codec().reader_id == CODEC.reader_id


@pytest.mark.parametrize(
    ("value", "setting"),
    [(b'{"answer_id": "a-1"}', "encoding.json_input"), (b"\0\0\0\0\1abc", "encoding.schema_registry_url")],
)
def test_a_format_that_is_switched_off_is_refused_with_the_setting_that_switches_it_on(value, setting):
    with pytest.raises(DecodeError) as caught:
        Codec().decode(value, ChatbotAnswer)
    assert setting in caught.value.detail
