"""Who posts an answer gets its verdict, as the topics would have it, or one clear problem, and soon."""

import asyncio
import gzip
import json
import re
import socket
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import ChatbotAnswer, Codec, ContextPassage, KnowledgeDocument, Verdict, to_json
from schemas.validation import from_json
from scoring.policy import Policy
from streams.delivery.publisher import RecordLocation
from streams.documents.versions import VersionedDocument
from streams.kafka.kafka_records import Headers
from streams.observability.failures import BadAnswer, InfrastructureFailure, Stage
from streams.pipeline.pipeline import OfflinePipeline
from streams.settings import InvalidSettings, Settings, VerdictSettings, load_settings
from streams.web.verdict_requests import Problem, read_answer
from tests.support.http_service import (
    ADDRESS,
    Waiting,
    service,
    settings_of,
    way_of,
)
from tests.support.records import eventually
from tests.support.scorers import Failing, Scoring

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
SECRET = "the customer's own words"
DOCUMENT = KnowledgeDocument("d-1", "en", "Invoices", "Click **New** to make an invoice.", NOW)
ANSWER = ChatbotAnswer(
    "a-1",
    "c-1",
    f"How do I make an invoice? {SECRET}",
    f"Click **New**. {SECRET}",
    NOW,
    document_ids=("d-1",),
    language="en",
)
INLINE = replace(ANSWER, document_ids=(), context=(ContextPassage("d-1", DOCUMENT.text),))
BODY = json.dumps(to_json(ANSWER)).encode()
TOKEN = "0123456789abcdef-XYZ"


def _without(*names: str) -> bytes:
    return json.dumps({k: v for k, v in to_json(ANSWER).items() if k not in names}).encode()


def _with(**values: object) -> bytes:
    return json.dumps({**to_json(ANSWER), **values}).encode()


#: What it says would be missing, unseen.
MISSPELT = _without("document_ids")[:-1] + b', "document_id": ["d-1"]}'


async def _offline(settings: Settings, answer: ChatbotAnswer) -> Verdict:
    return await OfflinePipeline(way_of(settings, Scoring(), [DOCUMENT]), NOW).verdict(answer)


@pytest.mark.parametrize("answer", [ANSWER, INLINE, replace(ANSWER, document_ids=("gone",))])
async def test_the_verdict_is_the_one_that_score_gives(answer):
    settings = settings_of()
    async with service(way_of(settings, Scoring(), [DOCUMENT]), settings) as running:
        status, headers, body = await running.post(json.dumps(to_json(answer)).encode())
    assert (status, headers["Content-Type"]) == (200, "application/json; charset=utf-8")
    assert headers["Cache-Control"] == "no-store"
    given = from_json(json.dumps(body).encode(), Verdict)
    assert given.scored_at > NOW
    assert replace(given, scored_at=NOW) == await _offline(settings, answer)
    assert list(body) == list(to_json(given)), "the same names, in the same order"


async def test_it_is_counted_like_the_verdicts_of_the_topics_and_timed_by_stage():
    settings = settings_of()
    async with service(way_of(settings, Scoring(), [DOCUMENT]), settings) as running:
        _, _, body = await running.post(BODY)
        await running.post(b"{")
        labels = {"decision": body["decision"], "message_type": body["message_type"], "language": "en"}
        assert running.count("truthgate_verdicts_total", **labels) == 1
        assert running.count("truthgate_contexts_total", source="by_id") == 1
        assert running.count("truthgate_verdict_latency_seconds_count") == 1
        for stage in ("decode", "enrich", "score"):
            assert running.count("truthgate_stage_duration_seconds_count", stage=stage) >= 1, stage
        requests = "http_server_request_duration_seconds_count"
        assert running.count(requests, http_response_status_code="200", http_route=ADDRESS) == 1
        assert running.count(requests, http_response_status_code="400", error_type="invalid_json") == 1
        assert running.count("truthgate_answers_total") == 0, "it did not come from the broker"


