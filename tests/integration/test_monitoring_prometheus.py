"""A real Prometheus scrapes a real worker: queries return data, an alert fires, and it resolves.

A rate needs two scrapes and something that happens between them. So whatever a query needs goes on until it
has its data, however long a loaded machine takes for it.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count, cycle, islice
from pathlib import Path
from typing import Any

import pytest

from schemas import Codec
from schemas.records import ChatbotAnswer
from streams.kafka.kafka_clients import open_producer
from streams.kafka.topics import Topics, create_topics
from streams.monitoring.prometheus_rules import Deployment
from streams.monitoring.rendering import all_rules, render_rule_file
from streams.pipeline.verdict import verdict_id
from streams.settings import Settings
from tests.support.ledger import outgoing, read_until_settled, sample_answers
from tests.support.libretranslate import LibreTranslate
from tests.support.monitoring import board, filled, queries, rule_operands
from tests.support.parallel_texts import ParallelTexts
from tests.support.prometheus import Prometheus
from tests.support.rates import publish_verdicts, sample_verdict, with_rates
from tests.support.records import Outgoing, eventually, produce
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
    "$in_time": "0.99",
    "$judged": "0.999",
}
_PER_SECOND = 8
#: For all that is waited for together.
_DEADLINE_SECONDS = 180.0
_BROKEN = b"no answer"

Sent = ChatbotAnswer | bytes


@pytest.fixture
def translator() -> Iterator[LibreTranslate]:
    with LibreTranslate(ParallelTexts.of_sample()) as server:
        yield server


@pytest.fixture
def watched(settings: Settings, translator: LibreTranslate, tmp_path: Path) -> Settings:
    """Give settings with short windows, a threshold on one of them, and everything that has metrics."""
    paused = settings.model_copy(update={"policy": replace(settings.policy, pause=True)})
    counting = with_rates(
        paused,
        windows=[{"size_seconds": _WINDOW, "hop_seconds": 1}],
        allowed_lateness_seconds=1,
        retention_seconds=60,
    )
    threshold = {
        "name": "half",
        "window_seconds": _WINDOW,
        "rate": 0.5,
        "minimum_answers": 8,
        "severity": "warning",
    }
    return changed(
        counting,
        alerts={"thresholds": [threshold]},
        # The profile that looks for the company's own words; verdicts with claims are published beside it.
        scoring={"processes": 1, "profile": "paper"},
        translation={
            "provider": "libretranslate",
            "base_url": translator.url,
        },
    )


@asynccontextmanager
async def meanwhile(endless: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Let something that does not end go on while the context lasts."""
    task = asyncio.create_task(endless)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
    assert task.cancelled(), task.exception()


async def checked_claims(settings: Settings) -> None:
    """Publish verdicts on answers whose claims were checked, as not every profile's are."""
    for number in count():
        verdict = sample_verdict(number, datetime.now(UTC), faithfulness=0.5, decision="review")
        await publish_verdicts(settings, [verdict])
        await asyncio.sleep(1 / _PER_SECOND)


