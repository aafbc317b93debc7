"""Records of the documents topic that hold no usable document, sent to the dead letters."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from streams.delivery.dead_letters import bury
from streams.delivery.publisher import Publisher
from streams.documents.changes import BadDocument


class DocumentLetters:
    """Writes a dead letter for each bad document: what came, where it stands, and the reason.

    Every worker follows the whole topic, so each writes one, and again when it builds its store anew:
    none relies on another that may die before. Letters with the same ``dlq.topic``, ``dlq.partition`` and
    ``dlq.offset`` are about the same record.

    Args:
        publisher: waits until the brokers have the letter.
        topic: the full name of the topic of dead letters.
        now: the clock, aware.
    """

    def __init__(
        self, publisher: Publisher, topic: str, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._publisher = publisher
        self._topic = topic
        self._now = now

    async def write(self, bad: BadDocument) -> None:
        """Write the letter and wait until it is safe; raises InfrastructureFailure."""
        await self._publisher.bury(self._topic, bury(bad.received, bad.reason, self._now()))
