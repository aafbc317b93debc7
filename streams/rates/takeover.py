"""How a leader begins: it reads what the last one left, and again all verdicts that still matter."""

from __future__ import annotations

from collections.abc import Callable

import structlog

from schemas import Codec
from streams.kafka.topic_reader import TopicLog, TopicReader, open_reader
from streams.kafka.topics import Topics
from streams.rates.counting import Counting
from streams.rates.resumption import Resumption, go_on, over_reason, start_over
from streams.rates.state import LeaderState, NotOurs, Records, lates_in, state_in
from streams.settings import KafkaSettings, Settings

log = structlog.get_logger(__name__)

_MS = 1_000


async def take_over(
    settings: Settings,
    codec: Codec,
    reader: TopicReader,
    goes_on: Callable[[], bool],
) -> Counting | None:
    """Make a counting that goes on where the last one was, and position the reader there.

    None when ``goes_on`` says no in between. To be called by the holder of the transactional id. Raises
    KafkaError, ServiceUnreachable, RegistryUnreachable.
    """
    records = await read_records(settings.kafka, Topics(settings.kafka.topic_prefix).rates_state)
    seen, lates = await reader.look(), lates_in(records)
    state = _state(records, seen)
    begin = await _begin(settings, reader, seen, state)
    if begin.floor:
        log.warning("rates_begin_late", reason="verdicts are gone or too old", first_window=begin.floor)
    counting = Counting(settings, codec, seen.origins, begin, state, lates)
    async for batch in reader.between(begin.since, begin.positions):
        await counting.replay(batch)
        if not goes_on():
            return None
    counting.restore()
    reader.read_from(begin.positions)
    return counting


async def read_records(settings: KafkaSettings, topic: str) -> Records:
    """Read the last committed value of each key.

    To be called by the holder of the transactional id: what its predecessor did not commit is
    aborted by then. Raises KafkaError, ServiceUnreachable.
    """
    last = Records()
    async with open_reader(settings, topic) as reader:
        seen = await reader.look()
        async for records in reader.between(seen.begins, seen.ends):
            last |= {record.key or b"": record.value for record in records}
    return last


def _state(records: Records, seen: TopicLog) -> LeaderState | None:
    """Give the state to go on from, None to start over."""
    try:
        state = state_in(records)
        reason = over_reason(state, seen)
    except NotOurs:
        reason = "state_unreadable"
    if reason is None:
        return state
    log.info("rates_start_over", reason=reason)
    return None


async def _begin(
    settings: Settings, reader: TopicReader, seen: TopicLog, state: LeaderState | None
) -> Resumption:
    now = int(seen.seen_at * _MS)
    if state:
        return go_on(state, seen, now)
    longest = max(window.size_seconds for window in settings.rates.windows)
    horizon = now - round((settings.rates.retention_seconds + longest) * _MS)
    return start_over(seen, await reader.first_since(horizon, seen), horizon)
