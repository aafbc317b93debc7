"""`POST /v1/verdicts`: one answer in, its verdict out.

A verdict that is asked for here is on no topic, and so in no rate, unless ``web.verdicts.publish`` is on.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler

from schemas import Verdict, to_json
from streams.kafka.kafka_records import Headers
from streams.observability.failures import BadAnswer, InfrastructureFailure, loggable_reason
from streams.observability.instruments import ERROR_TYPE, Instruments, MetricLabel
from streams.pipeline.answer_metrics import AnswerMetrics
from streams.pipeline.intake import OutcomePublisher
from streams.pipeline.pipeline import Deadline, Pipeline
from streams.pipeline.traces import AnswerTraces
from streams.settings import InvalidSettings, Settings
from streams.web.openapi import openapi_document
from streams.web.verdict_requests import (
    API_PREFIX,
    BODY_TIMEOUT,
    INTERNAL_ERROR,
    METHOD_NOT_ALLOWED,
    NOT_FOUND,
    NOT_JUDGED,
    NOT_PUBLISHED,
    NOT_READY,
    OPENAPI_PATH,
    TOO_MANY_IN_FLIGHT,
    VERDICTS_PATH,
    Problem,
    check_media_type,
    check_token,
    read_answer,
    read_body,
)

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class RequestMetrics:
    """The instruments of judging over HTTP."""

    def __init__(self, instruments: Instruments) -> None:
        self._duration = instruments.histogram(
            "http.server.request.duration",
            "Time from a request for a verdict to its response, by status and, without a verdict, by error; "
            "its count is the number of requests.",
            "429: `truthgate_requests_in_flight`, `truthgate_scoring_queue`; 500, 503: the log lines "
            "`answer_not_judged`, `request_failed`, `verdict_not_published`; slow: "
            "`truthgate_stage_duration_seconds` by stage.",
            MetricLabel("http.request.method"),
            MetricLabel("http.route"),
            MetricLabel("http.response.status_code"),
            ERROR_TYPE,
            bounds=_SECONDS,
            unit="s",
        )
        self.in_flight = instruments.gauge(
            "truthgate.requests_in_flight",
            "Requests for verdicts in progress.",
            "At 64: `truthgate_scoring_queue`; add processes or replicas.",
            unit="{request}",
        )

    def observe(self, method: str, route: str, status: int, code: str | None, seconds: float) -> None:
        """Measure one request; ``code`` names the problem it was answered with, if any."""
        self._duration.record(seconds, method, route, str(status), code or "")


log = structlog.get_logger(__name__)

_TRACE_HEADERS = ("traceparent", "tracestate")
#: What is in work at the end has its time limit, and so long more to be answered.
_GRACE_SECONDS = 5.0
#: The producer of these verdicts gives up after so long, within the grace.
PUBLISH_SECONDS = 4.0
#: A producer that does not.
_MARGIN_SECONDS = 0.5
_UNSTORED = {"Cache-Control": "no-store"}
_compact = partial(json.dumps, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


#: How many are judged at once; beyond them 429 with Retry-After. Each holds one of the 512 connections of the
#: server, and a body.
MAX_IN_FLIGHT = 64


class VerdictEndpoint:
    """Judges posted answers, up to a limit of concurrent ones, each within its timeout.

    Args:
        settings: ``web.verdicts``, and ``documents.wait_timeout_seconds``.
        metrics: counts verdicts, those of the topics too.
        requests: counts and measures requests.
        traces: follows each answer.
        on_error: called with a failure that all answers would meet.
    """

    def __init__(
        self,
        settings: Settings,
        metrics: AnswerMetrics,
        requests: RequestMetrics,
        traces: AnswerTraces,
        on_error: Callable[[BaseException], None],
        max_in_flight: int = MAX_IN_FLIGHT,
    ) -> None:
        chosen = settings.web.verdicts
        self._max_in_flight = max_in_flight
        self._token = chosen.token.get_secret_value() if chosen.token else None
        self._limits = chosen
        self._max_body_bytes = settings.encoding.max_value_bytes
        self._document_seconds = settings.documents.wait_timeout_seconds
        self._metrics = metrics
        self._requests = requests
        self._traces = traces
        self._on_error = on_error
        self._pipeline: Pipeline | None = None
        self._publisher: OutcomePublisher | None = None
        self._stopping: Callable[[], bool] = lambda: False
        self._in_flight = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._document = openapi_document(chosen, max_in_flight, self._max_body_bytes)
        requests.in_flight.set_function(lambda: self._in_flight)

    def add_to(self, pages: web.Application) -> None:
        """Add the routes of verdicts and of the OpenAPI document."""
        pages.middlewares.append(_with_problems)
        pages.router.add_post(VERDICTS_PATH, self._post)
        pages.router.add_get(OPENAPI_PATH, self._describe)

    @asynccontextmanager
    async def serving(
        self, pipeline: Pipeline, stopping: Callable[[], bool], publisher: OutcomePublisher | None = None
    ) -> AsyncIterator[None]:
        """Judge with ``pipeline`` while the context lasts, until ``stopping`` returns true; else refuse.

        Answers in progress at the end are finished. With a ``publisher`` and ``web.verdicts.publish`` a
        verdict is returned once it is published.
        """
        self._pipeline, self._stopping = pipeline, stopping
        self._publisher = publisher if self._limits.publish else None
        try:
            yield
        finally:
            self._pipeline = None
            with suppress(TimeoutError):
                async with asyncio.timeout(self._limits.timeout_seconds + _GRACE_SECONDS):
                    await self._idle.wait()

    async def _post(self, request: web.Request) -> web.Response:
        began = time.monotonic()
        with self._traces.serving("POST", VERDICTS_PATH, request.scheme, _trace_headers(request)) as span:
            code = None
            try:
                verdict = to_json(await self._verdict(request))
                response = web.json_response(verdict, headers=_UNSTORED, dumps=_compact)
            except Problem as problem:
                code, response = problem.problem_type.code, problem.response()
            except Exception as error:  # noqa: BLE001 - a defect; its text may quote the request
                log.error("request_failed", reason=loggable_reason(error))  # noqa: TRY400 - a traceback may quote
                code, response = INTERNAL_ERROR.code, Problem(INTERNAL_ERROR, "the log says more").response()
            self._traces.record_response(span, response.status, code)
        if self._stopping():
            response.force_close()
        self._requests.observe("POST", VERDICTS_PATH, response.status, code, time.monotonic() - began)
        return response

    async def _verdict(self, request: web.Request) -> Verdict:
        """Return the verdict on the answer of a request; raises Problem."""
        check_token(request, self._token)
        check_media_type(request)
        with self._slot() as way:
            ends = asyncio.get_running_loop().time() + self._limits.timeout_seconds
            return await self._produce_verdict(way, request, ends)

    @contextmanager
    def _slot(self) -> Iterator[Pipeline]:
        """Occupy one of the concurrent slots, and yield the pipeline; raises Problem if none is free."""
        if self._pipeline is None or self._stopping():
            raise Problem(NOT_READY, "try another one, or later")
        if self._in_flight >= self._max_in_flight:
            raise Problem(TOO_MANY_IN_FLIGHT, f"{self._max_in_flight} are judged at once")
        self._in_flight += 1
        self._idle.clear()
        try:
            yield self._pipeline
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._idle.set()

    async def _produce_verdict(self, pipeline: Pipeline, request: web.Request, ends: float) -> Verdict:
        received_at = time.time()
        try:
            async with asyncio.timeout_at(ends):
                body = await read_body(request, self._max_body_bytes)
        except TimeoutError:
            raise Problem(BODY_TIMEOUT, "the body took longer than web.verdicts.timeout_seconds") from None
        with self._traces.decoding():
            answer = read_answer(body)
        try:
            deadline = Deadline(ends, self._document_seconds)
            verdict = await pipeline.verdict(answer, deadline, lambda: datetime.now(UTC))
            self._traces.record_verdict(verdict)
            if self._publisher is not None:
                await self._publish(self._publisher, verdict, _trace_headers(request), ends)
        except BadAnswer as error:
            log.warning("answer_not_judged", stage=error.stage.value, error_type=error.error_class)
            raise Problem(NOT_JUDGED, f"{error.stage}: {error.error_class}") from error
        except (InfrastructureFailure, InvalidSettings) as failure:
            self._on_error(failure)
            raise Problem(NOT_READY, "no answer can be judged any more") from failure
        self._metrics.count_verdict(verdict, received_at)
        return verdict

    async def _publish(
        self, publisher: OutcomePublisher, verdict: Verdict, headers: Headers, ends: float
    ) -> None:
        """Wait until the brokers acknowledge the verdict; raises Problem if they do not in time.

        The process goes on: who asked has no verdict, and may ask again for the one with the same id.
        """
        try:
            async with asyncio.timeout_at(ends + PUBLISH_SECONDS + _MARGIN_SECONDS):
                await publisher.publish(verdict, headers)
        except (InfrastructureFailure, TimeoutError) as failure:
            reason = str(failure) or "not in time"
            log.error("verdict_not_published", reason=reason)  # noqa: TRY400 - the reason is all there is
            raise Problem(
                NOT_PUBLISHED, "it was not acknowledged; asked again, it has the same verdict_id"
            ) from failure

    async def _describe(self, _: web.Request) -> web.Response:
        return web.json_response(self._document)


def _trace_headers(request: web.Request) -> Headers:
    return tuple(
        (name, value.encode("utf-8", "surrogateescape"))
        for name in _TRACE_HEADERS
        for value in request.headers.getall(name, ())
    )


@web.middleware
async def _with_problems(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Respond with a problem to failed requests under our paths, unknown ones included."""
    try:
        return await handler(request)
    except (web.HTTPMethodNotAllowed, web.HTTPNotFound) as error:
        if not request.path.startswith(API_PREFIX):
            raise
        if isinstance(error, web.HTTPNotFound):
            return Problem(NOT_FOUND, f"there are {VERDICTS_PATH} and {OPENAPI_PATH}").response()
        allowed = ", ".join(sorted(error.allowed_methods))
        return Problem(METHOD_NOT_ALLOWED, f"it takes {allowed}", {"Allow": allowed}).response()
