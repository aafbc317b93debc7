"""The least that any consumer of answers does: read, write, wait for the acknowledgements, commit.

Run as ``python -P bare_loop.py MODE SERVERS ANSWERS VERDICTS``, the last two being topics. With ``MODE``
``bytes`` it passes the bytes on; with ``codec`` it also reads each answer and writes a verdict on it, one
after the other.
"""

import asyncio
import sys
from collections.abc import Callable
from datetime import UTC, datetime

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from schemas import ChatbotAnswer, Codec, Verdict
from schemas.records import VerdictPassage

_MOST_RECORDS = 200


async def loop(servers: str, answers: str, verdicts: str, convert: Callable[[bytes], bytes]) -> None:
    """Pass answers on until the process is ended."""
    async with (
        AIOKafkaProducer(bootstrap_servers=servers, acks="all", linger_ms=2) as producer,
        AIOKafkaConsumer(
            answers,
            bootstrap_servers=servers,
            group_id=f"{verdicts}.bare",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
        ) as consumer,
    ):
        while True:
            batches = await consumer.getmany(timeout_ms=500, max_records=_MOST_RECORDS)
            records = [record for batch in batches.values() for record in batch]
            sent = [await producer.send(verdicts, convert(one.value), one.key) for one in records]
            if sent:
                await asyncio.gather(*sent)
                await consumer.commit()


def through_codec() -> Callable[[bytes], bytes]:
    """Return a conversion from an answer's bytes to those of a verdict that sends it to review."""
    codec = Codec()
    return lambda value: codec.encode(_review(codec.decode(value, ChatbotAnswer)))


def _review(answer: ChatbotAnswer) -> Verdict:
    return Verdict(
        verdict_id=answer.answer_id,
        answer_id=answer.answer_id,
        conversation_id=answer.conversation_id,
        decision="review",
        reasons=("scoring_disabled",),
        score=None,
        profile="truthgate",
        message_type="unspecified",
        language=answer.language,
        translated=False,
        question=answer.question,
        answer=answer.answer,
        context_ids=tuple(passage.document_id for passage in answer.context),
        features=(),
        policy_version="bare",
        scorer_version="bare",
        degraded=("scoring_disabled",),
        produced_at=answer.produced_at,
        scored_at=datetime.now(UTC),
        context_source="inline",
        context=tuple(VerdictPassage(passage.document_id) for passage in answer.context),
    )


def main() -> None:
    """Run one of the two loops."""
    mode, servers, answers, verdicts = sys.argv[1:]
    asyncio.run(loop(servers, answers, verdicts, through_codec() if mode == "codec" else bytes))


if __name__ == "__main__":
    main()