@pytest.mark.parametrize(
    ("body", "status", "code", "detail"),
    [
        (b"", 400, "invalid_json", "EOF"),
        (b"{", 400, "invalid_json", "EOF"),
        (b"\xff\xfe", 400, "invalid_json", ""),
        (b'{"question": "q", "question": "r"}', 422, "invalid_record", "answer_id: is missing"),
        (_with()[:-1] + b', "question": "again"}', 400, "invalid_json", "question is repeated"),
        (b"[]", 422, "invalid_record", "value: should be a JSON object"),
        (_without("answer"), 422, "invalid_record", "answer: is missing"),
        (_without("produced_at"), 422, "invalid_record", "produced_at: is missing"),
        (_with(produced_at="yesterday"), 422, "invalid_record", "produced_at: "),
        (_with(question=5), 422, "invalid_record", "question: should be a valid string"),
        (_with(context=[{"document_id": "d-1"}]), 422, "invalid_record", "context[0].text: is missing"),
        (_with(document_id="d-1"), 422, "unknown_field", "document_id"),
        (
            _without("document_ids")[:-1] + b', "document_id": ["d-1"]}',
            422,
            "invalid_record",
            "document_ids?",
        ),
        (_with(colour="red"), 422, "unknown_field", "colour"),
        (
            _with(context=[{"document_id": "d-1", "text": "t", "page": 3}], a=1, b=2, c=3),
            422,
            "unknown_field",
            "context[0].page, a, b and 1 more",
        ),
        (_with(metadata={f"{n}": "" for n in range(1001)}), 422, "invalid_record", "metadata: "),
    ],
)
async def test_a_bad_body_is_answered_with_what_is_wrong_with_it(body, status, code, detail):
    async with service(way_of(settings_of(), Scoring())) as running:
        given, headers, problem = await running.post(body)
    assert (given, problem["code"], problem["status"]) == (status, code, status)
    assert headers["Content-Type"] == "application/problem+json"
    assert problem["type"] == f"urn:truthgate:problem:{code}"
    assert problem["title"]
    assert detail in problem["detail"]
    assert SECRET not in json.dumps(problem)


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_whatever_the_bytes_are_it_is_a_problem_of_the_client(body):
    with pytest.raises(Problem) as caught:
        read_answer(body)
    assert caught.value.problem_type.status in {400, 422}


@pytest.mark.parametrize(
    ("content_type", "encoding"),
    [
        ("text/plain", "identity"),
        ("application/x-www-form-urlencoded", "identity"),
        ("application/json; charset=latin-1", "identity"),
        ("application/json", "gzip"),
        ("", "identity"),
    ],
)
async def test_what_is_not_said_to_be_plain_json_is_not_read(content_type, encoding):
    body = gzip.compress(BODY) if encoding == "gzip" else BODY
    async with service(way_of(settings_of(), Scoring())) as running:
        status, headers, problem = await running.post(
            body, Content_Type=content_type, Content_Encoding=encoding
        )
    assert (status, problem["code"]) == (415, "unsupported_media_type")
    assert headers["Accept-Post"] == "application/json"


async def test_a_body_that_is_not_what_its_encoding_says_leaves_its_connection_to_the_next(worker_log):
    async with service(way_of(settings_of(), Scoring())) as running:
        reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
        for encoding, status in (("gzip", b"415"), ("deflate", b"415"), ("identity", b"200")):
            writer.write(
                f"POST {ADDRESS} HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"
                f"Content-Encoding: {encoding}\r\nContent-Length: {len(BODY)}\r\n\r\n".encode()
                + BODY
            )
            head = await reader.readuntil(b"\r\n\r\n")
            (length,) = re.findall(rb"Content-Length: (\d+)", head)
            await reader.readexactly(int(length))
            assert head.startswith(b"HTTP/1.1 " + status)
        writer.close()
        await writer.wait_closed()
    assert not [line for line in worker_log.records if line.levelname == "ERROR"]


