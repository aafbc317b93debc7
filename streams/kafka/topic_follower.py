"""Keeps a state up to date with a compacted topic that every process reads whole, without a group."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol

import structlog
from aiokafka import ConsumerRecord
from aiokafka.errors import KafkaError, UnknownTopicOrPartitionError

from streams.kafka.kafka_clients import ServiceUnreachable
from streams.kafka.topic_reader import Freshness, TopicReader, TopicSnapshot, open_reader
from streams.settings import KafkaSettings

_POLL_SECONDS: Final = 0.25
_RETRY_SECONDS: Final = 2.0
#: A topic that was deleted and created again is noticed after this time; its first records would be skipped.
_CHECK_SECONDS: Final = 10.0
#: A broker that has just started may not know a topic yet: so many checks in a row must miss it.
_MISSES: Final = 3

log = structlog.get_logger(__name__)


class FollowedState(Protocol):
    """What is made of the records."""

    freshness: Freshness

    def apply(self, records: Iterable[ConsumerRecord]) -> Any:
        """Apply records in their order."""

    def on_poll(self) -> None:
        """Called when the topic was read to its end, and after each poll from then on."""


class TopicLost(Exception):
    """The topic can no longer be read; ``code`` is ``deleted``, ``replaced`` or the name of an error."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class TopicFollower:
    """Keeps a state up to date with a topic.

    Args:
        state: the state.
        subject: what the topic has, such as ``the pauses``, for messages.
        topic: the full name.
        reader: a reader of the topic that nothing else uses.
        check_interval: seconds between checks of the topic's identity and partitions.
    """

    def __init__(
        self,
        state: FollowedState,
        subject: str,
        topic: str,
        reader: TopicReader,
        check_interval: float = _CHECK_SECONDS,
    ) -> None:
        self._state = state
        self._subject = subject
        self._topic = topic
        self._reader = reader
        self._check_interval = check_interval
        self._seen: TopicSnapshot | None = None
        self._added: TopicSnapshot | None = None

    async def read_to_end(self, seconds: float | None) -> None:
        """Read the topic to its present end; raises TopicLost if it cannot be read in time."""
        try:
            async with asyncio.timeout(seconds):
                seen = await self._reader.snapshot()
                async for records in self._reader.read_between(seen.beginning_offsets, seen.end_offsets):
                    self._state.apply(records)
        except (KafkaError, ServiceUnreachable, TimeoutError) as error:
            raise self._lost(error) from error
        self._reader.read_from(seen.end_offsets)
        self._state.freshness.confirm(seen.taken_at)
        self._state.on_poll()
        self._seen = seen

    async def run(self) -> None:
        """Apply new records until cancelled; to be called after :meth:`read_to_end`.

        Waits for brokers that cannot be reached: the state itself is outdated then.

        Raises:
            TopicLost: the topic can no longer be read, was deleted, or was created again.
        """
        tasks = [asyncio.create_task(each) for each in (self._follow(), self._watch_topic())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            done.pop().result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow(self) -> None:
        try:
            while True:
                if added := self._added:
                    self._reader.read_from({**added.beginning_offsets, **self._reader.positions})
                    self._added = None
                self._state.apply(await self._reader.poll(_POLL_SECONDS))
                self._state.freshness.confirm(self._reader.caught_up_at())
                self._state.on_poll()
        except (KafkaError, ServiceUnreachable) as error:
            raise self._lost(error) from error

    async def _watch_topic(self) -> None:
        """Check at intervals that the topic is still the same; following must not wait for the replies."""
        misses, reachable = 0, True
        while True:
            await asyncio.sleep(self._check_interval)
            try:
                self._compare(await self._reader.snapshot())
                misses, reachable = 0, True
            except UnknownTopicOrPartitionError as error:
                misses += 1
                if misses >= _MISSES:
                    raise TopicLost(
                        f"topic {self._topic} with {self._subject} was deleted", "deleted"
                    ) from error
            except (KafkaError, ServiceUnreachable) as error:
                if reachable:
                    name = type(error).__name__
                    log.warning("followed_topic_unreachable", topic=self._topic, error_type=name)
                reachable = False

    def _compare(self, seen: TopicSnapshot) -> None:
        assert self._seen is not None
        if not seen.is_same(self._seen.identities):
            raise TopicLost(f"topic {self._topic} was replaced by another of that name", "replaced")
        if seen.end_offsets.keys() - self._reader.positions.keys():
            self._added = seen

    def _lost(self, error: Exception) -> TopicLost:
        # Of these messages only this one is known to contain nothing but addresses and names of settings.
        name = type(error).__name__
        cause = str(error) if isinstance(error, ServiceUnreachable) else name
        return TopicLost(f"{self._subject} cannot be read from topic {self._topic}: {cause}", name)


async def keep_following(
    state: FollowedState,
    subject: str,
    kafka: KafkaSettings,
    topic: str,
    on_lost: Callable[[str], None],
) -> None:
    """Keep a state up to date with a topic until cancelled, whatever Kafka does.

    ``on_lost`` gets a code as :class:`TopicLost` has, and forgets what was read: it is read anew.
    """
    while True:
        try:
            # An open transaction in the topic must not hide what somebody ended.
            async with open_reader(kafka, topic, isolation_level="read_uncommitted") as reader:
                follower = TopicFollower(state, subject, topic, reader)
                await follower.read_to_end(None)
                await follower.run()
        except TopicLost as lost:
            on_lost(lost.code)
        except (KafkaError, ServiceUnreachable) as error:
            on_lost(type(error).__name__)
        await asyncio.sleep(_RETRY_SECONDS)
