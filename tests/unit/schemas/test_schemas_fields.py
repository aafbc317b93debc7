"""A field that is a slip is told from one of the sender's own, which is ignored."""

import json

import pytest

from schemas import ChatbotAnswer, Codec, DecodeError, KnowledgeDocument
from schemas.validation import from_json

WHEN = "2026-03-02T09:15:00Z"
ANSWER = {
    "answer_id": "a-1",
    "conversation_id": "c-1",
    "question": "Kan dat?",
    "answer": "Ja.",
    "produced_at": WHEN,
}
PASSAGE = {"document_id": "d-1", "text": "Klik."}


def refusal(**fields: object) -> str:
    with pytest.raises(DecodeError) as refused:
        Codec(json_input=True).decode(json.dumps(ANSWER | fields).encode(), ChatbotAnswer)
    assert (refused.value.code, refused.value.stage) == ("invalid_record", "validate")
    return refused.value.detail


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("document_id", "document_ids"),
        ("documentIds", "document_ids"),
        ("Document-IDs", "document_ids"),
        ("langauge", "language"),
        ("models", "model"),
        ("metdata", "metadata"),
        ("contexts", "context"),
    ],
)
def test_a_slip_is_refused_with_the_field_that_is_meant(slip, meant):
    assert refusal(**{slip: []}) == f"{slip}: is no field; did you mean {meant}?"


def test_a_slip_within_a_passage_is_named_where_it_stands():
    told = "context[1].documentId: is no field; did you mean document_id?; context[1].document_id: is missing"
    assert refusal(context=[PASSAGE, {"documentId": "d-1", "text": "Klik."}]) == told


@pytest.mark.parametrize(
    "own",
    [
        "question_id",
        "language_code",
        "id",
        "tags",
        "answer2",
        "answer_text",
        "rating",
        "",
        "\N{PILE OF POO}",
        "x" * 10_000,
    ],
)
def test_a_name_of_the_sender_s_own_is_ignored_and_told_to_who_asks(own):
    value = json.dumps(ANSWER | {own: 1, "context": [PASSAGE | {own: 1}], "metadata": {"document_id": "x"}})
    told: list[str] = []
    record = from_json(value.encode(), ChatbotAnswer, ChatbotAnswer, told.append)
    assert Codec(json_input=True).decode(value.encode(), ChatbotAnswer) == record
    assert told == [own, f"context[0].{own}"]


def test_a_field_that_is_there_is_not_what_another_means():
    value = json.dumps(ANSWER | {"document_id": "x", "document_ids": ["d-1"]})
    assert from_json(value.encode(), ChatbotAnswer, ChatbotAnswer).document_ids == ("d-1",)


def test_a_slip_in_a_document_is_refused_too():
    value = {
        "document_id": "d",
        "langauge": "nl",
        "title": "t",
        "text": "x",
        "updated_at": "2026-03-02T09:15:00Z",
    }
    with pytest.raises(DecodeError, match=r"langauge: is no field; did you mean language\?"):
        Codec(json_input=True).decode(json.dumps(value).encode(), KnowledgeDocument)


def test_a_type_of_another_s_format_is_not_looked_at():
    value = json.dumps(ANSWER | {"document_id": "x"})
    assert from_json(value.encode(), ChatbotAnswer).document_ids == ()