async def test_the_charset_may_be_named():
    async with service(way_of(settings_of(), Scoring())) as running:
        assert (await running.post(BODY, Content_Type="application/json; charset=UTF-8"))[0] == 200


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_above_the_limit_is_not_read_and_one_at_the_limit_is(chunked):
    limit = 2048

    async def parts(body: bytes):
        for start in range(0, len(body), 500):
            yield body[start : start + 500]

    settings = settings_of(max_value_bytes=limit)
    async with service(way_of(settings, Scoring()), settings) as running:
        for more, expected in ((0, 200), (1, 413)):
            body = BODY.ljust(limit + more)
            async with running.session.post(
                ADDRESS,
                data=parts(body) if chunked else body,
                headers={"Content-Type": "application/json"},
            ) as response:
                assert response.status == expected
        assert running.count("truthgate_requests_in_flight") == 0


async def test_beyond_the_places_requests_are_refused_at_once_and_told_when_to_come_again():
    settings, waiting = settings_of(), Waiting()
    async with service(way_of(settings, waiting), settings, max_in_flight=2) as running:
        held = [asyncio.create_task(running.post(BODY)) for _ in range(2)]
        await eventually(lambda: waiting.waiting == 2, "two are in work")
        assert running.count("truthgate_requests_in_flight") == 2
        status, headers, problem = await running.post(BODY)
        assert (status, problem["code"], headers["Retry-After"]) == (429, "too_many_in_flight", "1")
        waiting.may.set()
        assert [status for status, _, _ in await asyncio.gather(*held)] == [200, 200]
        assert (await running.post(BODY))[0] == 200
        assert running.count("truthgate_requests_in_flight") == 0


class SlowDocuments:
    """Never finds a document, and takes all the time that it is given for that."""

    is_stale = False

    async def wait_for(
        self, document_ids: Collection[str], produced_at: datetime, seconds: float
    ) -> Mapping[str, VersionedDocument]:
        await asyncio.sleep(seconds)
        return {}

    def get_version(self, document_id: str, version: str, produced_at: datetime) -> None:
        return None

    def current(self, document_id: str) -> None:
        """There is none."""


@pytest.mark.parametrize("documents", [(), SlowDocuments()])
async def test_what_takes_too_long_is_for_review_and_never_sent(documents):
    settings = settings_of(timeout_seconds=0.2).model_copy(update={"policy": Policy(auto_send_at=1.6)})
    loop = asyncio.get_running_loop()
    async with service(way_of(settings, Waiting(), documents), settings) as running:
        began = loop.time()
        status, _, verdict = await running.post(BODY)
        assert loop.time() - began < 5
    assert (status, verdict["decision"], verdict["score"]) == (200, "review", None)
    assert "scoring_timeout" in verdict["degraded"]


async def test_a_body_that_does_not_come_in_time_is_given_up():
    settings = settings_of(timeout_seconds=0.2)

    async def never_whole():
        yield BODY[:10]
        await asyncio.sleep(60)

    async with (
        service(way_of(settings, Scoring()), settings) as running,
        running.session.post(
            ADDRESS, data=never_whole(), headers={"Content-Type": "application/json"}
        ) as response,
    ):
        assert (response.status, (await response.json(content_type=None))["code"]) == (408, "body_timeout")
        assert running.count("truthgate_requests_in_flight") == 0


