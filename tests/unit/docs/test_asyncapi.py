"""The AsyncAPI document says of the topics what the code does; AsyncAPI's own parser finds no fault in it."""

import json
import shutil
import subprocess
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from docs.generate.contract.asyncapi import asyncapi_document
from schemas import ChatbotAnswer, Codec, DecodeError
from schemas.records import KnowledgeDocument, Review
from streams.delivery.dead_letters import make_dead_letter, without_value
from streams.kafka.kafka_records import ReceivedRecord, event_headers, published_headers
from streams.kafka.topics import topic_specifications
from streams.observability.failures import BadAnswer, Stage
from streams.pipeline.intake import verdict_headers
from streams.settings import EncodingSettings, KafkaSettings, RatesSettings, Settings, TopicSettings
from tests.support.npm_packages import installed
from tests.support.pages import BEGIN, blocked_verdict, rate_alert, rate_window

VALIDATOR = Path(__file__).parents[2] / "support" / "asyncapi"
WHOLE = asyncapi_document(Settings())


def complaints(described: dict[str, Any]) -> list[str]:
    """Ask AsyncAPI's parser what is wrong; skips the test where there is no npm."""
    folder = installed(VALIDATOR, "the AsyncAPI document is checked")
    script = folder / "validate.mjs"
    shutil.copy(VALIDATOR / script.name, script)
    done = subprocess.run(
        ["node", script], input=json.dumps(described), capture_output=True, text=True, timeout=120, check=True
    )
    told = json.loads(done.stdout)
    assert told["whole"] or told["complaints"]
    return list(told["complaints"])


def test_asyncapis_own_parser_finds_no_fault():
    assert complaints(WHOLE) == []
    other = Settings(
        kafka=KafkaSettings(topic_prefix="eu.", consumer_group="eu", bootstrap_servers="a:1,b:2"),
        topics=TopicSettings(partitions=12, replication_factor=3),
        rates=RatesSettings(enabled=False),
        encoding=EncodingSettings(json_input=True),
    )
    assert complaints(asyncapi_document(other)) == []


def _binding(described: dict[str, Any]) -> None:
    described["channels"]["answers"]["bindings"]["kafka"]["partitions"] = "three"


def _type(described: dict[str, Any]) -> None:
    described["components"]["messages"]["Verdict"]["payload"]["schema"]["fields"][0]["type"] = "text"


def _reference(described: dict[str, Any]) -> None:
    del described["components"]["messages"]["Verdict"]


@pytest.mark.parametrize("break_it", [_binding, _type, _reference])
def test_it_would_find_one(break_it):
    described = deepcopy(WHOLE)
    break_it(described)
    assert complaints(described) != []


@pytest.mark.parametrize("prefix", ["", "eu."])
def test_every_topic_is_described_as_it_is_made(prefix):
    settings = Settings(kafka=KafkaSettings(topic_prefix=prefix), topics=TopicSettings(partitions=7))
    bindings = {
        each["address"]: each["bindings"]["kafka"]
        for each in asyncapi_document(settings)["channels"].values()
    }
    specs = topic_specifications(settings)
    assert set(bindings) == {spec.name for spec in specs}
    for spec in specs:
        found = bindings[spec.name]
        assert (found["topic"], found["partitions"]) == (spec.name, spec.partitions)
        assert found["topicConfiguration"]["cleanup.policy"] == [spec.config["cleanup.policy"]]
        assert str(found["topicConfiguration"]["max.message.bytes"]) == spec.config["max.message.bytes"]


def test_topics_of_rates_are_left_out_where_they_are_not_counted():
    named = asyncapi_document(Settings(rates=RatesSettings(enabled=False)))["channels"]
    assert set(WHOLE["channels"]) - set(named) == {"hallucinationAlerts", "hallucinationRatesState"}


def checked(message: str, headers: Any) -> list[str]:
    """Say what of these headers is not as the document has it: what is wrong, and what it does not know."""
    schema = WHOLE["components"]["messages"][message]["headers"]
    text = {name: value.decode() for name, value in headers}
    wrong = [error.message for error in Draft202012Validator(schema).iter_errors(text)]
    return wrong + sorted(text.keys() - schema["properties"].keys())


def test_the_headers_that_are_written_are_those_that_are_described():
    verdict = blocked_verdict("Nee.")
    assert checked("Verdict", verdict_headers(verdict, (("traceparent", b"00"), ("tracestate", b"")))) == []
    assert checked("RateWindow", published_headers("1", rate_window(0), subject="all", time=BEGIN)) == []
    assert checked("RateAlert", published_headers("1", rate_alert(), subject="all", time=BEGIN)) == []
    assert checked("Pause", event_headers("1", "Pause", "pause")) == []
    assert checked("ChatbotAnswer", ()) == []
    assert checked("ChatbotAnswer", event_headers("1", "ChatbotAnswer", "replay")) == []
    record = ReceivedRecord("answers", 0, 1, None, b"\xff")
    letter = make_dead_letter(record, BadAnswer(Stage.DECODE, "unknown_format", "1 byte"), BEGIN)
    assert checked("AnswersDeadLetters", letter.headers) == []
    assert checked("AnswersDeadLetters", without_value(letter).headers) == []


@pytest.mark.parametrize("headers", [event_headers("1", "Verdict", "worker"), (("ce_colour", b"red"),)])
def test_other_headers_would_be_noticed(headers):
    assert checked("Verdict", headers) != []


_ANSWER = {
    "answer_id": "a",
    "conversation_id": "c",
    "question": "",
    "answer": "",
    "produced_at": "2026-03-02T09:15:00Z",
}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"context": [{"document_id": "d", "text": ""}]},
        {"answer_id": ""},
        {"context": 1},
        {"answer_id": None},
    ],
)
def test_json_is_described_as_it_is_read(changes):
    value = {**_ANSWER, **changes}
    schema = {**WHOLE["components"]["schemas"]["ChatbotAnswer"], "components": WHOLE["components"]}
    try:
        Codec(json_input=True).decode(json.dumps(value).encode(), ChatbotAnswer)
        read = True
    except DecodeError:
        read = False
    assert Draft202012Validator(schema).is_valid(value) == read


def test_json_is_described_of_all_records_that_others_write():
    messages = WHOLE["components"]["messages"]
    for record in (ChatbotAnswer, KnowledgeDocument, Review):
        assert f"{record.__name__}Json" in messages
    assert sum(name.endswith("Json") for name in messages) == 3
