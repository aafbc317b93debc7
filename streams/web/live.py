"""The latest verdicts and rates, kept and sent to open pages."""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

import structlog
from aiokafka import ConsumerRecord

from schemas import Codec, DecodeError, RateAlert, RateWindow, Verdict
from scoring.policy import Policy
from streams.explaining.explaining import Sieve, codes_of, explained, language_of
from streams.explaining.explanation import Found, found_in
from streams.kafka.clients import ServiceUnreachable
from streams.kafka.topic_reader import open_reader
from streams.kafka.topics import Topics
from streams.settings import Settings
from streams.web.excerpt import IN_FULL, cut, excerpt, told, without_texts
from streams.web.history import RateHistory
from streams.web.views import Answers, Choices, Explained, FiringAlerts, Source, SourceState, WindowChoice

FRESH_SECONDS: Final = 0.5
_MOST_KEPT: Final = 64


class Kept:
    """Serves everybody with one body, so that any number of visitors costs no more than a few.

    Args:
        clock: in seconds; one that goes back makes no body last longer.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._bodies: dict[tuple[str, ...], tuple[float, bytes]] = {}

    def body(self, asked: tuple[str, ...], make: Callable[[], bytes]) -> bytes:
        """Give the answer to what is asked, as it was half a second ago at most."""
        made_at, body = self._bodies.get(asked, (-math.inf, b""))
        if not 0 <= self._clock() - made_at < FRESH_SECONDS:
            body = make()
            if len(self._bodies) >= _MOST_KEPT:
                self._bodies.clear()
            # Counted from its end: what takes long to make must not be old at once.
            self._bodies[asked] = self._clock(), body
        return body


#: Of each decision.
KEPT_ANSWERS: Final = 200
#: Of all records together. In memory a verdict takes some times as much: with this never more than about
#: 100 MB, and usually below 10.
KEPT_BYTES: Final = 8 * 1024 * 1024
_MOST_CHOICES: Final = 100


@dataclass(frozen=True, slots=True)
class Arrived:
    """A verdict as it came, and how many bytes its record has."""

    found: Found
    size: int


_Key = tuple[str, str]  # decision and verdict_id: one that was held, and is judged again, may then be sent


class LastAnswers:
    """The newest verdicts of each decision, each once; without texts none of their text is kept.

    One thread may take verdicts in while others ask: what is kept is replaced as a whole.

    Args:
        texts: whether questions and answers may be shown.
        policies: those that are at hand, to tell the thresholds that decided.
        each: how many of each decision are kept.
        size: how many bytes of records are kept in all.
    """

    def __init__(
        self,
        texts: bool,
        policies: Iterable[Policy] = (),
        each: int = KEPT_ANSWERS,
        size: int = KEPT_BYTES,
    ) -> None:
        self._texts = texts
        self._policies = tuple(policies)
        self._each = each
        self._size = size
        self._kept: dict[_Key, Arrived] = {}
        self.number = 0

    def take_in(self, arrived: Iterable[Arrived]) -> None:
        """Take verdicts in; ``number`` grows when what is kept changes."""
        before = {key: each.found.verdict for key, each in self._kept.items()}
        kept = dict(self._kept)
        for each in arrived:
            found = each.found
            if not self._texts:
                found = replace(found, verdict=without_texts(found.verdict))
            key = (found.verdict.decision, found.verdict.verdict_id)
            kept[key] = Arrived(found, each.size)
        self._kept = self._within_bounds(kept)
        self.number += {key: each.found.verdict for key, each in self._kept.items()} != before

    def chosen(self, sieve: Sieve, most: int) -> Answers:
        """Give those that pass the sieve, newest first, ``most`` of them at most."""
        number, kept = self.number, [each.found.verdict for each in self._kept.values()]
        passed = [verdict for verdict in kept if sieve.passes(verdict)]
        shown = tuple(told(verdict, texts=self._texts) for verdict in passed[:most])
        return Answers(number, self._texts, len(passed), _choices(kept), shown)

    def explained(self, verdict_id: str, decision: str) -> Explained | None:
        """Explain one of those that are kept; None where it is not, or not any more."""
        if (kept := self._kept.get((decision, verdict_id))) is None:
            return None
        verdict = kept.found.verdict
        others = [
            each.found for (_, other), each in self._kept.items() if other == verdict_id and each is not kept
        ]
        explanation = explained(kept.found, self._policies, others)
        return Explained(
            self._texts,
            replace(explanation, verdict=cut(verdict)),
            excerpt(verdict, IN_FULL) if self._texts else None,
        )

    def _within_bounds(self, kept: dict[_Key, Arrived]) -> dict[_Key, Arrived]:
        """Give the newest, newest first."""
        newest = sorted(
            kept.items(), key=lambda item: (-item[1].found.verdict.scored_at.timestamp(), item[0])
        )
        left: dict[_Key, Arrived] = {}
        of_decision: Counter[str] = Counter()
        size = 0
        for key, each in newest:
            if of_decision[key[0]] < self._each and size + each.size <= self._size:
                of_decision[key[0]] += 1
                size += each.size
                left[key] = each
        return left


def _choices(verdicts: Collection[Verdict]) -> Choices:
    return Choices(
        _first({each.message_type for each in verdicts}),
        _first(set(map(language_of, verdicts))),
        _first({code for each in verdicts for code in codes_of(each)}),
    )


def _first(names: set[str]) -> tuple[str, ...]:
    return tuple(islice(sorted(names), _MOST_CHOICES))


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
