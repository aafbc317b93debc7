"""A request is sent with all that an endpoint takes, and with less where it refuses some of it."""

import pytest

from streams.llm.endpoints.chat_completion import AcceptedParameters, OutputMode, chat_body
from streams.llm.endpoints.endpoint import ParameterLearner
from tests.support.clock import Clock
from tests.support.judges import SCHEMA, SECRET, request

ALL = AcceptedParameters()
SAMPLED = request(temperature=0.6, sample=3, logprobs=True)


def test_a_body_has_the_messages_the_schema_and_the_limits():
    assert chat_body(SAMPLED, "gpt-small", ALL) == {
        "model": "gpt-small",
        "messages": [
            {"role": "system", "content": "Judge. Reply in JSON."},
            {"role": "user", "content": SECRET},
        ],
        "max_tokens": 50,
        "temperature": 0.6,
        "seed": 3,
        "logprobs": True,
        "top_logprobs": 5,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "label", "strict": True, "schema": SCHEMA.content},
        },
    }


def test_what_is_not_asked_for_is_not_sent():
    assert chat_body(request(), "m", ALL).keys() == {
        "model",
        "messages",
        "max_tokens",
        "temperature",
        "response_format",
    }


@pytest.mark.parametrize(
    ("named", "gone", "there"),
    [
        ({"response_format"}, set(), {"response_format", "logprobs", "seed"}),
        ({"top_logprobs"}, {"logprobs", "top_logprobs"}, {"response_format", "seed"}),
        ({"seed"}, {"seed"}, {"logprobs"}),
        ({"temperature"}, {"temperature"}, {"logprobs"}),
        ({"max_tokens", "max_completion_tokens"}, {"max_tokens"}, {"max_completion_tokens"}),
        ({"logprobs", "temperature", "seed"}, {"logprobs", "temperature", "seed"}, {"response_format"}),
    ],
)
def test_what_an_endpoint_names_is_left_out(named, gone, there):
    less = ALL.without(frozenset(named))
    assert less
    sent = chat_body(SAMPLED, "m", less).keys()
    assert not gone & sent
    assert there <= sent


def test_the_form_of_a_reply_is_asked_for_ever_more_weakly():
    kinds = []
    accepted: AcceptedParameters | None = ALL
    while accepted:
        kinds.append(chat_body(request(), "m", accepted).get("response_format", {}).get("type"))
        accepted = accepted.without(frozenset())
    assert kinds == ["json_schema", "json_object", None]


def test_a_form_that_is_set_is_not_weakened():
    fixed = AcceptedParameters(falls_back=False)
    assert fixed.without(frozenset()) is None
    assert fixed.without(frozenset({"response_format"})) is None


def test_naming_what_was_left_out_already_ends_the_search():
    less = ALL.without(frozenset({"seed"}))
    assert less
    assert less.without(frozenset({"seed"})) is None
    assert ALL.without(frozenset({"max_tokens"})) is None


def test_what_was_found_is_remembered_for_an_hour_and_told_once():
    clock, told = Clock(), list[AcceptedParameters]()
    learned = ParameterLearner(ALL, told.append, clock)
    plain = AcceptedParameters(OutputMode.PLAIN)
    learned.note_success(plain)
    clock.now += 3_599
    learned.note_success(plain)
    assert learned.accepted is plain
    assert told == [plain]
    clock.now += 2
    assert learned.accepted is ALL
