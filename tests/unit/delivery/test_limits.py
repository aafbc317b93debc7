"""How long a send may take, and all that is in work."""

from streams.delivery.publisher import max_send_seconds, max_settling_seconds
from streams.settings import FlowSettings, KafkaSettings, Settings


def test_a_send_has_failed_five_seconds_after_the_producer_should_have_given_up() -> None:
    assert max_send_seconds(60) == 65


def test_an_answer_may_take_its_time_and_be_refused_and_buried_at_the_last_moment() -> None:
    settings = Settings(
        flow=FlowSettings(answer_timeout_seconds=40), kafka=KafkaSettings(delivery_timeout_seconds=10)
    )
    assert max_settling_seconds(settings) == 40 + 2 * (10 + 5) + 30


def test_as_shipped_it_is_what_the_readme_tells_to_wait_for() -> None:
    assert max_settling_seconds(Settings()) == 220
