"""The topics: their names, what each needs of the cluster, making them, and checking them."""

from streams.kafka.topics.operations import (
    TopicCheck,
    TopicStatus,
    check_topics,
    create_topics,
    refuse_wrong_topics,
)
from streams.kafka.topics.specification import (
    ActualTopic,
    Need,
    Topics,
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
