"""A chat completion is read for what it has; what is none is unreadable."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.judges.requests import Finish, Reply, Token
from streams.llm.endpoints.chat_completion import parse_completion
from streams.llm.endpoints.faults import EndpointFault, NoReply


def body(**changes: Any) -> bytes:
    choice = {"message": {"content": "{}"}, "finish_reason": "stop"} | changes.pop("choice", {})
    return json.dumps({"model": "m", "choices": [choice]} | changes).encode()


def reply(**changes: Any) -> Reply:
    read = parse_completion(body(**changes))
    assert isinstance(read, Reply)
    return read


def test_a_reply_has_text_model_and_tokens():
    assert reply(usage={"prompt_tokens": 12, "completion_tokens": 3}) == Reply("{}", Finish.STOP, "m", 12, 3)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", Finish.STOP),
        ("eos", Finish.STOP),
        (None, Finish.STOP),
        (7, Finish.STOP),
        ("length", Finish.LENGTH),
        ("model_length", Finish.LENGTH),
        ("content_filter", Finish.REFUSED),
    ],
)
def test_why_a_reply_ends_is_one_of_three(reason, finish):
    assert reply(choice={"finish_reason": reason}).finish is finish


def test_a_refusal_has_no_text():
    refused = reply(choice={"message": {"content": None, "refusal": "I cannot help with that."}})
    assert (refused.text, refused.finish) == ("", Finish.REFUSED)


@pytest.mark.parametrize("usage", [None, [], {}, {"prompt_tokens": -1}, {"prompt_tokens": 10**30}, "many"])
def test_tokens_that_are_not_told_are_none(usage):
    assert (reply(usage=usage).tokens_in, reply(usage=usage).tokens_out) == (0, 0)


def test_the_name_of_a_model_is_short_and_printable():
    assert reply(model="a\n\x1b[31mb" + "c" * 1_000).model == "a[31mb" + "c" * 192
    assert reply(model={"x": 1}).model == ""


def placed(token: str, logprob: float = -0.5, **more: Any) -> dict[str, Any]:
    return {"token": token, "logprob": logprob, **more}


def tokens_of(content: str, *tokens: dict[str, Any]) -> tuple[Token, ...]:
    choice = {"message": {"content": content}, "logprobs": {"content": list(tokens)}}
    return reply(choice=choice).logprobs


def test_a_token_has_its_probability_and_those_of_the_others():
    likely = [placed("TRUE", -0.1), placed("FALSE", -2.5)]
    assert tokens_of("TRUE", placed("TRUE", -0.1, top_logprobs=likely)) == (
        Token("TRUE", -0.1, (("FALSE", -2.5),)),
    )


def test_characters_that_are_spread_over_tokens_come_together():
    first, rest = "é".encode()[:1], "é".encode()[1:]
    tokens = tokens_of(
        '"café"',
        placed('"caf', bytes=list(b'"caf')),
        placed("\\xc3", bytes=list(first)),
        placed("\\xa9", bytes=list(rest)),
        placed('"', bytes=None),
    )
    assert [token.text for token in tokens] == ['"caf', "", "é", '"']


def test_tokens_around_the_reply_are_left_out():
    tokens = tokens_of("{}", placed("```"), placed("json"), placed("\n{"), placed("}\n"), placed("```"))
    assert [token.text for token in tokens] == ["{", "}"]


def test_tokens_of_something_else_are_none():
    assert tokens_of("{}", placed("[]")) == ()


@pytest.mark.parametrize(
    "logprobs",
    [
        [],
        "x",
        {"content": "x"},
        {"content": [{"token": "{}"}]},
        {"content": [placed("{}", float("nan"))]},
        {"content": [placed("{}", float("-inf"))]},
        {"content": [placed("{}", top_logprobs=[{}])]},
    ],
)
def test_log_probabilities_of_another_form_are_none_and_the_reply_stays(logprobs):
    assert reply(choice={"logprobs": logprobs}) == reply()


def test_a_probability_is_never_above_one():
    assert tokens_of("{}", placed("{}", 1e-6, top_logprobs=[placed("x", 3)]))[0] == Token(
        "{}", 0.0, (("x", 0.0),)
    )


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"null",
        b"[]",
        b"<html>",
        b"{",
        b'{"choices": []}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": {"content": 3}}]}',
        b'{"choices": [{"message": {"content": "\\ud800"}}]}',
        b'{"choices": [{"message": {"content": "\xff"}}]}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_completion_is_unreadable(bad):
    assert parse_completion(bad) == NoReply(EndpointFault.UNREADABLE)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, JSON, JSON, JSON, JSON)
def test_whatever_stands_where_it_is_read_or_unreadable(content, reason, logprobs, usage, model):
    choice = {"message": {"content": content}, "finish_reason": reason, "logprobs": logprobs}
    read = parse_completion(json.dumps({"choices": [choice], "usage": usage, "model": model}).encode())
    assert isinstance(read, Reply | NoReply)
    if isinstance(read, Reply):
        read.text.encode()
        assert read.tokens_in >= 0
        assert all(token.logprob <= 0 for token in read.logprobs)
