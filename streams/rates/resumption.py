"""Where a new leader reads from: pure rules over what the last one left and what the topics hold now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aiokafka import TopicPartition

from streams.kafka.topic_reader import Offsets, TopicLog
from streams.rates.state import LeaderState


@dataclass(frozen=True, slots=True)
class Resumption:
    """How to go on.

    What is from ``since`` up to ``positions`` was counted before and is read again without a word; what comes
    after is new. Windows that start before ``floor`` (milliseconds since 1970) are incomplete.
    """

    since: Offsets
    positions: Offsets
    floor: int = 0


def over_reason(state: LeaderState | None, seen: TopicLog) -> str | None:
    """Say in a stable code why to start over with what the topics hold, or None to go on from the state."""
    if state is None:
        return "new"
    if not seen.is_same(state.origins):
        return "another_topic"
    # Beyond the end, or of a partition that is gone: not the log that was read.
    if any(now.position > seen.ends.get(at, -1) for at, now in state.places.items()):
        return "offset_out_of_range"
    return None


def go_on(state: LeaderState, seen: TopicLog, now: int) -> Resumption:
    """Go on from a state; where verdicts were deleted before they could be read again, windows are given up.

    ``now`` is in milliseconds since 1970. A new partition is read from its beginning.
    """
    places, since, positions, floor = state.places, {}, {}, 0
    for at, begin in seen.begins.items():
        left = places.get(at)
        since[at] = max(begin, left.since) if left else begin
        positions[at] = max(begin, left.position) if left else begin
        if left and begin > left.since:
            # What was deleted unread may be as young as the present.
            newest_lost = now if begin > left.position or left.seen is None else left.seen
            floor = max(floor, newest_lost + 1)
    return Resumption(since, positions, floor)


def start_over(seen: TopicLog, firsts: Mapping[TopicPartition, int], horizon: int) -> Resumption:
    """Start with the verdicts from ``horizon`` (milliseconds) on, at ``firsts``; with all if that is all."""
    if all(firsts[at] <= begin for at, begin in seen.begins.items()):
        return Resumption(seen.begins, seen.begins)
    return Resumption(firsts, firsts, horizon)
