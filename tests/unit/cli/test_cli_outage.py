"""A command that follows a topic bears it that Kafka does not answer, and tells it once."""

import pytest

from streams.cli.topic_access import OutageReporter
from streams.kafka.kafka_clients import CredentialsRefused, ServiceUnreachable
from streams.settings import KafkaSettings

SILENT = ServiceUnreachable("Kafka at kafka:9092 does not answer within 10 s")
TOLD = "Kafka at kafka:9092 does not answer within 10 s; waiting until it answers, Ctrl-C ends"


class Brokers:
    """What is asked whether Kafka answers, and what the person was told."""

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self.told: list[str] = []
        self.outage = OutageReporter(self._ask, self.told.append)

    async def _ask(self, _: KafkaSettings) -> None:
        if self.failure:
            raise self.failure

    async def check(self, times: int = 1) -> None:
        """Ask so many times."""
        for _ in range(times):
            await self.outage.check(KafkaSettings())


async def test_an_outage_is_told_once_and_its_end_once_and_the_next_one_again():
    brokers = Brokers()
    await brokers.check(3)
    assert brokers.told == []
    brokers.failure = SILENT
    await brokers.check(3)
    assert brokers.told == [TOLD]
    brokers.failure = None
    await brokers.check(3)
    assert brokers.told == [TOLD, "Kafka answers again"]
    brokers.failure = SILENT
    await brokers.check(3)
    assert brokers.told == [TOLD, "Kafka answers again", TOLD]


async def test_a_verdict_ends_an_outage_too():
    brokers = Brokers()
    brokers.outage.clear()
    brokers.failure = SILENT
    await brokers.check()
    brokers.outage.clear()
    brokers.outage.clear()
    assert brokers.told == [TOLD, "Kafka answers again"]


async def test_credentials_that_are_refused_end_the_wait():
    brokers = Brokers()
    brokers.failure = CredentialsRefused("no such user")
    with pytest.raises(CredentialsRefused):
        await brokers.check()
    assert brokers.told == []