class Replay:
    """Publishes a chat log whose answers are produced now, again and again; bytes go out as they are."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._topic = Topics(settings.kafka.topic_prefix).answers
        self._numbers = iter(range(1_000_000))

    async def once(self, answers: Sequence[ChatbotAnswer]) -> list[ChatbotAnswer]:
        """Publish each answer once, as fast as it goes, and return them as they are published."""
        fresh = [self._fresh(answer) for answer in answers]
        await produce(self._settings.kafka, self._topic, [outgoing(answer, Codec()) for answer in fresh])
        return fresh

    def going_on(self, records: Sequence[Sent]) -> AbstractAsyncContextManager[None]:
        """Publish the records over and over while the context lasts."""
        return meanwhile(self._go_on(records))

    async def _go_on(self, records: Sequence[Sent]) -> None:
        async with open_producer(self._settings.kafka) as producer:
            for each in cycle(records):
                record = self._record(each)
                await producer.send_and_wait(self._topic, record.value, key=record.key)
                await asyncio.sleep(1 / _PER_SECOND)

    def _record(self, each: Sent) -> Outgoing:
        return Outgoing(each) if isinstance(each, bytes) else outgoing(self._fresh(each), Codec())

    def _fresh(self, answer: ChatbotAnswer) -> ChatbotAnswer:
        number = next(self._numbers)
        return replace(answer, answer_id=f"replayed-{number}", produced_at=datetime.now(UTC))


#: No judge is named here who could be asked, no client certificate, no fitted policy, and no desk: nothing is
#: measured of them.
_NOT_HERE = re.compile(r"gen_ai_client_|truthgate_(opinions|judge_|kafka_certificate_end_|policy|desk_)")


class Watch:
    """What Prometheus is asked, and which of it has had no value yet."""

    def __init__(self, prometheus: Prometheus, deployment: Deployment) -> None:
        self._prometheus = prometheus
        self._end = time.monotonic() + _DEADLINE_SECONDS
        shown = {
            name: filled(expression, _VARIABLES) for name, expression in queries(board(deployment)).items()
        }
        asked = shown | rule_operands(deployment)
        self._asked = {name: each for name, each in asked.items() if not _NOT_HERE.search(each)}

    def without_data(self) -> list[str]:
        """Give the queries without a value since the start; one that had a value is asked no more."""
        self._asked = {
            name: expression
            for name, expression in self._asked.items()
            if not self._prometheus.values(expression)
        }
        return [f"{name}: {expression}" for name, expression in self._asked.items()]

    def _lacking(self) -> list[str]:
        return [each for each in self.without_data() if " offset " not in each]

    async def until_all_have_data(self) -> None:
        """Wait until every query has had a value; AssertionError that names those without.

        What compares with the week before has none yet.
        """
        try:
            await self._until(lambda: not self._lacking(), "queries with data")
        except AssertionError as error:
            raise AssertionError(f"without data: {self._lacking()}") from error

    async def until_fires(self, alert: str, labels: str) -> None:
        """Wait until an alert fires with these labels."""
        firing = f'ALERTS{{alertname="{alert}", alertstate="firing", {labels}}}'
        await self._until(lambda: bool(self._prometheus.now(firing)), f"{alert} fires")

    async def until_resolves(self, alert: str) -> None:
        """Wait until an alert fires no more."""
        await self._until(lambda: alert not in self._prometheus.alerts("firing"), f"{alert} resolves")

    async def _until(self, condition: Callable[[], bool], what: str) -> None:
        # In a thread, since whoever publishes has to go on meanwhile.
        left = max(0.0, self._end - time.monotonic())
        await eventually(lambda: asyncio.to_thread(condition), what, left)


async def test_queries_return_data_and_an_alert_fires_and_resolves(watched, tmp_path):
    """A chatbot becomes worse while it is watched, and well again."""
    deployment = Deployment(watched, time_scale=_PACE)
    await create_topics(watched)
    replay = Replay(watched)
    with Worker(watched, tmp_path) as worker:
        worker.wait_ready()
        with Prometheus(
            tmp_path, f"127.0.0.1:{worker._port()}", render_rule_file(all_rules(deployment))
        ) as prometheus:
            watch = Watch(prometheus, deployment)
            assert watch.without_data(), "before the first answer there are no latencies"
            true, untrue = await _told_apart(watched, replay)
            async with replay.going_on(untrue):
                await watch.until_fires(HIGH, 'alert="half", severity="warning"')
            async with replay.going_on(true):
                await watch.until_resolves(HIGH)
            async with replay.going_on(_of_every_kind(true)), meanwhile(checked_claims(watched)):
                await watch.until_all_have_data()
            assert prometheus.broken_rules() == []


async def _told_apart(settings: Settings, replay: Replay) -> tuple[list[ChatbotAnswer], list[ChatbotAnswer]]:
    """Send a chat log, and see which of its answers are blocked: those that are not, and those that are."""
    answers = sample_answers(32, "sample", language="en")
    fresh = await replay.once(answers)
    ledger = await read_until_settled(settings, fresh)
    blocked = {verdict.verdict_id for verdict in ledger.verdicts if verdict.decision == "blocked"}
    pairs = list(zip(answers, fresh, strict=True))
    untrue = [answer for answer, sent in pairs if verdict_id(sent.answer_id) in blocked]
    return [answer for answer in answers if answer not in untrue], untrue


def _of_every_kind(english: Sequence[ChatbotAnswer]) -> list[Sent]:
    """Give answers in turn with some that are translated, and with what becomes a dead letter."""
    dutch = sample_answers(4, "translated", language="nl")
    kinds = (english, dutch, [_BROKEN])
    turns = zip(*map(cycle, kinds), strict=True)
    return [each for turn in islice(turns, len(english)) for each in turn]
