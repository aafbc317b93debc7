"""A record read as an answer."""

from __future__ import annotations

from schemas import Codec, DecodeError
from schemas.records import ChatbotAnswer
from streams.answers.way import failing_as
from streams.failures import BadAnswer, Stage
from streams.kafka.received import Received


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
