"""The latest verdicts and rates, cached for the open pages."""

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
from streams.explaining.explanation import LocatedVerdict, locate_verdict
from streams.explaining.verdict_explainer import VerdictFilter, explain_verdict, language_of, reason_codes
from streams.kafka.kafka_clients import ServiceUnreachable
from streams.kafka.schema_topic import create_codec
from streams.kafka.topic_reader import open_reader
from streams.kafka.topics import Topics
from streams.settings import Settings
from streams.web.excerpt import DETAIL_LIMITS, make_excerpt, summarize_answer, truncate_verdict, without_texts
from streams.web.page_data import (
    AnswerList,
    FilterChoices,
    FiringAlerts,
    SourceState,
    SourceStatus,
    VerdictDetails,
    WindowChoice,
)
from streams.web.rate_history import RateHistory

FRESH_SECONDS: Final = 0.5
_MAX_CACHED_BODIES: Final = 64


class ResponseCache:
    """Caches response bodies briefly, so that many visitors cost no more than a few.

    Args:
        clock: in seconds; one that goes back makes no body last longer.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._bodies: dict[tuple[str, ...], tuple[float, bytes]] = {}

    def body(self, key: tuple[str, ...], make: Callable[[], bytes]) -> bytes:
        """Return the response for a key, at most half a second old."""
        made_at, body = self._bodies.get(key, (-math.inf, b""))
        if not 0 <= self._clock() - made_at < FRESH_SECONDS:
            body = make()
            if len(self._bodies) >= _MAX_CACHED_BODIES:
                self._bodies.clear()
            # Counted from its end: what takes long to make must not be old at once.
            self._bodies[key] = self._clock(), body
        return body


#: Of each decision.
MAX_ANSWERS_PER_DECISION: Final = 200
#: Of all records together. In memory a verdict takes some times as much: with this never more than about
#: 100 MB, and usually below 10.
MAX_ANSWER_BYTES: Final = 8 * 1024 * 1024
_MAX_CHOICES: Final = 100


@dataclass(frozen=True, slots=True)
class ReceivedVerdict:
    """A verdict and the size of its record in bytes."""

    located: LocatedVerdict
    size: int


_Key = tuple[
    str, str
]  # decision and verdict_id: one that went to review, and is judged again, may then be sent


class RecentAnswers:
    """The newest verdicts of each decision, each once; without ``texts`` none of their text is stored.

    One thread may add verdicts while others read: the stored verdicts are replaced as a whole.

    Args:
        texts: whether questions and answers may be shown.
        policies: the known policies, to explain the thresholds that decided.
        per_decision: the maximum of stored verdicts of each decision.
        max_bytes: the maximum size of all stored records.
    """

    def __init__(
        self,
        texts: bool,
        policies: Iterable[Policy] = (),
        per_decision: int = MAX_ANSWERS_PER_DECISION,
        max_bytes: int = MAX_ANSWER_BYTES,
    ) -> None:
        self._texts = texts
        self._policies = tuple(policies)
        self._each = per_decision
        self._size = max_bytes
        self._kept: dict[_Key, ReceivedVerdict] = {}
        self.number = 0

    def add(self, arrived: Iterable[ReceivedVerdict]) -> None:
        """Add verdicts; ``number`` grows when the stored verdicts change."""
        before = {key: each.located.verdict for key, each in self._kept.items()}
        kept = dict(self._kept)
        for each in arrived:
            found = each.located
            if not self._texts:
                found = replace(found, verdict=without_texts(found.verdict))
            key = (found.verdict.decision, found.verdict.verdict_id)
            kept[key] = ReceivedVerdict(found, each.size)
        self._kept = self._within_bounds(kept)
        self.number += {key: each.located.verdict for key, each in self._kept.items()} != before

    def select(self, verdict_filter: VerdictFilter, most: int) -> AnswerList:
        """Return at most ``most`` verdicts that match the filter, newest first."""
        number, kept = self.number, [each.located.verdict for each in self._kept.values()]
        passed = [verdict for verdict in kept if verdict_filter.matches(verdict)]
        shown = tuple(summarize_answer(verdict, texts=self._texts) for verdict in passed[:most])
        return AnswerList(number, self._texts, len(passed), _choices(kept), shown)

    def details(self, verdict_id: str, decision: str) -> VerdictDetails | None:
        """Explain a stored verdict; None if it is not stored, or no longer."""
        if (kept := self._kept.get((decision, verdict_id))) is None:
            return None
        verdict = kept.located.verdict
        others = [
            each.located
            for (_, other), each in self._kept.items()
            if other == verdict_id and each is not kept
        ]
        explanation = explain_verdict(kept.located, self._policies, others)
        return VerdictDetails(
            self._texts,
            replace(explanation, verdict=truncate_verdict(verdict)),
            make_excerpt(verdict, DETAIL_LIMITS) if self._texts else None,
        )

    def _within_bounds(self, kept: dict[_Key, ReceivedVerdict]) -> dict[_Key, ReceivedVerdict]:
        """Return the newest, newest first."""
        newest = sorted(
            kept.items(), key=lambda item: (-item[1].located.verdict.scored_at.timestamp(), item[0])
        )
        left: dict[_Key, ReceivedVerdict] = {}
        of_decision: Counter[str] = Counter()
        size = 0
        for key, each in newest:
            if of_decision[key[0]] < self._each and size + each.size <= self._size:
                of_decision[key[0]] += 1
                size += each.size
                left[key] = each
        return left


def _choices(verdicts: Collection[Verdict]) -> FilterChoices:
    return FilterChoices(
        _first({each.message_type for each in verdicts}),
        _first(set(map(language_of, verdicts))),
        _first({code for each in verdicts for code in reason_codes(each)}),
    )


def _first(names: set[str]) -> tuple[str, ...]:
    return tuple(islice(sorted(names), _MAX_CHOICES))


log = structlog.get_logger(__name__)

IDLE_SECONDS: Final = 300.0
"""How long reading continues after the last visit."""
_FIRST_RETRY_SECONDS: Final = 1.0
_MAX_RETRY_SECONDS: Final = 30.0
#: Of each partition. Windows are published again and again while they are open: so many hold hours of them.
_LAST_RATES: Final = 20_000
_LAST_ALERTS: Final = 2_000

#: By topic: what its records are, and how many of each partition are read.
_Kinds = dict[str, tuple[type[RateWindow] | type[RateAlert] | type[Verdict], int]]
_Read = RateWindow | RateAlert | ReceivedVerdict


class LiveData:
    """Rates, alerts and the last answers, from the topics; they are only read while the page has visitors.

    A failure to read is shown on the page and retried after a delay; it does not affect the worker.

    Args:
        settings: of Kafka, and which windows and texts are shown.
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
        self.answers = RecentAnswers(self._settings.web.texts, (self._settings.policy, Policy()))
        self.source = SourceStatus("starting" if self._settings.rates.enabled else "off")

    @property
    def running(self) -> bool:
        """Whether the topics are being read."""
        return self._task is not None and not self._task.done()

    def visit(self) -> None:
        """Record a visit of the page; reading starts with the first one."""
        self._visited_at = self._clock()
        if not self.running:
            self._task = asyncio.create_task(self._run(), name="pages-live-data")

    async def stop(self) -> None:
        """Stop reading. May be called twice, or before a visit."""
        if self._task:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        pause = _FIRST_RETRY_SECONDS
        try:
            while self._wanted():
                try:
                    await self._read()
                except Exception as error:  # noqa: BLE001 - whatever it was: the page says so, the worker goes on
                    again = self.source.state == "failed"
                    pause = min(2 * pause, _MAX_RETRY_SECONDS) if again else _FIRST_RETRY_SECONDS
                    self._failed(error)
                    await asyncio.sleep(pause)
        finally:
            self._forget()

    def _wanted(self) -> bool:
        return self._clock() - self._visited_at < self._idle

    def _failed(self, error: Exception) -> None:
        if self.source.state != "failed":
            log.warning("page_data_failed", error_type=type(error).__name__)
        # Only this exception's message is known to have nothing but addresses and names of settings.
        reason = str(error) if isinstance(error, ServiceUnreachable) else type(error).__name__
        self.source = SourceStatus("failed", reason)

    async def _read(self) -> None:
        settings = self._settings
        codec = create_codec(settings)
        topics = Topics(settings.kafka.topic_prefix)
        kinds: _Kinds = dict.fromkeys(topics.outputs, (Verdict, MAX_ANSWERS_PER_DECISION))
        if settings.rates.enabled:
            kinds |= {topics.rates: (RateWindow, _LAST_RATES), topics.rate_alerts: (RateAlert, _LAST_ALERTS)}
        async with open_reader(settings.kafka, *kinds, auto_offset_reset="earliest") as reader:
            seen = await reader.snapshot()
            last = {at: end - kinds[at.topic][1] for at, end in seen.end_offsets.items()}
            reader.read_from({at: max(begin, last[at]) for at, begin in seen.beginning_offsets.items()})
            async with aclosing(reader.follow()) as batches:
                async for records in batches:
                    for record in records:
                        await codec.lookup(record.value)
                    # In a thread: answers must not wait while a long history is decoded.
                    read = await asyncio.to_thread(_decode, records, codec, kinds)
                    arrived = [each for each in read if isinstance(each, ReceivedVerdict)]
                    await asyncio.to_thread(self.answers.add, arrived)
                    self._take_in(read)
                    is_live = seen.is_reached_by(reader.positions) or self.source.state == "live"
                    reached: SourceState = "live" if is_live else "reading"
                    self.source = SourceStatus(reached if settings.rates.enabled else "off")
                    if not self._wanted():
                        return

    def _take_in(self, read: Iterable[_Read]) -> None:
        now = round(self._now() * 1000)
        for record in read:
            if isinstance(record, RateWindow):
                self.rates.add(record, now)
            elif isinstance(record, RateAlert):
                self.alerts.add(record)


def _decode(records: Iterable[ConsumerRecord], codec: Codec, kinds: _Kinds) -> list[_Read]:
    """Decode the records that can be decoded; others are skipped, since their consumers report them."""
    read: list[_Read] = []
    for record in records:
        with suppress(DecodeError):
            decoded = codec.decode(record.value, kinds[record.topic][0])
            if isinstance(decoded, Verdict):
                read.append(ReceivedVerdict(locate_verdict(record, decoded), len(record.value)))
            else:
                read.append(decoded)
    return read
