"""A record read as an answer, and the time in which that is to be judged."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from schemas import Codec, DecodeError
from schemas.records import ChatbotAnswer
from streams.answers.way import failing_as
from streams.failures import BadAnswer, Stage
from streams.kafka.received import Received


@dataclass(frozen=True, slots=True)
class Deadline:
    """The moment of the event loop's clock by which an answer must be judged, and how the time is shared.

    ``documents`` is how many seconds an answer waits for documents that it names.
    """

    at: float
    documents: float = 0.0

    def remaining(self) -> float:
        """Return the seconds that are left, never less than 0."""
        return max(0.0, self.at - asyncio.get_running_loop().time())

    def for_documents(self) -> float:
        """Return how long to wait for documents."""
        return min(self.documents, self.remaining())

    def for_service(self) -> float:
        """Return half of what is left: what is found or translated too late to be judged is of no use."""
        return self.remaining() / 2

    def for_judges(self) -> float:
        """Return half of what is left: the time of those behind it in its conversation is running too."""
        return self.remaining() / 2

    def for_assessment(self) -> float:
        """Return all that is left."""
        return self.remaining()


async def decode(received: Received, codec: Codec, most_bytes: int) -> ChatbotAnswer:
    """Read the answer of one record of at most so many bytes; raises BadAnswer, InfrastructureFailure."""
    size = len(received.value or b"")
    if size > most_bytes:
        raise BadAnswer(Stage.DECODE, "value_too_large", f"{size} bytes, and {most_bytes} are allowed")
    with failing_as(Stage.DECODE):
        try:
            await codec.lookup(received.value)
            return codec.decode(received.value, ChatbotAnswer)
        except DecodeError as error:
            raise BadAnswer(Stage(error.stage), error.code, str(error)) from error
