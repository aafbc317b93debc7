"""Answers without end, made while they are published: those of the sample, with words of their own."""

import asyncio
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count

from schemas import Codec
from schemas.records import ChatbotAnswer
from streams.kafka.kafka_clients import open_producer
from streams.kafka.topics import Topics
from streams.settings import Settings
from tests.support.ledger import outgoing, sample_answers

#: Of each language; all of them name documents.
_BASES = 40
#: Of so many answers one rests on a document that no other has.
NEW_DOCUMENT_EVERY = 5
#: Of so many one names no document at all, and is searched for.
_BARE_EVERY = 10
_SYLLABLES = ("ba", "cor", "del", "fi", "gra", "lun", "mo", "nex", "pri", "sol", "tam", "vo", "wer", "zil")
#: What is due is published so often; all of it is waited for, so that few answers are on their way at once.
_PUBLISH_SECONDS = 0.2


def steady_answers() -> Iterator[ChatbotAnswer]:
    """Give answers produced now, of both languages in turn, three to a conversation."""
    dutch, english = (sample_answers(_BASES, "", language=each) for each in ("nl", "en"))
    bases = [one for pair in zip(dutch, english, strict=True) for one in pair]
    chance = random.Random(7)
    for number in count():
        base = bases[number % len(bases)]
        answer = replace(
            base,
            answer_id=f"soak-{number}",
            conversation_id=f"soak-c{number // 3}",
            answer=f"{base.answer} {_name(chance)} {number}.",
            produced_at=datetime.now(UTC),
        )
        if number % NEW_DOCUMENT_EVERY == 0:
            first, *others = answer.context
            new = replace(first, text=f"{first.text}\n\n{_name(chance)} {number}.")
            answer = replace(answer, context=(new, *others))
        elif number % _BARE_EVERY == 1:
            answer = replace(answer, context=())
        yield answer


async def publish_steadily(settings: Settings, per_second: float, goes_on: Callable[[], bool]) -> list[str]:
    """Publish answers at a rate while ``goes_on`` says so; gives the ids of all, which the broker has."""
    topic, codec, ids = Topics(settings.kafka.topic_prefix).answers, Codec(), list[str]()
    answers, began = steady_answers(), time.monotonic()
    async with open_producer(settings.kafka) as producer:
        while goes_on():
            due, sent = int((time.monotonic() - began) * per_second), []
            while len(ids) < due:
                answer = next(answers)
                record = outgoing(answer, codec)
                sent.append(await producer.send(topic, record.value, key=record.key))
                ids.append(answer.answer_id)
            await asyncio.gather(*sent)
            await asyncio.sleep(_PUBLISH_SECONDS)
    return ids


def _name(chance: random.Random) -> str:
    return "".join(chance.choices(_SYLLABLES, k=3)).title()
