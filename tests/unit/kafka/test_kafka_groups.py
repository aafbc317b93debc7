"""Another deployment that gets in the way is told by its consumer group."""

import pytest

from streams.kafka.groups import Group, conflicts
from streams.settings import KafkaSettings

OWN = KafkaSettings(consumer_group="gate", topic_prefix="eu.")


def _group(name: str, *topics: str) -> Group:
    return Group(name, frozenset(topics))


def test_a_group_that_two_deployments_share_is_told_with_what_the_other_reads() -> None:
    (told,) = conflicts(OWN, [_group("gate", "eu.answers", "us.answers")])
    assert told.startswith("kafka.consumer_group gate also reads us.answers: ")


def test_another_group_that_reads_the_same_answers_is_told() -> None:
    (told,) = conflicts(OWN, [_group("gate-green", "eu.answers"), _group("gate", "eu.answers")])
    assert told.startswith("consumer group gate-green reads eu.answers too: both publish ")


@pytest.mark.parametrize(
    "group", [_group("gate", "eu.answers"), _group("gate"), _group("gate-us", "us.answers"), _group("sink")]
)
def test_a_deployment_of_its_own_and_who_else_is_on_the_cluster_are_in_nobodys_way(group: Group) -> None:
    assert list(conflicts(OWN, [group])) == []