@pytest.mark.parametrize(
    "begun", ["Content-Length: 500\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n5\r\n{"]
)
async def test_who_hangs_up_in_the_middle_takes_no_place(begun, worker_log):
    given_up = {"error_type": "incomplete_body"}
    async with service(way_of(settings_of(), Scoring())) as running:
        with socket.create_connection(("127.0.0.1", running.port)) as client:
            client.sendall(
                f"POST {ADDRESS} HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n{begun}".encode()
            )
            await eventually(lambda: running.count("truthgate_requests_in_flight") == 1, "it is in work")
        await eventually(
            lambda: running.count("http_server_request_duration_seconds_count", **given_up) == 1,
            "it is given up",
        )
        assert running.count("truthgate_requests_in_flight") == 0
    assert not [line for line in worker_log.records if line.levelname in {"ERROR", "CRITICAL"}]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (None, 401),
        ("", 401),
        (TOKEN, 401),
        ("Bearer", 401),
        (f"Bearer {TOKEN[:-1]}", 401),
        (f"Bearer {TOKEN}x", 401),
        (f"Bearer {TOKEN.lower()}", 401),
        (f"Basic {TOKEN}", 401),
        ("Bearer \u00e9", 401),
        (f"Bearer {TOKEN}", 200),
        (f"bearer  {TOKEN} ", 200),
    ],
)
async def test_with_a_token_only_who_sends_it_is_served(sent, status):
    settings = settings_of(token=TOKEN)
    async with service(way_of(settings, Scoring()), settings) as running:
        given, headers, body = await running.post(BODY, **({} if sent is None else {"Authorization": sent}))
        assert given == status
        if status == 401:
            assert (headers["WWW-Authenticate"], body["code"]) == ("Bearer", "unauthorized")
            assert TOKEN not in json.dumps(body)
        async with running.session.get("/v1/openapi.json") as response:
            assert response.status == 200, "what it looks like is no secret"


async def test_without_its_token_no_body_is_read():
    settings = settings_of(token=TOKEN, max_value_bytes=1024)
    async with service(way_of(settings, Scoring()), settings) as running:
        assert (await running.post(b"x" * 5000, Content_Type="text/plain"))[0] == 401


class Published:
    """Notes what is published, unless it has an error to raise, or never answers."""

    def __init__(self, error: Exception | None = None, *, hangs: bool = False) -> None:
        self.sent: list[tuple[str, bytes | None, Verdict, dict[str, bytes]]] = []
        self._error, self._hangs = error, hangs

    async def publish(self, topic: str, key: bytes | None, value: bytes, headers: Headers) -> RecordLocation:
        if self._hangs:
            await asyncio.Event().wait()
        if self._error:
            raise self._error
        self.sent.append((topic, key, Codec().decode(value, Verdict), dict(headers)))
        return RecordLocation(0, len(self.sent))


async def test_with_publish_the_verdict_is_on_its_topic_before_it_is_given():
    settings, published = settings_of(publish=True), Published()
    way = way_of(settings, Scoring(), [DOCUMENT])
    async with service(way, settings, publisher=published) as running:
        parent = f"00-{'a' * 32}-{'b' * 16}-01"
        status, _, body = await running.post(BODY, traceparent=parent)
        assert running.count("truthgate_verdicts_total", decision=body["decision"]) == 1
    ((topic, key, verdict, headers),) = published.sent
    assert (status, {**to_json(verdict), "scored_at": body["scored_at"]}) == (200, body)
    assert topic == {"auto_send": "verdicts.auto-send"}.get(verdict.decision, f"verdicts.{verdict.decision}")
    assert (key, headers["ce_id"].decode()) == (b"c-1", verdict.verdict_id)
    assert headers["traceparent"].decode() == parent


async def test_without_publish_nothing_is_published_whoever_could():
    published = Published()
    way = way_of(settings_of(), Scoring(), [DOCUMENT])
    async with service(way, publisher=published) as running:
        assert (await running.post(BODY))[0] == 200
    assert published.sent == []


@pytest.mark.parametrize(
    "published",
    [
        Published(InfrastructureFailure("verdicts.review takes nothing")),
        Published(hangs=True),
    ],
)
async def test_a_verdict_that_kafka_does_not_take_is_not_given_and_the_service_goes_on(
    published, worker_log, monkeypatch
):
    monkeypatch.setattr("streams.web.verdict_endpoint.PUBLISH_SECONDS", 0.1)
    settings = settings_of(publish=True, timeout_seconds=1)
    async with service(way_of(settings, Scoring()), settings, publisher=published) as running:
        status, headers, problem = await running.post(BODY)
        assert (status, problem["code"], headers["Retry-After"]) == (503, "not_published", "5")
        assert running.count("truthgate_verdicts_total") == 0, "nothing is half done"
        assert running.failures == []
    assert "verdict_not_published" in worker_log.text
    assert SECRET not in worker_log.text


