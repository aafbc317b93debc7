"""The topics: names, requirements, creation and checks."""

from streams.kafka.topics.topic_admin import (
    TopicCheck,
    TopicStatus,
    check_topics,
    create_topics,
    refuse_wrong_topics,
)
from streams.kafka.topics.topic_specification import (
    ActualTopic,
    Requirement,
    Topics,
    TopicSpec,
    message_limits,
    requirement_of,
    topic_specifications,
)

__all__ = [
    "ActualTopic",
    "Requirement",
    "TopicCheck",
    "TopicSpec",
    "TopicStatus",
    "Topics",
    "check_topics",
    "create_topics",
    "message_limits",
    "refuse_wrong_topics",
    "requirement_of",
    "topic_specifications",
]
