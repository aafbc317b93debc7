"""Whatever an endpoint does, a request has one outcome, in time, and its texts come nowhere else."""

import asyncio
import json
import logging
import ssl
import time
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
import trustme
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.judges.requests import Failure, Finish, Outcome, Reply
from streams.llm.endpoints.chat_completion import AcceptedParameters, OutputMode
from streams.llm.endpoints.endpoint import CallOptions
from streams.llm.endpoints.opening import open_judges
from streams.settings import JudgeSettings
from tests.support.judges import KEY, SECRET, asked_once, complete_all, judges_at, request
from tests.support.llm_endpoint import Behaviour, LlmEndpoint, completion
from tests.support.ports import NOBODY

#: What a test waits beyond a deadline before it says that there was no outcome in time.
_SLACK = 10
#: The form of the reply is not asked for, so that a refusal is not tried again in a weaker way.
PLAIN = CallOptions(1, parameters=AcceptedParameters(OutputMode.PLAIN, falls_back=False))


@pytest.fixture
def endpoint() -> Iterator[LlmEndpoint]:
    with LlmEndpoint() as endpoint:
        yield endpoint


def code(outcome: Outcome) -> str:
    assert isinstance(outcome, Failure)
    return outcome.code


async def test_a_reply_comes_with_what_it_took(endpoint):
    endpoint.behave(delay=0.05)
    outcome = await asked_once(endpoint)
    assert isinstance(outcome, Reply)
    assert outcome.text == '{"label": "TRUE", "confidence": 0.9}'
    assert (outcome.model, outcome.tokens_in, outcome.tokens_out) == ("gpt-small-0613", 120, 4)
    assert 0.05 <= outcome.seconds < 5


async def test_a_request_has_the_key_and_no_header_that_is_not_listed(endpoint):
    endpoint.behave(headers={"Set-Cookie": "session=4711"})
    await asked_once(endpoint)
    async with judges_at(endpoint.url, api_key=None) as judges:
        await complete_all(judges, 30, [request()])
        await complete_all(judges, 30, [request()])
    with_key, _, without = (asked.headers for asked in endpoint.asked)
    assert with_key["Authorization"] == f"Bearer {KEY}"
    assert set(without) == {
        "Host",
        "Content-Type",
        "Content-Length",
        "Accept",
        "Accept-Encoding",
        "User-Agent",
    }


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        ({"status": 400}, "rejected"),
        ({"status": 401}, "unauthorized"),
        ({"status": 404}, "not_found"),
        ({"status": 403}, "unauthorized"),
        ({"status": 404, "body": b'{"error": {"code": "model_not_found"}}'}, "unknown_model"),
        ({"status": 429}, "rate_limited"),
        ({"status": 429, "body": b'{"error": {"code": "insufficient_quota"}}'}, "quota_spent"),
        ({"status": 500}, "server_error"),
        ({"status": 503, "body": b"<html>" + b"x" * 100_000}, "server_error"),
        ({"status": 400, "body": b"[" * 100_000}, "rejected"),
        ({"body": b""}, "unreadable"),
        ({"body": b"<html>Please log in</html>", "headers": {"Content-Type": "text/html"}}, "unreadable"),
        ({"body": b'{"choices": []}'}, "unreadable"),
        ({"body": b"[" * 100_000}, "unreadable"),
        ({"body": b"\x1f\x8b", "headers": {"Content-Encoding": "gzip"}}, "unreadable"),
        ({"half": True}, "disconnected"),
        ({"reset": True}, "disconnected"),
        ({"raw": b"SSH-2.0-OpenSSH_9.6\r\n"}, "disconnected"),
        ({"endless": True}, "too_large"),
    ],
    ids=str,
)
async def test_every_fault_is_an_outcome(endpoint, behaviour, expected):
    endpoint.behave(**behaviour)
    assert code(await asked_once(endpoint, seconds=30, options=PLAIN)) == expected


@pytest.mark.parametrize("behaviour", [{"delay": 30}, {"frozen": True}, {"drip": 0.01}], ids=str)
async def test_an_endpoint_that_takes_too_long_is_given_up_in_time(endpoint, behaviour):
    endpoint.behave(**behaviour)
    began = time.monotonic()
    assert code(await asked_once(endpoint, seconds=0.7, options=PLAIN)) == "timeout"
    assert time.monotonic() - began < 0.7 + _SLACK


async def test_one_call_may_take_less_time_than_there_is(endpoint):
    endpoint.behave(frozen=True)
    began = time.monotonic()
    assert code(await asked_once(endpoint, seconds=60, request_timeout_seconds=0.2)) == "timeout"
    assert time.monotonic() - began < 0.2 + _SLACK


async def test_an_endpoint_that_is_away_and_back_is_asked_again(endpoint):
    async with judges_at(endpoint.url) as judges:
        for _ in range(2):
            (there,) = await complete_all(judges, 30, [request()])
            assert isinstance(there, Reply)
            endpoint.stop()
            (away,) = await complete_all(judges, 30, [request()])
            assert code(away) in {"connection_refused", "disconnected"}
            endpoint.start()


async def test_a_host_that_nobody_knows_and_a_port_that_nobody_listens_at_are_told_apart():
    for host, expected in (("nowhere.invalid", "dns"), (NOBODY, "connection_refused")):
        async with judges_at(f"http://{host}/v1") as judges:
            (away,) = await complete_all(judges, 30, [request()])
        assert code(away) == expected


