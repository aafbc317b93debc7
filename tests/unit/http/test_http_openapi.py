"""The OpenAPI document is valid, and says what the service does: its records, its problems, its token."""

import json
from copy import deepcopy
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from schemas import ChatbotAnswer, Verdict, to_json
from schemas.validation import DecodeError, from_json
from streams.settings import VerdictSettings
from streams.web.openapi import openapi_document
from streams.web.verdict_requests import PROBLEM_TYPES
from tests.support import record_strategies
from tests.support.http_service import ADDRESS, service, settings_of, way_of
from tests.support.scorers import Scoring

OPEN = openapi_document(VerdictSettings(), 64, 1_000)
GUARDED = openapi_document(VerdictSettings(token="0123456789abcdef"), 64, 1_000)
OPERATION = OPEN["paths"][ADDRESS]["post"]


def validator(schema: str) -> Draft202012Validator:
    registry = Registry().with_resource("urn:document", Resource(OPEN, DRAFT202012))
    return Draft202012Validator(
        {"$ref": f"urn:document#/components/schemas/{schema}"},
        registry=registry,
        format_checker=Draft202012Validator.FORMAT_CHECKER,
    )


def errors(schema: str, value: Any) -> list[str]:
    return [error.message for error in validator(schema).iter_errors(value)]


@pytest.mark.parametrize("made", [OPEN, GUARDED])
def test_the_document_is_valid(made):
    OpenAPIV31SpecValidator(made).validate()
    broken = deepcopy(made)
    del broken["paths"][ADDRESS]["post"]["responses"]["200"]["description"]
    assert list(OpenAPIV31SpecValidator(broken).iter_errors())


def test_it_says_whether_verdicts_are_published():
    told = openapi_document(VerdictSettings(publish=True), 64, 1_000)["paths"][ADDRESS]["post"]["description"]
    assert "once it is published there" in told
    assert "and publishes nothing" in OPERATION["description"]


async def test_the_service_serves_it():
    settings = settings_of(max_value_bytes=5000, timeout_seconds=3)
    async with (
        service(way_of(settings, Scoring()), settings, max_in_flight=7) as running,
        running.session.get("/v1/openapi.json") as response,
    ):
        assert response.content_type == "application/json"
        served = await response.json()
    assert served == openapi_document(settings.web.verdicts, 7, 5000)
    told = served["paths"][ADDRESS]["post"]["description"]
    assert all(limit in told for limit in ("7 are judged", "5000 bytes", "3 seconds"))


def test_only_where_a_token_is_set_one_is_asked_for():
    assert OPERATION["security"] == []
    assert "401" not in OPERATION["responses"]
    assert GUARDED["paths"][ADDRESS]["post"]["security"] == [{"token": []}]
    assert GUARDED["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert "401" in GUARDED["paths"][ADDRESS]["post"]["responses"]


def test_every_problem_is_in_it_but_those_of_other_addresses():
    told = json.dumps(GUARDED["paths"][ADDRESS]["post"]["responses"])
    missing = {kind.code for kind in PROBLEM_TYPES if f"`{kind.code}`" not in told}
    assert missing == {"not_found", "method_not_allowed"}
    for status, response in OPERATION["responses"].items():
        assert ("headers" in response) == (status in {"429", "503"})


async def test_what_the_service_takes_and_gives_follows_it():
    example = OPERATION["requestBody"]["content"]["application/json"]["example"]
    assert errors("ChatbotAnswer", example) == []
    async with service(way_of(settings_of(), Scoring())) as running:
        status, _, verdict = await running.post(json.dumps(example).encode())
        assert status == 200
        assert verdict["features"]
        assert errors("Verdict", verdict) == []
        _, _, problem = await running.post(b"{")
        assert errors("Problem", problem) == []


@given(record_strategies.answers)
def test_every_answer_follows_the_schema(answer):
    assert errors("ChatbotAnswer", to_json(answer)) == []


@given(record_strategies.verdicts)
def test_every_verdict_follows_the_schema(verdict):
    assert errors("Verdict", to_json(verdict)) == []


def test_a_verdict_has_all_its_fields_and_may_get_more():
    schema = OPEN["components"]["schemas"]["Verdict"]
    assert schema["required"] == [field.name for field in fields(Verdict)] == list(schema["properties"])
    assert "additionalProperties" not in schema


@pytest.mark.parametrize(
    "changes",
    [
        {"answer": None},
        {"question": 5},
        {"answer_id": ""},
        {"answer_id": "a" * 257},
        {"produced_at": "yesterday"},
        {"produced_at": 1},
        {"context": [{"document_id": "d"}]},
        {"context": [{"document_id": "", "text": "t"}]},
        {"context": [{"document_id": "d", "text": "t", "score": "high"}]},
        {"document_ids": "d-1"},
        {"document_ids": ["d"] * 1001},
        {"document_ids": [""]},
        {"language": "l" * 257},
        {"metadata": {"a": 1}},
        {"metadata": {str(n): "" for n in range(1001)}},
    ],
)
def test_what_the_record_refuses_the_schema_refuses_too(changes):
    value = {**to_json(record_strategies.ANSWER), **changes}
    with pytest.raises(DecodeError):
        from_json(json.dumps(value).encode(), ChatbotAnswer)
    assert errors("ChatbotAnswer", value)


@pytest.mark.parametrize("name", ["answer_id", "conversation_id", "question", "answer", "produced_at"])
def test_what_must_be_given_is_required(name):
    value = to_json(record_strategies.ANSWER)
    del value[name]
    with pytest.raises(DecodeError):
        from_json(json.dumps(value).encode(), ChatbotAnswer)
    assert errors("ChatbotAnswer", value)


def test_fields_that_an_answer_does_not_have_are_refused_and_those_it_may_leave_out_have_defaults():
    assert errors("ChatbotAnswer", {**to_json(record_strategies.ANSWER), "colour": "red"})
    properties = OPEN["components"]["schemas"]["ChatbotAnswer"]["properties"]
    assert properties["context"]["default"] == []
    assert properties["language"]["default"] is None
    assert "milliseconds" not in properties["produced_at"]["description"]
