"""The data that the page shows, read from Kafka while somebody looks at it, on any worker alike."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from contextlib import aclosing, suppress
from typing import Final

import structlog
from aiokafka import ConsumerRecord

from schemas import Codec, DecodeError, RateAlert, RateWindow, Verdict
from scoring.policy import Policy
from streams.explaining.records import found_in
from streams.kafka.clients import ServiceUnreachable
from streams.kafka.topic_reader import open_reader
from streams.kafka.topics import Topics
from streams.pages.alerts import FiringAlerts
from streams.pages.history import RateHistory
from streams.pages.last import KEPT_ANSWERS, Arrived, LastAnswers
from streams.pages.views import Source, SourceState, WindowChoice
from streams.settings import Settings

log = structlog.get_logger(__name__)

IDLE_SECONDS: Final = 300.0
"""How long after the last visit reading goes on."""
_FIRST_PAUSE_SECONDS: Final = 1.0
_LONGEST_PAUSE_SECONDS: Final = 30.0
#: Of each partition. Windows are published again and again while they are open: so many hold hours of them.
_LAST_RATES: Final = 20_000
_LAST_ALERTS: Final = 2_000

#: By topic: what its records are, and how many of each partition are read.
_Kinds = dict[str, tuple[type[RateWindow] | type[RateAlert] | type[Verdict], int]]
_Read = RateWindow | RateAlert | Arrived


class LiveData:
    """Rates, alerts and the last answers, as the topics have them; nothing is read while nobody looks.

    Whatever fails while reading is told on the page, and tried again after a pause: the worker's own
    work knows nothing of it.

    Args:
        settings: where Kafka is, which windows and texts are shown.
        clock: monotonic, in seconds.
        now: seconds since 1970.
        idle: seconds without a visit after which reading ends.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        idle: float = IDLE_SECONDS,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._now = now
        self._idle = idle
        self._visited_at = clock()
        self._task: asyncio.Task[None] | None = None
        self._forget()

    def _forget(self) -> None:
        self.windows = tuple(
            WindowChoice(each.size_seconds, each.hop_seconds) for each in self._settings.rates.windows
        )
        self.rates = RateHistory(self.windows)
        self.alerts = FiringAlerts()
        self.answers = LastAnswers(self._settings.web.texts, (self._settings.policy, Policy()))
        self.source = Source("starting" if self._settings.rates.enabled else "off")

    @property
    def running(self) -> bool:
        """Whether it reads."""
        return self._task is not None and not self._task.done()

    def visit(self) -> None:
        """Note that somebody looks; reading begins with the first visit."""
        self._visited_at = self._clock()
        if not self.running:
            self._task = asyncio.create_task(self._run(), name="pages-live-data")

    async def stop(self) -> None:
        """End reading. May be called twice, or before a visit."""
        if self._task:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        pause = _FIRST_PAUSE_SECONDS
        try:
            while self._wanted():
                try:
                    await self._read()
                except Exception as error:  # noqa: BLE001 - whatever it was: the page says so, the worker goes on
                    again = self.source.state == "failed"
                    pause = min(2 * pause, _LONGEST_PAUSE_SECONDS) if again else _FIRST_PAUSE_SECONDS
                    self._failed(error)
                    await asyncio.sleep(pause)
        finally:
            self._forget()

    def _wanted(self) -> bool:
        return self._clock() - self._visited_at < self._idle

    def _failed(self, error: Exception) -> None:
        if self.source.state != "failed":
            log.warning("page_data_failed", error_type=type(error).__name__)
        # Only this message is known to hold nothing but addresses and the names of settings.
        told = str(error) if isinstance(error, ServiceUnreachable) else type(error).__name__
        self.source = Source("failed", told)

    async def _read(self) -> None:
        settings = self._settings
        codec = Codec(settings.encoding.schema_registry_url, settings.encoding.json_input)
        topics = Topics(settings.kafka.topic_prefix)
        kinds: _Kinds = dict.fromkeys(topics.outputs, (Verdict, KEPT_ANSWERS))
        if settings.rates.enabled:
            kinds |= {topics.rates: (RateWindow, _LAST_RATES), topics.rate_alerts: (RateAlert, _LAST_ALERTS)}
        async with open_reader(settings.kafka, *kinds, auto_offset_reset="earliest") as reader:
            seen = await reader.look()
            last = {at: end - kinds[at.topic][1] for at, end in seen.ends.items()}
            reader.read_from({at: max(begin, last[at]) for at, begin in seen.begins.items()})
            async with aclosing(reader.on_and_on()) as batches:
                async for records in batches:
                    for record in records:
                        await codec.lookup(record.value)
                    # In a thread: answers must not wait while a long history is decoded.
                    read = await asyncio.to_thread(_decoded, records, codec, kinds)
                    arrived = [each for each in read if isinstance(each, Arrived)]
                    await asyncio.to_thread(self.answers.take_in, arrived)
                    self._take_in(read)
                    is_live = seen.reached(reader.positions) or self.source.state == "live"
                    reached: SourceState = "live" if is_live else "reading"
                    self.source = Source(reached if settings.rates.enabled else "off")
                    if not self._wanted():
                        return

    def _take_in(self, read: Iterable[_Read]) -> None:
        now = round(self._now() * 1000)
        for record in read:
            if isinstance(record, RateWindow):
                self.rates.add(record, now)
            elif isinstance(record, RateAlert):
                self.alerts.add(record)


def _decoded(records: Iterable[ConsumerRecord], codec: Codec, kinds: _Kinds) -> list[_Read]:
    """Decode what can be decoded: what cannot is not ours, and others tell of it."""
    read: list[_Read] = []
    for record in records:
        with suppress(DecodeError):
            decoded = codec.decode(record.value, kinds[record.topic][0])
            if isinstance(decoded, Verdict):
                read.append(Arrived(found_in(record, decoded), len(record.value)))
            else:
                read.append(decoded)
    return read