async def test_a_redirect_is_not_followed(endpoint):
    with LlmEndpoint() as other:
        for status in (301, 302, 303, 307, 308):
            endpoint.behave(status=status, headers={"Location": f"{other.url}/chat/completions"})
            assert code(await asked_once(endpoint)) == "redirected"
        assert other.asked == []


async def test_proxies_are_those_that_are_named(endpoint, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://{NOBODY}")
    assert isinstance(await asked_once(endpoint), Reply)
    assert code(await asked_once(endpoint, proxy=f"http://{NOBODY}")) == "connection_refused"


async def test_a_filter_that_takes_offence_is_a_refusal(endpoint):
    endpoint.behave(status=400, body=b'{"error": {"code": "content_filter"}}')
    outcome = await asked_once(endpoint)
    assert isinstance(outcome, Reply)
    assert (outcome.text, outcome.finish) == ("", Finish.REFUSED)


async def test_tls_is_of_who_is_trusted(tmp_path, monkeypatch):
    authority, stranger = trustme.CA(), trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    known, unknown = tmp_path / "known.pem", tmp_path / "unknown.pem"
    authority.cert_pem.write_to_path(known)
    stranger.cert_pem.write_to_path(unknown)
    with LlmEndpoint(ssl=context) as endpoint:
        assert code(await asked_once(endpoint)) == "tls"
        monkeypatch.setenv("SSL_CERT_FILE", str(unknown))
        assert code(await asked_once(endpoint)) == "tls"
        monkeypatch.setenv("SSL_CERT_FILE", str(known))
        assert isinstance(await asked_once(endpoint), Reply)
        for behaviour in ({"frozen": True}, {"drip": 0.01}):
            endpoint.behave(**behaviour)
            assert code(await asked_once(endpoint, seconds=0.5)) == "timeout"
        assert len(endpoint.asked) == 3
    with LlmEndpoint() as plain:
        async with judges_at(plain.url.replace("http:", "https:")) as judges:
            assert code((await complete_all(judges, 30, [request()]))[0]) == "tls"


async def test_without_endpoints_there_are_no_judges():
    async with open_judges(JudgeSettings()) as judges:
        assert judges == {}


async def test_no_text_key_or_reply_is_logged(endpoint, worker_log):
    reply = "what the model says"
    endpoint.respond = lambda _: reply
    with worker_log.at_level(logging.DEBUG):
        for behaviour in ({}, {"status": 500}, {"status": 400, "body": SECRET.encode()}, {"reset": True}):
            endpoint.behave(**behaviour)
            outcome = await asked_once(endpoint)
            assert all(private not in repr(outcome) for private in (SECRET, KEY))
    for private in (SECRET, KEY, reply, "chat/completions"):
        assert private not in worker_log.text


async def test_a_defect_is_an_outcome_that_is_told_by_its_class(endpoint, monkeypatch):
    def fail(*_: Any) -> None:
        raise LookupError(SECRET)

    monkeypatch.setattr("httpx2.AsyncHTTPTransport.handle_async_request", fail)
    with structlog.testing.capture_logs() as logs:
        assert code(await asked_once(endpoint)) == "unexpected"
    assert logs == [
        {
            "event": "judge_failed_unexpectedly",
            "log_level": "error",
            "judge": "small",
            "error_type": "LookupError",
        }
    ]


HTTP = st.builds(
    lambda status, headers, body: b"HTTP/1.1 %d X\r\n%b\r\n%b" % (status, headers, body),
    st.integers(100, 600),
    st.sampled_from(
        [
            b"",
            b"Content-Length: 5\r\n",
            b"Content-Length: 99999999\r\n",
            b"Transfer-Encoding: chunked\r\n",
            b"Content-Encoding: br\r\n",
            b"Location: /x\r\n",
            b"Connection: upgrade\r\nUpgrade: websocket\r\n",
        ]
    ),
    st.binary(max_size=50)
    | st.sampled_from(
        [b"{}", b"5\r\nhello\r\n0\r\n\r\n", json.dumps(completion("{}", {"model": "m"})).encode()]
    ),
)


@pytest.fixture(scope="module")
def shared() -> Iterator[LlmEndpoint]:
    with LlmEndpoint() as endpoint:
        yield endpoint


@settings(max_examples=60)
@given(st.binary(max_size=200) | HTTP, st.booleans())
def test_whatever_bytes_come_there_is_an_outcome_in_time(shared, raw, twice):
    shared.behave(raw=raw or b"\0")
    began = time.monotonic()
    outcome = asyncio.run(asked_once(shared, seconds=0.3, options=CallOptions(attempts=1 + twice)))
    assert isinstance(outcome, Reply | Failure)
    assert time.monotonic() - began < 0.3 + _SLACK


@settings(max_examples=60)
@given(st.binary(max_size=200), st.sampled_from([200, 201, 204, 302, 400, 422, 429, 503]))
def test_whatever_a_body_holds_there_is_an_outcome_in_time(shared, body, status):
    shared.behave(body=body, status=status)
    outcome = asyncio.run(asked_once(shared, seconds=2))
    assert isinstance(outcome, Reply | Failure)
    if isinstance(outcome, Failure):
        assert outcome.code != "unexpected"


def test_a_behaviour_can_be_told_for_the_next_requests_alone(endpoint):
    endpoint.behave_next(Behaviour(status=500), Behaviour(body=b"{}"))
    assert [code(asyncio.run(asked_once(endpoint))) for _ in range(2)] == ["server_error", "unreadable"]
    assert isinstance(asyncio.run(asked_once(endpoint)), Reply)
