"""The follower reads the topic to its end before all else, and ends the worker if it cannot go on."""

import asyncio
from typing import Self

import pytest
from aiokafka import TopicPartition
from aiokafka.errors import (
    OffsetOutOfRangeError,
    RequestTimedOutError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from structlog.testing import capture_logs

from scoring.policy import Pauses, PauseScope
from streams.kafka.kafka_clients import ServiceUnreachable
from streams.observability.failures import EXIT_UNREACHABLE
from streams.pause.pause_follower import PauseFollower, PausesLost
from streams.pause.pause_state import PauseState
from tests.support.followed_topic import FIRST, Topic, now
from tests.support.pauses import INSTRUCTIONS_IN_DUTCH, a_pause, pause_record, raw_record, resumed
from tests.support.virtual_time import run_virtually

EVERYTHING = a_pause()
SECOND = TopicPartition("controls", 1)


class Following:
    """A follower at work on a topic."""

    def __init__(self, topic: Topic) -> None:
        self.state = PauseState(now)
        self.follower = PauseFollower(self.state, "controls", topic)  # type: ignore[arg-type]
        self.tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        await self.follower.read_to_end()
        self.tasks = [asyncio.create_task(self.follower.run())]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self.tasks:
            task.cancel()

    async def lost(self, seconds: float = 60) -> PausesLost:
        """Give why it ended, within so many seconds."""
        done, _ = await asyncio.wait(self.tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        (ended,) = done
        failure = ended.exception()
        assert isinstance(failure, PausesLost)
        assert failure.exit_code == EXIT_UNREACHABLE
        return failure


def test_the_whole_topic_is_read_before_anything_else():
    async def main() -> None:
        async with Following(Topic(pause_record(EVERYTHING))) as following:
            assert following.state.pauses == Pauses(frozenset({PauseScope()}))

    run_virtually(main())


def test_what_comes_later_is_taken_in_at_the_next_poll():
    async def main() -> None:
        topic = Topic()
        async with Following(topic) as following:
            assert following.state.pauses == Pauses()
            topic.records[FIRST].append(pause_record(EVERYTHING))
            await asyncio.sleep(0.3)
            assert following.state.pauses.scopes == {PauseScope()}
            topic.records[FIRST].append(pause_record(resumed(EVERYTHING), 1))
            await asyncio.sleep(0.3)
            assert following.state.pauses == Pauses()

    run_virtually(main())


@pytest.mark.parametrize(
    "failure",
    [
        TopicAuthorizationFailedError(),
        UnknownTopicOrPartitionError("controls"),
        ServiceUnreachable("Kafka at k:9092 does not answer"),
        TimeoutError(),
    ],
)
def test_a_topic_that_cannot_be_read_at_the_start_is_the_end(failure):
    async def main() -> None:
        topic = Topic(pause_record(EVERYTHING))
        topic.failure = failure
        following = Following(topic)
        with pytest.raises(PausesLost, match=r"^the pauses cannot be read from topic controls: \S"):
            await following.follower.read_to_end()
        assert not following.state.known

    run_virtually(main())


def test_a_topic_that_is_not_read_in_time_at_the_start_is_the_end():
    async def main() -> float:
        topic = Topic()
        topic.hangs = True
        with pytest.raises(PausesLost, match="TimeoutError"):
            await Following(topic).follower.read_to_end()
        return now()

    assert run_virtually(main()) == 30


@pytest.mark.parametrize("failure", [OffsetOutOfRangeError(), TopicAuthorizationFailedError()])
def test_a_topic_that_cannot_be_read_any_more_is_the_end(failure):
    async def main() -> None:
        topic = Topic()
        async with Following(topic) as following:
            topic.failure = failure
            assert type(failure).__name__ in str(await following.lost(1))

    run_virtually(main())


def test_brokers_that_say_nothing_make_the_pauses_unknown_until_they_are_back():
    async def main() -> list[str]:
        topic = Topic()
        with capture_logs() as logs:
            async with Following(topic) as following:
                await asyncio.sleep(5)
                topic.silent = True
                await asyncio.sleep(19)
                assert following.state.known
                await asyncio.sleep(2)
                assert following.state.pauses == Pauses(known=False)
                topic.silent = False
                await asyncio.sleep(1)
                assert following.state.known
        return [line["event"] for line in logs]

    assert run_virtually(main()) == ["pauses_unknown", "pauses_known_again"]


def test_a_topic_that_was_made_anew_is_the_end():
    async def main() -> None:
        topic = Topic()
        async with Following(topic) as following:
            topic.topic_id = "2"
            assert "replaced" in str(await following.lost(11))

    run_virtually(main())


def test_a_topic_counts_as_deleted_after_three_checks_in_a_row():
    async def main() -> None:
        topic, gone = Topic(), UnknownTopicOrPartitionError("controls")
        async with Following(topic) as following:
            topic.looks = [gone, gone]
            await asyncio.sleep(35)
            assert not following.tasks[0].done()
            topic.looks = [gone, gone, gone]
            assert "deleted" in str(await following.lost(35))

    run_virtually(main())


@pytest.mark.parametrize("trouble", [RequestTimedOutError(), ServiceUnreachable("k:9092 does not answer")])
def test_a_check_that_fails_changes_nothing(trouble):
    async def main() -> None:
        topic = Topic()
        async with Following(topic) as following:
            topic.looks = [trouble] * 4
            await asyncio.sleep(55)
            topic.topic_id = "2"
            assert "replaced" in str(await following.lost(11))

    run_virtually(main())


def test_a_check_that_hangs_hides_no_pause():
    async def main() -> None:
        topic = Topic()
        async with Following(topic) as following:
            topic.hangs = True
            await asyncio.sleep(15)
            topic.records[FIRST].append(pause_record(EVERYTHING))
            await asyncio.sleep(0.3)
            assert following.state.pauses.scopes == {PauseScope()}

    run_virtually(main())


def test_partitions_that_are_added_are_read_from_their_beginning():
    async def main() -> None:
        topic = Topic(pause_record(EVERYTHING))
        async with Following(topic) as following:
            topic.records[SECOND] = [pause_record(a_pause("instruction", "nl"), partition=1)]
            await asyncio.sleep(11)
            assert following.state.pauses.scopes == {PauseScope(), INSTRUCTIONS_IN_DUTCH}
            topic.records[FIRST].append(pause_record(resumed(EVERYTHING), 1))
            await asyncio.sleep(1)
            assert following.state.pauses.scopes == {INSTRUCTIONS_IN_DUTCH}

    run_virtually(main())


def test_pauses_at_the_start_and_each_change_are_logged_without_its_reason():
    async def main() -> list[dict[str, object]]:
        before = [pause_record(resumed(a_pause("binary"))), pause_record(a_pause("instruction", "nl"), 1)]
        topic = Topic(*before)
        with capture_logs() as logs:
            async with Following(topic):
                topic.records[FIRST] += [
                    pause_record(resumed(a_pause("instruction", "nl")), 2),
                    raw_record(b"*/*", b"nonsense", 3),
                    raw_record(b"*/*", None, 4),
                ]
                await asyncio.sleep(1)
        return logs

    logs = run_virtually(main())
    dutch = {"message_type": "instruction", "language": "nl", "partition": 0}
    assert [{k: v for k, v in line.items() if k != "log_level"} for line in logs] == [
        {"event": "sending_paused", "by": "anna", "offset": 1, **dutch},
        {"event": "sending_resumed", "by": "bert", "offset": 2, **dutch},
        {"event": "pause_unreadable", "error_type": "unknown_format", "partition": 0, "offset": 3},
        {"event": "pause_removed", "partition": 0, "offset": 4},
    ]
    assert "wrong prices" not in str(logs)
