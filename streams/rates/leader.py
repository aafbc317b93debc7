"""Who counts the verdicts, and the life of one that does: crash-only, on from the last committed progress.

The worker that has the first partition of ``answers`` leads. Two may believe so for a moment: the later one
fences the earlier one's transactions, so only one of them publishes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field

import structlog
from aiokafka.errors import ProducerFenced

from schemas import Codec, RateAlert, RateWindow
from streams.kafka.topic_reader import open_reader
from streams.kafka.topics import Topics
from streams.rates.instruments import RatesTelemetry
from streams.rates.publication import open_rate_publisher
from streams.rates.takeover import take_over
from streams.rates.traces import Publications
from streams.rates.turn import TopicsChanged, Turn
from streams.settings import Settings
from streams.telemetry.tracing import Tracing

log = structlog.get_logger(__name__)

#: How often it is looked at whether this worker leads.
_ELECTION_SECONDS = 0.25
#: A rebalance takes partitions away and gives them back; a leader goes on for so long meanwhile.
_GRACE_SECONDS = 2.0
#: How long the last publication of a worker that is asked to stop may take.
_LAST_SECONDS = 3.0
#: A fetch that finds nothing holds up a change of partitions for so long.
_FETCH_WAIT_MS = 200
#: A fetch waits that long for so much: one for each verdict would cost a millisecond an answer here, and
#: nearly as much in the broker. A rate that is published every few seconds loses nothing.
_FETCH_BYTES = 1_048_576
#: How long to wait after a failure; twice as long after each further one.
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.5, 30.0


@dataclass(eq=False)
class RateLeader:
    """Counts the verdicts of the deployment while this worker leads, and waits while it does not.

    Whatever fails ends one turn, not the worker: it is counted, logged, and followed by another turn.

    Args:
        settings: what is counted, and where.
        telemetry: what is told.
        tracing: what the publications are traced by.
        leads: says whether this worker has the first partition of ``answers`` now.
        stopping: set when the worker is to end, of the event loop that it runs in.
        clock: seconds since 1970.
    """

    settings: Settings
    telemetry: RatesTelemetry
    tracing: Tracing
    leads: Callable[[], bool]
    stopping: asyncio.Event
    clock: Callable[[], float] = time.time
    _led_at: float = field(default=0.0, init=False)
    _pause: float = field(default=_FIRST_PAUSE_SECONDS, init=False)

    async def run(self) -> None:
        """Take turn after turn until the worker stops."""
        self.telemetry.step_down()
        while not self.stopping.is_set():
            if not self.leads():
                await self._rest(_ELECTION_SECONDS)
                continue
            began = time.monotonic()
            try:
                await self._take_turn()
            except asyncio.CancelledError as error:
                if (task := asyncio.current_task()) and task.cancelling():
                    raise
                await self._fail(
                    error, began
                )  # a client of Kafka let out what was meant for a task of its own
            except Exception as error:  # noqa: BLE001 - whatever it is, answers are judged all the same
                await self._fail(error, began)
            finally:
                self.telemetry.step_down()

    async def _fail(self, error: BaseException, began: float) -> None:
        """Tell of a turn's failure and rest, the longer the more turns in a row fail early."""
        if time.monotonic() - began > _LONGEST_PAUSE_SECONDS:
            self._pause = _FIRST_PAUSE_SECONDS
        if isinstance(error, TopicsChanged) or (isinstance(error, ProducerFenced) and not self.leads()):
            log.info("rates_turn_ends", error_type=type(error).__name__)
        else:
            self.telemetry.failures.add(type(error).__name__)
            # The text of an exception may quote a record: its class is enough.
            log.warning("rates_failed", error_type=type(error).__name__, retry_in=self._pause)
        self.telemetry.step_down()
        await self._rest(self._pause)
        self._pause = min(2 * self._pause, _LONGEST_PAUSE_SECONDS)

    async def _rest(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.stopping.wait()

    async def _take_turn(self) -> None:
        self._led_at = time.monotonic()
        kafka, traces = self.settings.kafka, Publications(self.settings.kafka, self.tracing)
        # One for each turn and event loop; a leader that lacks the registry fences nobody.
        codec = Codec(self.settings.encoding.schema_registry_url, self.settings.encoding.json_input)
        await codec.prepare(RateWindow, RateAlert)
        async with AsyncExitStack() as stack:
            # First of all: from here on the one before can commit nothing that is not read below.
            opened = open_rate_publisher(self.settings, codec, traces)
            publisher = await stack.enter_async_context(opened)
            verdicts = open_reader(
                kafka,
                *Topics(kafka.topic_prefix).outputs,
                clock=self.clock,
                fetch_min_bytes=_FETCH_BYTES,
                fetch_max_wait_ms=_FETCH_WAIT_MS,
            )
            reader = await stack.enter_async_context(verdicts)
            self.telemetry.leader.set(1)
            counting = await take_over(self.settings, codec, reader, self._goes_on)
            if counting is None:
                return
            log.info("rates_lead")
            turn = Turn(counting, reader, publisher, self.telemetry, traces, self.clock)
            await turn.count(self.settings.rates.publish_interval_seconds, self._goes_on)
            if self.stopping.is_set():
                async with asyncio.timeout(_LAST_SECONDS):
                    await turn.publish()

    def _goes_on(self) -> bool:
        """Say whether to go on; false when stopping, and some time after another worker leads."""
        if self.leads():
            self._led_at = time.monotonic()
        return not self.stopping.is_set() and time.monotonic() - self._led_at < _GRACE_SECONDS
