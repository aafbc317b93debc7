"""Publishing: a record is written once the brokers have it; refusals and failures are distinguished."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import KafkaConnectionError, MessageSizeTooLargeError, RecordListTooLargeError

from streams.delivery.dead_letters import DeadLetter
from streams.delivery.publisher import (
    KafkaMetrics,
    Publisher,
    RecordLocation,
    max_send_seconds,
    max_settling_seconds,
)
from streams.observability.failures import BadAnswer, InfrastructureFailure, Stage
from streams.observability.instruments import Instruments
from streams.settings import FlowSettings, KafkaSettings, Settings
from tests.support.virtual_time import run_virtually

HEADERS = (("ce_id", b"v-1"), ("ce_id", b"again"))
LETTER = DeadLetter(b"c-1", b"abc", (("dlq.stage", b"score"),))
TOO_LARGE = MessageSizeTooLargeError("too large")


class RecordingProducer:
    """Records what is sent, or fails: immediately, or after the brokers have answered."""

    def __init__(self, *errors: Exception | None, later: bool = False, acknowledges: bool = True) -> None:
        self.sent: list[tuple[Any, ...]] = []
        self._errors = list(errors)
        self._later = later
        self._acknowledges = acknowledges

    async def send(
        self, topic: str, value: bytes, key: bytes, partition: int | None, headers: list[tuple[str, bytes]]
    ) -> asyncio.Future[Any]:
        assert isinstance(headers, list), "aiokafka changes what it is given"
        self.sent.append((topic, value, key, partition, tuple(headers)))
        error = self._errors.pop(0) if self._errors else None
        if error and not self._later:
            raise error
        sending: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if error:
            sending.set_exception(error)
        elif self._acknowledges:
            sending.set_result(SimpleNamespace(partition=3, offset=17))
        return sending


async def test_a_record_is_sent_as_it_is_and_its_place_is_given():
    producer = RecordingProducer()
    assert await Publisher(producer, 5).publish("verdicts.review", b"c-1", b"v", HEADERS) == RecordLocation(
        3, 17
    )
    assert await Publisher(producer, 5).publish("answers", None, None, (), partition=2) == RecordLocation(
        3, 17
    )
    assert producer.sent == [
        ("verdicts.review", b"v", b"c-1", None, HEADERS),
        ("answers", None, None, 2, ()),
    ]


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("error", [TOO_LARGE, RecordListTooLargeError("too large")])
async def test_a_record_that_is_refused_is_a_bad_answer_that_states_its_size(error, later):
    publisher = Publisher(RecordingProducer(error, later=later), 5)
    with pytest.raises(BadAnswer) as refused:
        await publisher.publish("verdicts.review", b"c-1", b"12345", HEADERS)
    assert (refused.value.stage, refused.value.error_class) == (Stage.PUBLISH, type(error).__name__)
    assert refused.value.message.startswith("verdicts.review refuses the record of 5 bytes: ")
    assert "too large" in refused.value.message


async def test_a_tombstone_that_is_refused_has_no_bytes():
    with pytest.raises(BadAnswer) as refused:
        await Publisher(RecordingProducer(TOO_LARGE), 5).publish("documents", b"d", None, ())
    assert "of 0 bytes" in refused.value.message


@pytest.mark.parametrize("write", ["publish", "dead_letter"])
@pytest.mark.parametrize("later", [False, True])
async def test_brokers_that_do_not_take_records_are_a_failure_of_the_worker(write, later):
    publisher = Publisher(RecordingProducer(KafkaConnectionError("gone"), later=later), 5)
    with pytest.raises(
        InfrastructureFailure, match=r"^verdicts.review does not accept .*KafkaConnectionError"
    ):
        await _writing(publisher)[write]()


@pytest.mark.parametrize("write", ["publish", "dead_letter"])
def test_no_send_is_waited_for_longer_than_the_delivery_timeout_and_five_seconds(write):
    async def never_acknowledged() -> float:
        loop = asyncio.get_running_loop()
        began = loop.time()
        with pytest.raises(
            InfrastructureFailure, match=r"^verdicts.review did not acknowledge .* within 65 s$"
        ):
            await _writing(Publisher(RecordingProducer(acknowledges=False), 60))[write]()
        return loop.time() - began

    assert run_virtually(never_acknowledged()) == pytest.approx(65)


def _writing(publisher: Publisher) -> dict[str, Callable[[], Any]]:
    return {
        "publish": lambda: publisher.publish("verdicts.review", b"c-1", b"v", HEADERS),
        "dead_letter": lambda: publisher.publish_dead_letter("verdicts.review", LETTER),
    }


async def test_a_dead_letter_is_written_whole_where_it_fits():
    producer = RecordingProducer()
    assert await Publisher(producer, 5).publish_dead_letter("answers.dead-letters", LETTER) == RecordLocation(
        3, 17
    )
    assert producer.sent == [("answers.dead-letters", b"abc", b"c-1", None, LETTER.headers)]


async def test_a_dead_letter_that_does_not_fit_goes_without_its_value_under_the_same_key():
    producer = RecordingProducer(TOO_LARGE)
    assert await Publisher(producer, 5).publish_dead_letter("answers.dead-letters", LETTER) == RecordLocation(
        3, 17
    )
    _, (topic, value, key, partition, headers) = producer.sent
    assert (topic, value, key, partition) == ("answers.dead-letters", None, b"c-1", None)
    assert headers[:2] == (*LETTER.headers, ("dlq.value.bytes", b"3"))


async def test_a_dead_letter_that_does_not_fit_without_its_value_ends_the_worker():
    publisher = Publisher(RecordingProducer(TOO_LARGE, RecordListTooLargeError()), 5)
    with pytest.raises(
        InfrastructureFailure, match=r"^answers.dead-letters .*RecordListTooLargeError.*max\."
    ):
        await publisher.publish_dead_letter("answers.dead-letters", LETTER)


def test_a_send_has_failed_five_seconds_after_the_producer_should_have_given_up():
    assert max_send_seconds(60) == 65


def test_an_answer_may_take_its_time_and_be_refused_and_dead_lettered_at_the_last_moment():
    settings = Settings(
        flow=FlowSettings(answer_timeout_seconds=40), kafka=KafkaSettings(delivery_timeout_seconds=10)
    )
    assert max_settling_seconds(settings) == 40 + 2 * (10 + 5) + 30


def test_as_shipped_it_is_what_the_readme_states_to_wait_for():
    assert max_settling_seconds(Settings()) == 220


def test_up_and_silence_are_shown_from_the_first_answer_on():
    instruments = Instruments()
    instruments.begin_section("Test")
    silence: list[float | None] = [None]
    up = [False]
    KafkaMetrics(instruments).watch(lambda: silence[0], lambda: up[0])

    def shown() -> tuple[float | None, float | None]:
        of = instruments.registry.get_sample_value
        return of("truthgate_kafka_up"), of("truthgate_kafka_silence_seconds")

    assert shown() == (None, None)
    silence[0] = 12.5
    assert shown() == (0, 12.5)
    silence[0], up[0] = 0.0, True
    assert shown() == (1, 0)


def test_each_says_what_it_is_and_what_to_look_at():
    instruments = Instruments()
    instruments.begin_section("Test")
    KafkaMetrics(instruments)
    definitions = instruments.sections["Test"]
    assert [(each.name, each.unit) for each in definitions] == [
        ("truthgate.kafka_up", ""),
        ("truthgate.kafka_silence", "s"),
        ("truthgate.rebalances", "{rebalance}"),
        ("truthgate.kafka_certificate_end", "s"),
    ]
    assert all(each.description and each.look_at for each in definitions)
