"""The topics: their names, what each needs of the cluster, making them, and checking them."""

from streams.kafka.topics.names import Topics
from streams.kafka.topics.operations import TopicOutcome, TopicStatus, check_topics, create_topics
from streams.kafka.topics.specification import message_limits, specifications

__all__ = [
    "TopicOutcome",
    "TopicStatus",
    "Topics",
    "check_topics",
    "create_topics",
    "message_limits",
    "specifications",
]
