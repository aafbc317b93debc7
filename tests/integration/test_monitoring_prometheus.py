"""A real Prometheus scrapes a real worker: queries return data, an alert fires, and it resolves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path

import pytest

from schemas import Codec
from schemas.records import ChatbotAnswer
from streams.kafka import open_producer
from streams.monitoring.deployment import Deployment
from streams.monitoring.promql import Promql
from streams.monitoring.rule_file import all_rules, to_yaml
from streams.monitoring.rules import Alert, Recording
from streams.settings import Settings
from streams.topics import Topics, create_topics
from streams.verdicts import verdict_id
from tests.support.ledger import outgoing, read_until_settled, sample_answers
from tests.support.libretranslate import LibreTranslate
from tests.support.monitoring import board, filled, operands, queries, rules
from tests.support.parallel_texts import ParallelTexts
from tests.support.prometheus import Prometheus
from tests.support.rates import with_rates
from tests.support.records import eventually, produce
from tests.support.workers import Worker, changed

HIGH = "TruthgateHallucinationRateHigh"
#: Five minutes are five seconds, an hour is one minute.
_PACE = 1 / 60
_WINDOW = 5
_VARIABLES = {
    "$__rate_interval": "5s",
    "$__range": "1m",
    "$job": "truthgate",
    "$namespace": ".*",
    "$message_type": ".*",
    "$language": ".*",
    "$window": f"{_WINDOW}s",
}
_PER_SECOND = 8
_DEADLINE_SECONDS = 60.0


@pytest.fixture
def translator() -> Iterator[LibreTranslate]:
    with LibreTranslate(ParallelTexts.of_sample()) as server:
        yield server


@pytest.fixture
def watched(settings: Settings, translator: LibreTranslate, tmp_path: Path) -> Settings:
    """Give settings with short windows, a threshold on one of them, and everything that has metrics."""
    counting = with_rates(settings, windows=[{"size": _WINDOW, "hop": 1}], allowed_lateness=1, retention=60)
    threshold = {"name": "half", "window": _WINDOW, "rate": 0.5, "minimum_answers": 8, "severity": "warning"}
    return changed(
        counting,
        alerts={"thresholds": [threshold]},
        flow={"commit_interval": 0.5},
        scoring={"processes": 1},
        health={"check_interval": 0.5},
        translation={
            "mode": "auto",
            "provider": "libretranslate",
            "base_url": translator.url,
            "cache": tmp_path / "translations.sqlite3",
        },
    )


class Replay:
    """Publishes a chat log whose answers are produced now, again and again."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._topic = Topics(settings.kafka.topic_prefix).answers
        self._numbers = iter(range(1_000_000))

    async def once(self, answers: Sequence[ChatbotAnswer]) -> list[ChatbotAnswer]:
        """Publish each answer once, as fast as it goes, and return them as they are published."""
        fresh = [self._fresh(answer) for answer in answers]
        await produce(self._settings.kafka, self._topic, [outgoing(answer, Codec()) for answer in fresh])
        return fresh

    @asynccontextmanager
    async def going_on(self, answers: Sequence[ChatbotAnswer]) -> AsyncIterator[None]:
        """Publish the answers over and over while the context lasts."""
        task = asyncio.create_task(self._go_on(answers))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
        assert task.cancelled(), task.exception()

    async def _go_on(self, answers: Sequence[ChatbotAnswer]) -> None:
        async with open_producer(self._settings.kafka) as producer:
            for answer in cycle(answers):
                record = outgoing(self._fresh(answer), Codec())
                await producer.send_and_wait(self._topic, record.value, key=record.key)
                await asyncio.sleep(1 / _PER_SECOND)

    def _fresh(self, answer: ChatbotAnswer) -> ChatbotAnswer:
        number = next(self._numbers)
        return replace(answer, answer_id=f"replayed-{number}", produced_at=datetime.now(UTC))


async def test_queries_return_data_and_an_alert_fires_and_resolves(watched: Settings, tmp_path: Path) -> None:
    """A chatbot becomes worse while it is watched, and well again."""
    deployment = Deployment(watched, Promql(pace=_PACE))
    await create_topics(watched)
    replay = Replay(watched)
    with Worker(watched, tmp_path) as worker:
        worker.wait_ready()
        with Prometheus(
            tmp_path, f"127.0.0.1:{worker._port()}", to_yaml(all_rules(deployment))
        ) as prometheus:
            assert _without_data(prometheus, deployment), "before the first answer there are no latencies"
            true, untrue = await _told_apart(watched, replay)
            async with replay.going_on(untrue):
                await _until(lambda: HIGH in prometheus.alerts("firing"), f"{HIGH} fires")
                assert prometheus.now(f'ALERTS{{alertname="{HIGH}", alert="half", severity="warning"}}')
            async with replay.going_on(true):
                await _until(lambda: HIGH not in prometheus.alerts("firing"), f"{HIGH} resolves")
                await _until(lambda: not _without_data(prometheus, deployment), "queries with data")
            assert prometheus.broken_rules() == []


async def _told_apart(settings: Settings, replay: Replay) -> tuple[list[ChatbotAnswer], list[ChatbotAnswer]]:
    """Send a chat log, with answers to be translated and broken ones, and see which are blocked."""
    answers = sample_answers(32, "sample", language="en")
    fresh = await replay.once([*answers, *sample_answers(4, "translated", language="nl")])
    topic = Topics(settings.kafka.topic_prefix).answers
    await produce(settings.kafka, topic, [b"no answer"] * 8)
    ledger = await read_until_settled(settings, fresh)
    blocked = {verdict.verdict_id for verdict in ledger.verdicts if verdict.decision == "blocked"}
    pairs = list(zip(answers, fresh[: len(answers)], strict=True))
    untrue = [answer for answer, sent in pairs if verdict_id(sent.answer_id) in blocked]
    return [answer for answer in answers if answer not in untrue], untrue


def _without_data(prometheus: Prometheus, deployment: Deployment) -> list[str]:
    asked = {name: filled(expression, _VARIABLES) for name, expression in queries(board(deployment)).items()}
    asked |= {rule.record: rule.expression for rule in rules(deployment, Recording)}
    for alert in rules(deployment, Alert):
        asked |= {f"{alert.name} {n}": operand for n, operand in enumerate(operands(alert.expression))}
    return [
        f"{name}: {expression}" for name, expression in asked.items() if not prometheus.values(expression)
    ]


async def _until(condition: Callable[[], bool], what: str) -> None:
    await eventually(condition, what, _DEADLINE_SECONDS)
