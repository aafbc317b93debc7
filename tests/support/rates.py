"""Workers that count hallucination rates: their settings, and what they published."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from types import TracebackType
from typing import Any, NamedTuple, Self

from aiokafka import ConsumerRecord

from schemas import Codec, DecodeError, RateAlert, RateWindow, Verdict
from streams.kafka.kafka_clients import open_consumer, open_producer
from streams.kafka.schema_topic import create_codec
from streams.kafka.topics import Topics
from streams.observability.tracing import Tracing
from streams.rates.rate_leader import RateLeader
from streams.rates.verdict_counts import from_epoch_ms, verdict_event
from streams.settings import KafkaSettings, Settings
from streams.worker.worker_metrics import WorkerMetrics
from tests.support.offline_rates import Counted, counted_in, offline_rates
from tests.support.records import DEADLINE_SECONDS, end_offsets
from tests.support.workers import changed

_POLL_MILLISECONDS = 200
_PAUSE_SECONDS = 0.5


def with_rates(settings: Settings, **values: Any) -> Settings:
    """Switch rates on, published often: ``with_rates(settings, windows=[{"size_seconds": 10}])``.

    Thresholds on windows that are not there then are left out.
    """
    counted = changed(settings, rates={"enabled": True, "idle_after_seconds": 2.0, **values})
    sizes = {window.size_seconds for window in counted.rates.windows}
    kept = [each.model_dump() for each in settings.alerts.thresholds if each.window_seconds in sizes]
    return changed(counted, alerts={"thresholds": kept})


class Window(NamedTuple):
    """What tells a window from all others."""

    start: datetime
    end: datetime
    message_type: str
    language: str | None


def window_of(record: RateWindow) -> Window:
    """Give the window that a record is about."""
    return Window(record.window_start, record.window_end, record.message_type, record.language)


@dataclass
class PublishedRates:
    """All states of all windows, in the order in which they were published."""

    states: dict[Window, list[RateWindow]] = field(default_factory=lambda: defaultdict(list))

    @property
    def last(self) -> dict[Window, RateWindow]:
        """The last state of each window, which is the one that counts."""
        return {window: states[-1] for window, states in self.states.items()}

    @property
    def final(self) -> dict[Window, RateWindow]:
        """The last state of each window that is final."""
        return {window: state for window, state in self.last.items() if state.final}

    def assert_orderly(self) -> None:
        """Each window becomes final at most once, stays so, and is published again only when it changed."""
        for window, states in self.states.items():
            finals = [state.final for state in states]
            assert finals == sorted(finals), f"{window} is open again after it was final"
            lates = [state.late for state in states if state.final]
            assert lates == sorted(set(lates)), f"{window} is final twice: {states}"
            assert all(a != b for a, b in pairwise(states)), f"{window} is repeated"


async def published_rates(settings: Settings) -> PublishedRates:
    """Read everything that was committed to ``hallucination-rates`` up to now."""
    published, codec = PublishedRates(), Codec()
    for record in await committed_records(settings.kafka, Topics(settings.kafka.topic_prefix).rates):
        state = codec.decode(record.value, RateWindow)
        published.states[window_of(state)].append(state)
    return published


async def published_alerts(settings: Settings) -> list[RateAlert]:
    """Read everything that was committed to ``hallucination-alerts`` up to now."""
    topic = Topics(settings.kafka.topic_prefix).rate_alerts
    records = await committed_records(settings.kafka, topic)
    return [Codec().decode(record.value, RateAlert) for record in records]


async def committed_records(
    settings: KafkaSettings, topic: str, deadline: float = DEADLINE_SECONDS
) -> list[ConsumerRecord]:
    """Read everything in a topic up to now, without what transactions left undone."""
    partitions = list(await end_offsets(settings, [topic]))
    records: list[ConsumerRecord] = []
    options = {"auto_offset_reset": "earliest", "isolation_level": "read_committed"}
    async with asyncio.timeout(deadline), open_consumer(settings, **options) as consumer:
        consumer.assign(partitions)
        ends = await consumer.end_offsets(partitions)
        while any([await consumer.position(at) < end for at, end in ends.items()]):
            for batch in (await consumer.getmany(timeout_ms=_POLL_MILLISECONDS)).values():
                records += batch
    return records


async def recounted(settings: Settings) -> dict[Window, Counted]:
    """Count the verdict topics as they stand, in one go, without what is no verdict."""
    codec, topics, outcomes = create_codec(settings), Topics(settings.kafka.topic_prefix), []
    for record in [r for topic in topics.outputs for r in await committed_records(settings.kafka, topic)]:
        await codec.lookup(record.value)
        with suppress(DecodeError):
            outcomes.append(verdict_event(codec.decode(record.value, Verdict), record.timestamp))
    windows = [(window.size_seconds * 1000, window.hop_seconds * 1000) for window in settings.rates.windows]
    return {
        Window(from_epoch_ms(start), from_epoch_ms(start + size), message_type, language): counts
        for (start, size, message_type, language), counts in offline_rates(outcomes, windows).items()
    }


async def until_exact(settings: Settings, deadline: float = DEADLINE_SECONDS) -> PublishedRates:
    """Wait until all windows are final, and each tells what a recount of the verdict topics finds.

    AssertionError that names the windows that differ when that is not within ``deadline`` seconds.
    """
    expected = await recounted(settings)
    end, published = time.monotonic() + deadline, PublishedRates()
    while (differing := _differing(expected, published)) and time.monotonic() < end:
        await asyncio.sleep(_PAUSE_SECONDS)
        published = await published_rates(settings)
    assert not differing, f"{len(differing)} of {len(expected)} windows differ: {list(differing.items())[:3]}"
    published.assert_orderly()
    return published


def _differing(expected: dict[Window, Counted], published: PublishedRates) -> dict[Window, object]:
    final = {window: counted_in(state) for window, state in published.final.items() if state.answers}
    windows = expected.keys() | {window for window, state in published.last.items() if state.answers}
    return {
        window: (expected.get(window), published.last.get(window))
        for window in windows
        if expected.get(window) != final.get(window)
    }


def sample_verdict(number: int, event_time: datetime, **changes: Any) -> Verdict:
    """Give a verdict on an answer of its own: every fifth is blocked, every fifth goes to review unscored."""
    kind = number % 5
    values: dict[str, Any] = {
        "verdict_id": f"verdict-{number}",
        "answer_id": f"answer-{number}",
        "conversation_id": f"conversation-{number}",
        "decision": {0: "blocked", 1: "review"}.get(kind, "auto_send"),
        "reasons": (),
        "score": {0: 1.5, 1: None}.get(kind, 4.5),
        "profile": "truthgate",
        "message_type": ("instruction", "factual", "greeting")[number % 3],
        "language": ("nl", "en", None)[number % 7 % 3],
        "translated": False,
        "question": "?",
        "answer": "!",
        "context_source": "none",
        "context_ids": (),
        "features": (),
        "policy_version": "1",
        "scorer_version": "1",
        "degraded": (),
        "produced_at": event_time,
        "scored_at": event_time + timedelta(seconds=1),
        "faithfulness": {0: 1 / 3, 1: None, 2: 0.1}.get(kind, 1.0),
    }
    return Verdict(**(values | changes))


async def publish_verdicts(settings: Settings, verdicts: Iterable[Verdict]) -> None:
    """Publish verdicts as a worker does, each to the topic of its decision."""
    topics, codec = Topics(settings.kafka.topic_prefix), Codec()
    async with open_producer(settings.kafka, linger_ms=5) as producer:
        sent = []
        for verdict in verdicts:
            topic, key = topics.verdict_topic(verdict.decision), verdict.conversation_id.encode()
            sent.append(await producer.send(topic, codec.encode(verdict), key))
        await asyncio.gather(*sent)


class Leadership:
    """A leader in this process, which believes that it leads while ``leads`` is True."""

    def __init__(self, settings: Settings, leads: bool = True) -> None:
        self.leads = leads
        self.metrics = WorkerMetrics()
        self._stopping = asyncio.Event()
        self._leader = RateLeader(
            settings,
            self.metrics.rates,
            Tracing(),
            lambda: self.leads,
            self._stopping,
        )
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._leader.run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Ask it to end, as a worker that gets SIGTERM does."""
        assert self._task is not None
        self._stopping.set()
        await asyncio.wait([self._task], timeout=DEADLINE_SECONDS)
        assert self._task.done()

    async def crash(self) -> None:
        """End it wherever it is."""
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait([self._task], timeout=DEADLINE_SECONDS)

    def metric(self, name: str, **labels: str) -> float | None:
        """Give the value of a metric now."""
        return self.metrics.registry.get_sample_value(f"truthgate_{name}", labels)
