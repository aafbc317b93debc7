"""Since when the topics have everything: what Kafka deleted must not look like what was never there."""

from contextlib import closing
from pathlib import Path

import pytest
from aiokafka import ConsumerRecord, TopicPartition

from schemas import Codec
from streams.kafka.topic_reader import TopicSnapshot
from streams.reviews.rating_follower import RatingFollower
from streams.reviews.rating_store import RatingStore
from streams.settings import KafkaSettings
from tests.support.reviews import a_review
from tests.support.verdicts import any_verdict

VERDICT, REVIEW = Codec().encode(any_verdict()), Codec().encode(a_review())


def record(topic: str, partition: int, offset: int, at: int) -> ConsumerRecord:
    value = REVIEW if topic == "reviews" else VERDICT
    return ConsumerRecord(topic, partition, offset, at, 0, b"c", value, None, 1, len(value), ())


@pytest.mark.parametrize(
    ("begins", "since"),
    [
        ({}, 0),
        ({("verdicts.review", 0): 3}, 500),
        ({("verdicts.review", 0): 3, ("verdicts.auto-send", 1): 1}, 700),
        ({("verdicts.auto-send", 0): 9}, 0),  # nothing is left of it, so what it had is older than all else
        ({("reviews", 0): 4}, 0),  # they are kept for ever, and one without its verdict counts as nothing
    ],
)
async def test_everything_was_read_since_the_first_record_of_what_was_cut(
    tmp_path: Path, begins: dict[tuple[str, int], int], since: int
) -> None:
    with closing(RatingStore(tmp_path, Codec())) as store:
        follower = RatingFollower(KafkaSettings(), Codec(), store)
        records = [
            record("verdicts.review", 0, 3, 500),
            record("verdicts.review", 0, 4, 900),
            record("verdicts.auto-send", 1, 1, 700),
            record("reviews", 0, 4, 950),
        ]
        await follower._apply(records, {})
    places = {TopicPartition(each.topic, each.partition): 0 for each in records}
    places |= {TopicPartition(*at): begin for at, begin in begins.items()}
    assert follower.complete_since(TopicSnapshot((), places, places, 0.0)) == since