async def test_a_verdict_that_its_topic_refuses_is_never_given():
    settings = settings_of(publish=True)
    refusing = Published(BadAnswer(Stage.PUBLISH, "MessageSizeTooLargeError", SECRET))
    async with service(way_of(settings, Scoring(), [DOCUMENT]), settings, publisher=refusing) as running:
        status, _, problem = await running.post(BODY)
    assert (status, problem["code"]) == (500, "not_judged")
    assert problem["detail"] == "publish: MessageSizeTooLargeError"


async def test_an_answer_that_breaks_the_scorer_is_a_problem_of_its_own(worker_log):
    breaking = Failing(BadAnswer(Stage.SCORE, "ProcessDied", SECRET))
    async with service(way_of(settings_of(), breaking)) as running:
        status, _, problem = await running.post(BODY)
    assert (status, problem["code"], problem["detail"]) == (500, "not_judged", "score: ProcessDied")
    assert not running.failures
    (line,) = [record for record in worker_log.records if "answer_not_judged" in record.getMessage()]
    assert line.levelname == "WARNING"
    assert SECRET not in worker_log.text


@pytest.mark.parametrize(
    "failure", [InfrastructureFailure("the scoring processes die", 70), InvalidSettings("retrieval: no")]
)
async def test_what_all_answers_would_meet_is_told_to_the_process(failure):
    async with service(way_of(settings_of(), Failing(failure))) as running:
        status, headers, problem = await running.post(BODY)
    assert (status, problem["code"], headers["Retry-After"]) == (503, "not_ready", "5")
    assert running.failures == [failure]


async def test_a_defect_is_a_problem_whose_log_line_quotes_nothing(monkeypatch, worker_log):
    def defect(_: Verdict) -> None:
        raise LookupError(SECRET)

    monkeypatch.setattr("streams.web.verdict_endpoint.to_json", defect)
    async with service(way_of(settings_of(), Scoring())) as running:
        status, _, problem = await running.post(BODY)
    assert (status, problem["code"]) == (500, "internal_error")
    assert "request_failed" in worker_log.text
    assert SECRET not in worker_log.text + json.dumps(problem)


async def test_no_text_of_a_request_is_logged_whatever_becomes_of_it(worker_log):
    settings = settings_of(max_value_bytes=4096)
    async with service(way_of(settings, Scoring(), [DOCUMENT]), settings) as running:
        for body in (BODY, BODY[:-1], _with(colour=SECRET), _with(question=[SECRET]), BODY.ljust(5000)):
            await running.post(body)
            await running.post(body, Content_Type="text/plain")
    assert SECRET not in worker_log.text


async def test_before_it_can_judge_requests_are_refused():
    async with service(None) as running:
        status, headers, problem = await running.post(BODY)
    assert (status, problem["code"], headers["Retry-After"]) == (503, "not_ready", "5")


async def test_at_the_end_what_is_in_work_is_finished_and_nothing_else_begun():
    settings, waiting = settings_of(), Waiting()
    async with service(None, settings) as running:
        ending, leaving = asyncio.Event(), asyncio.Event()

        async def life() -> None:
            async with running.verdicts.serving(way_of(settings, waiting), ending.is_set):
                await leaving.wait()

        living = asyncio.create_task(life())
        held = asyncio.create_task(running.post(BODY))
        await eventually(lambda: waiting.waiting == 1, "it is in work")
        ending.set()
        status, headers, _ = await running.post(BODY)
        assert (status, headers["Connection"]) == (503, "close"), "asked to end, and not there yet"
        leaving.set()
        assert (await running.post(BODY))[0] == 503
        assert not living.done()
        waiting.may.set()
        status, headers, _ = await held
        assert (status, headers["Connection"]) == (200, "close")
        await asyncio.wait_for(living, 10)


