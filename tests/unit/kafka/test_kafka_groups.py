"""Conflicting deployments are found by their consumer groups."""

import pytest
from aiokafka.coordinator.protocol import ConsumerProtocolMemberMetadata
from aiokafka.protocol.admin import DescribeGroupsResponse_v2

from streams.kafka.consumer_groups import ConsumerGroup, find_conflicts, parse_group, shadow_group
from streams.settings import KafkaSettings

OWN = KafkaSettings(consumer_group="gate", topic_prefix="eu.")


def _group(name: str, *topics: str) -> ConsumerGroup:
    return ConsumerGroup(name, frozenset(topics))


def test_a_group_that_two_deployments_share_is_reported_with_what_the_other_reads():
    (message,) = find_conflicts(OWN, [_group("gate", "eu.answers", "us.answers")])
    assert message.startswith("kafka.consumer_group gate also reads us.answers: ")


def test_another_group_that_reads_the_same_answers_is_reported():
    (message,) = find_conflicts(OWN, [_group("gate-green", "eu.answers"), _group("gate", "eu.answers")])
    assert message.startswith("consumer group gate-green reads eu.answers too: both publish ")


@pytest.mark.parametrize(
    "group", [_group("gate", "eu.answers"), _group("gate"), _group("gate-us", "us.answers"), _group("sink")]
)
def test_a_deployment_of_its_own_and_who_else_is_on_the_cluster_are_no_conflict(group):
    assert list(find_conflicts(OWN, [group])) == []


@pytest.mark.parametrize("own", ["gate", "gate-shadow-strict"])
def test_a_deployment_and_its_shadows_are_no_conflict_and_another_deployment_is(own):
    settings = OWN.model_copy(update={"consumer_group": own})
    groups = [_group(name, "eu.answers") for name in ("gate", "gate-shadow-strict", "gate-shadow-b")]
    assert list(find_conflicts(settings, groups)) == []
    for other in ("green", "green-shadow-strict", "gate2"):
        (message,) = find_conflicts(settings, [*groups, _group(other, "eu.answers")])
        assert message.startswith(f"consumer group {other} reads eu.answers too: ")


def test_the_group_of_a_shadow_is_that_of_its_deployment_with_its_name():
    assert shadow_group("gate", "strict") == "gate-shadow-strict"


def _answer(*members: tuple[str, bytes], code: int = 0) -> DescribeGroupsResponse_v2:
    message = [("member", client, "/host", metadata, b"") for client, metadata in members]
    return DescribeGroupsResponse_v2(0, [(code, "gate", "Stable", "consumer", "faust", message)])


def _reads(*topics: str) -> bytes:
    return bytes(ConsumerProtocolMemberMetadata(0, list(topics), b"the assignor's own").encode())


def test_what_the_workers_of_a_group_read_is_reported_and_nothing_of_its_other_members():
    answer = _answer(("truthgate-a", _reads("answers")), ("truthgate-b", _reads("eu.answers")), ("x", b"?"))
    assert parse_group(answer) == _group("gate", "answers", "eu.answers")


def test_a_group_that_rebalances_or_may_not_be_seen_is_not_a_conflict():
    assert parse_group(_answer(("truthgate-a", b""))) == _group("gate")
    assert parse_group(_answer(code=30)) is None
