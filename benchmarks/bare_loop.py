"""The least that any consumer of answers does: read, write, wait for the acknowledgements, commit.

Run as ``python -m benchmarks.bare_loop MODE`` with the settings of a worker in the environment. With
``MODE`` ``bytes`` it passes the bytes on; with ``codec`` it also reads each answer and writes a verdict
on it, one event after the other.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from datetime import UTC, datetime

from schemas import ChatbotAnswer, Codec
from scoring.values.types import Passage
from streams.answers.context import ContextSource, ResolvedContext
from streams.answers.verdict import make_verdict
from streams.judging.assessor import unassessed
from streams.kafka.clients import open_consumer, open_producer
from streams.kafka.topics import Topics, message_limits
from streams.settings import Settings, load_settings


async def loop(settings: Settings, convert: Callable[[bytes], bytes]) -> None:
    """Pass answers on to the review topic until the process is ended."""
    topics = Topics(settings.kafka.topic_prefix)
    size = message_limits(settings).verdict
    async with (
        open_producer(settings.kafka, max_request_size=size, linger_ms=2) as producer,
        open_consumer(
            settings.kafka,
            topics.answers,
            group_id=settings.kafka.consumer_group,
            auto_offset_reset="earliest",
        ) as consumer,
    ):
        while True:
            batches = await consumer.getmany(timeout_ms=500, max_records=settings.flow.max_poll_records)
            records = [record for batch in batches.values() for record in batch]
            sent = [
                await producer.send(topics.review, convert(record.value), record.key) for record in records
            ]
            if sent:
                await asyncio.gather(*sent)
                await consumer.commit()


def through_codec(settings: Settings) -> Callable[[bytes], bytes]:
    """Return a conversion from an answer's bytes to those of a verdict that holds it for review."""
    codec = Codec()

    def convert(value: bytes) -> bytes:
        answer = codec.decode(value, ChatbotAnswer)
        assessment = unassessed(settings.scoring.profile, answer.language, ("scoring_disabled",))
        passages = tuple(Passage(each.document_id, each.text) for each in answer.context)
        context = ResolvedContext(passages, source=ContextSource.INLINE)
        decided = settings.policy.decide(assessment)
        return codec.encode(make_verdict(answer, assessment, decided, context, datetime.now(UTC)))

    return convert


def main() -> None:
    """Run one of the two loops."""
    settings = load_settings()
    convert = through_codec(settings) if sys.argv[1:] == ["codec"] else lambda value: value
    asyncio.run(loop(settings, convert))


if __name__ == "__main__":
    main()
