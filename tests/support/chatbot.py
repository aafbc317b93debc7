"""A chatbot that goes on answering while a test does harm: it publishes at a steady rate."""

import asyncio
import time
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from schemas import Codec
from schemas.records import ChatbotAnswer
from streams.kafka.kafka_clients import ServiceUnreachable, open_producer
from streams.kafka.topics import Topics
from streams.settings import Settings
from tests.support.ledger import outgoing
from tests.support.records import Outgoing, eventually

_SENDING_SECONDS = 600.0
_SEND_SECONDS = 30.0


class Chatbot:
    """Publishes answers in the background: ``async with Chatbot(...) as bot: await bot.finished()``.

    It runs in the test's event loop. What blocks that loop silences it, and beyond half a minute it takes its
    last answer for lost and sends it again: wait for processes in a thread.
    """

    def __init__(self, settings: Settings, answers: Iterable[ChatbotAnswer], per_second: float) -> None:
        self._settings = settings
        self._answers = list(answers)
        self._pause = 1 / per_second
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self.sent = 0

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._publish())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait([self._task])

    async def finished(self) -> None:
        """Wait until everything is published, and acknowledged by the broker."""
        assert self._task is not None
        await asyncio.wait_for(self._task, _SENDING_SECONDS)

    async def stop(self) -> list[ChatbotAnswer]:
        """Publish nothing more, and give what is published and acknowledged by the broker."""
        self._stopping = True
        await self.finished()
        return self._answers[: self.sent]

    async def sent_at_least(self, count: int) -> None:
        """Wait until so many answers are published, or all that there are."""
        enough = min(count, len(self._answers))
        await eventually(lambda: self.sent >= enough, f"{enough} answers published", _SENDING_SECONDS)

    async def _publish(self) -> None:
        """Send until the broker has everything, as a chatbot that loses no answer does; some come twice."""
        codec = Codec()
        records = [outgoing(answer, codec) for answer in self._answers]
        end = time.monotonic() + _SENDING_SECONDS
        while self.sent < len(records) and not self._stopping:
            try:
                async with open_producer(self._settings.kafka) as producer:
                    await self._publish_by(producer, records)
            except (KafkaError, ServiceUnreachable, TimeoutError):
                if time.monotonic() > end:
                    raise

    async def _publish_by(self, producer: AIOKafkaProducer, records: list[Outgoing]) -> None:
        topic = Topics(self._settings.kafka.topic_prefix).answers
        for record in records[self.sent :]:
            if self._stopping:
                return
            # What takes longer than this is tried again by another producer.
            async with asyncio.timeout(_SEND_SECONDS):
                await producer.send_and_wait(topic, record.value, key=record.key)
            self.sent += 1
            await asyncio.sleep(self._pause)
