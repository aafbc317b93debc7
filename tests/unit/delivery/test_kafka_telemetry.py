"""Whether Kafka answers is shown from its first answer on, and since when it has not."""

from streams.delivery.publisher import KafkaMetrics
from streams.observability.instruments import Instruments


def test_up_and_silence_are_shown_from_the_first_answer_on() -> None:
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


def test_both_say_what_they_are_and_what_to_look_at() -> None:
    instruments = Instruments()
    instruments.begin_section("Test")
    KafkaMetrics(instruments)
    told = [
        (each.name, each.unit, bool(each.description and each.look_at))
        for each in instruments.sections["Test"]
    ]
    assert told == [("truthgate.kafka_up", "", True), ("truthgate.kafka_silence", "s", True)]