async def test_the_end_waits_no_longer_than_an_answer_may_take(monkeypatch):
    monkeypatch.setattr("streams.web.verdict_endpoint._GRACE_SECONDS", 0.1)

    class Deaf(Waiting):
        async def score(self, exchange, degraded):
            while True:
                try:
                    return await super().score(exchange, degraded)
                except asyncio.CancelledError:
                    if self.may.is_set():
                        raise

    settings, deaf = settings_of(timeout_seconds=0.1), Deaf()
    async with service(None, settings) as running:
        async with running.verdicts.serving(way_of(settings, deaf), lambda: False):
            held = asyncio.create_task(running.post(BODY))
            await eventually(lambda: deaf.waiting == 1, "it is in work")
        deaf.may.set()
        held.cancel()


@pytest.mark.parametrize("pause", [False, True])
async def test_the_policy_can_pause_what_would_be_sent(pause):
    settings = settings_of().model_copy(update={"policy": Policy(auto_send_at=4.0, pause=pause)})
    waiting = Waiting()
    waiting.may.set()
    async with service(way_of(settings, waiting, [DOCUMENT]), settings) as running:
        _, _, verdict = await running.post(BODY)
    assert (verdict["decision"], "sending_paused" in verdict["reasons"]) == (
        ("review", True) if pause else ("auto_send", False)
    )


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", ADDRESS, 405, "method_not_allowed"),
        ("DELETE", "/v1/openapi.json", 405, "method_not_allowed"),
        ("GET", "/v1/", 404, "not_found"),
        ("POST", "/v1/verdict", 404, "not_found"),
    ],
)
async def test_other_addresses_and_methods_are_problems_too(method, path, status, code):
    async with (
        service(way_of(settings_of(), Scoring())) as running,
        running.session.request(method, path) as response,
    ):
        problem = await response.json(content_type=None)
        assert (response.status, problem["code"], response.content_type) == (
            status,
            code,
            "application/problem+json",
        )
        assert (response.headers.get("Allow") is not None) == (status == 405)


async def test_the_other_pages_are_what_they_were():
    async with service(way_of(settings_of(), Scoring())) as running:
        async with running.session.get("/healthz") as response:
            assert (response.status, await response.text()) == (200, "ok\n")
        async with running.session.get("/nowhere") as response:
            assert (response.status, response.content_type) == (404, "text/plain")


async def test_a_client_that_keeps_its_connection_is_not_cut_off_while_its_answer_is_at_work(monkeypatch):
    """Connections that are quiet for longer than their patience are; this one waits for us."""
    monkeypatch.setattr("streams.web.web_server._SWEEP_SECONDS", 0.01)
    monkeypatch.setattr(
        "streams.web.web_server.Connections.__init__.__defaults__",
        (512, 0.05, asyncio.get_running_loop().time),
    )
    waiting = Waiting()
    async with service(way_of(settings_of(), waiting)) as running:
        held = asyncio.create_task(running.post(BODY))
        await eventually(lambda: waiting.waiting == 1, "it is in work")
        await asyncio.sleep(0.3)
        waiting.may.set()
        assert (await held)[0] == 200


def test_a_worker_judges_for_nobody_unless_somebody_says_for_whom():
    def served(**verdicts: object) -> bool:
        return Settings(web={"verdicts": verdicts}).web.verdicts.are_served_by_workers

    assert not served()
    assert not served(publish=True)
    assert not served(token="")
    assert served(token=TOKEN)
    assert served(anonymous=True)


@pytest.mark.parametrize("token", ["short", "with a space in it, long", "é" * 20])
def test_a_token_that_cannot_be_sent_or_is_guessed_is_refused_without_being_quoted(token, monkeypatch):
    monkeypatch.setenv("TRUTHGATE_WEB__VERDICTS__TOKEN", token)
    with pytest.raises(InvalidSettings, match="at least 16") as caught:
        load_settings()
    assert token not in str(caught.value)


def test_an_empty_token_is_none():
    assert VerdictSettings(token="").token is None
