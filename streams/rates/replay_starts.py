"""From which offset of each partition a successor has to read to find all that still matters."""

from __future__ import annotations

from aiokafka import TopicPartition

from streams.kafka.topic_reader import Offsets


class ReplayStarts:
    """Remembers of each horizon, of which there are few, the first offset in each partition.

    A horizon says how long a verdict matters: until the aggregator's ``kept_from`` has come to it.
    """

    def __init__(self) -> None:
        self._firsts: dict[int, dict[TopicPartition, int]] = {}

    def read(self, at: TopicPartition, offset: int, horizon: int) -> None:
        """Note a verdict; those of a partition come in the order of their offsets."""
        self._firsts.setdefault(horizon, {}).setdefault(at, offset)

    def since(self, kept_from: int, positions: Offsets) -> dict[TopicPartition, int]:
        """Give the offsets to replay from; the position itself where nothing before it matters any more.

        Horizons at or before ``kept_from`` are forgotten: it may only grow from call to call.
        """
        self._firsts = {horizon: firsts for horizon, firsts in self._firsts.items() if horizon > kept_from}
        return {
            at: min((firsts[at] for firsts in self._firsts.values() if at in firsts), default=position)
            for at, position in positions.items()
        }
