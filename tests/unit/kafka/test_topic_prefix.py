"""The longest prefix that the settings take gives topics names that Kafka takes."""

import pytest
from pydantic import ValidationError

from streams.kafka.topics import Topics
from streams.settings import KafkaSettings
from streams.settings.kafka_settings import MAX_PREFIX_LENGTH

#: `Topic.MAX_NAME_LENGTH` of Kafka.
LONGEST_NAME = 249


def test_with_the_longest_prefix_the_longest_name_is_as_long_as_kafka_takes() -> None:
    prefix = "p" * MAX_PREFIX_LENGTH
    topics = Topics(KafkaSettings(topic_prefix=prefix).topic_prefix)
    assert max(map(len, (*topics.all, *topics.rate_topics))) == LONGEST_NAME


def test_a_longer_prefix_is_refused() -> None:
    with pytest.raises(ValidationError):
        KafkaSettings(topic_prefix="p" * (MAX_PREFIX_LENGTH + 1))
