"""The topics: their names, what each needs of the cluster, making them, and checking them."""

from streams.kafka.topics.names import Topics
from streams.kafka.topics.operations import (
    TopicCheck,
    TopicStatus,
    check_topics,
    create_topics,
)
from streams.kafka.topics.refusal import refuse_wrong_topics
from streams.kafka.topics.specification import (
    ActualTopic,
    Need,
    TopicSpec,
    message_limits,
    need_of,
    specifications,
)

__all__ = [
    "ActualTopic",
    "Need",
    "TopicCheck",
    "TopicSpec",
    "TopicStatus",
    "Topics",
    "check_topics",
    "create_topics",
    "message_limits",
    "need_of",
    "refuse_wrong_topics",
    "specifications",
]
