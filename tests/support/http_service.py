"""Judging over HTTP with the real web application and a real client, and what judges in its place."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from aiohttp import ClientSession
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from schemas import Codec, KnowledgeDocument
from scoring.values.exchange import Exchange, MessageType
from scoring.values.scored_answer import ScoredAnswer
from streams.delivery.publisher import Publisher
from streams.kafka.topics import Topics
from streams.observability.health import Health
from streams.observability.tracing import Tracing
from streams.pipeline.context import DocumentLookup, StaticDocuments
from streams.pipeline.intake import OutcomePublisher
from streams.pipeline.pipeline import Pipeline
from streams.pipeline.traces import AnswerTraces
from streams.scorers.options import AsyncScorer
from streams.settings import EncodingSettings, Settings, VerdictSettings, WebSettings
from streams.web import create_web_app, serve
from streams.web.verdict_endpoint import MAX_IN_FLIGHT, VerdictEndpoint
from streams.worker.worker_metrics import WorkerMetrics

ADDRESS = "/v1/verdicts"


class Waiting:
    """Finds every answer good, once it may; tells how many wait for that."""

    def __init__(self) -> None:
        self.may = asyncio.Event()
        self.waiting = 0

    async def score(self, exchange: Exchange, degraded: tuple[str, ...]) -> ScoredAnswer:
        self.waiting += 1
        try:
            await self.may.wait()
        finally:
            self.waiting -= 1
        return ScoredAnswer(5.0, MessageType.BINARY, "nl", degraded=degraded)


@dataclass
class Service:
    """A service that runs: where it is, its client, its numbers, and the failures that end it."""

    port: int
    session: ClientSession
    metrics: WorkerMetrics
    verdicts: VerdictEndpoint
    failures: list[BaseException]

    async def post(self, body: bytes, **headers: str) -> tuple[int, Mapping[str, str], Any]:
        """Post a body as JSON; give status, headers and what the response holds."""
        given = {"Content-Type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}}
        async with self.session.post(ADDRESS, data=body, headers=given) as response:
            return response.status, response.headers, await response.json(content_type=None)

    def count(self, name: str, **labels: str) -> float:
        """Give the sum of the samples of this name with these labels."""
        families = text_string_to_metric_families(generate_latest(self.metrics.registry).decode())
        return sum(
            sample.value
            for family in families
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )


def way_of(
    settings: Settings, assessor: AsyncScorer, documents: DocumentLookup | Collection[KnowledgeDocument] = ()
) -> Pipeline:
    """Give the way of an answer that ``assessor`` assesses."""
    given = StaticDocuments.of(documents) if isinstance(documents, Collection) else documents
    return Pipeline(given, assessor, settings.policy.decide, settings.scoring.profile)


def settings_of(max_value_bytes: int = 1_048_576, **verdicts: Any) -> Settings:
    """Give settings of a service on this machine, with these of ``web.verdicts``."""
    return Settings(
        web=WebSettings(host="127.0.0.1", port=0, verdicts=VerdictSettings(**verdicts)),
        encoding=EncodingSettings(max_value_bytes=max_value_bytes),
    )


@asynccontextmanager
async def service(
    way: Pipeline | None,
    settings: Settings | None = None,
    tracing: Tracing | None = None,
    *,
    publisher: Publisher | None = None,
    stopping: bool = False,
    max_in_flight: int = MAX_IN_FLIGHT,
) -> AsyncIterator[Service]:
    """Run a service that judges by ``way``; None: it is there and does not judge yet."""
    settings = settings or settings_of()
    metrics, failures = WorkerMetrics(), list[BaseException]()
    traces = AnswerTraces(settings, tracing or Tracing(), metrics.answers.observe_stage)
    verdicts = VerdictEndpoint(
        settings, metrics.answers, metrics.requests, traces, failures.append, max_in_flight
    )
    pages = create_web_app(Health(180, 10), metrics.registry)
    verdicts.add_to(pages)
    async with (
        serve(pages, settings.web) as port,
        ClientSession(f"http://127.0.0.1:{port}") as session,
    ):
        running = Service(port, session, metrics, verdicts, failures)
        if way is None:
            yield running
            return
        watched = replace(way, stages=traces.stages)
        published = publisher and OutcomePublisher(Codec(), publisher, Topics(), traces)
        async with verdicts.serving(watched, lambda: False, published):
            yield running
