"""Topics: names, specifications, and the refusal of topics that a worker cannot use."""

import re
from dataclasses import replace

import pytest
from pydantic import ValidationError

from streams.documents.follower import MAX_STORE_AGE_SECONDS
from streams.kafka.topics import (
    ActualTopic,
    Requirement,
    TopicCheck,
    Topics,
    TopicSpec,
    message_limits,
    refuse_wrong_topics,
    requirement_of,
    topic_specifications,
)
from streams.kafka.topics.topic_specification import retention_warnings, spec_differences
from streams.settings import (
    DeskSettings,
    EncodingSettings,
    InvalidSettings,
    KafkaSettings,
    RatesSettings,
    Settings,
    TopicSettings,
)
from streams.settings.kafka_settings import MAX_PREFIX_LENGTH


def _specs(settings: Settings) -> dict[str, TopicSpec]:
    return {spec.name: spec for spec in topic_specifications(settings)}


def _fulfilled(spec: TopicSpec) -> ActualTopic:
    return ActualTopic(spec.partitions, max(1, spec.replication), dict(spec.config))


def test_the_names_are_those_of_the_contract():
    assert Topics().all == (
        "answers",
        "documents",
        "reviews",
        "controls",
        "known-answers",
        "policies",
        "schemas",
        "verdicts.auto-send",
        "verdicts.review",
        "verdicts.blocked",
        "shadow-verdicts",
        "hallucination-rates",
        "answers.dead-letters",
    )
    assert Topics("eu.").dead_letters == "eu.answers.dead-letters"


def test_a_sender_that_reads_verdicts_by_pattern_does_not_find_those_of_shadows():
    topics = Topics("eu.")
    for pattern in (r"eu\.verdicts\..*", r"eu\.verdicts.*", r".*\.verdicts\..*"):
        found = [each for each in topics.all if re.fullmatch(pattern, each)]
        assert found == list(topics.outputs)


def test_each_decision_has_its_topic_and_no_other_has_one():
    topics = Topics()
    assert tuple(map(topics.verdict_topic, ("auto_send", "review", "blocked"))) == topics.outputs
    with pytest.raises(KeyError):
        topics.verdict_topic("unsure")


def test_only_what_must_last_and_has_keys_is_compacted():
    policies = {name: spec.config["cleanup.policy"] for name, spec in _specs(Settings()).items()}
    for name in (
        "documents",
        "controls",
        "known-answers",
        "policies",
        "schemas",
        "hallucination-rates.state",
    ):
        assert policies.pop(name) == "compact"
    assert set(policies.values()) == {"delete"}


@pytest.mark.parametrize("name", ["controls", "known-answers", "policies", "hallucination-rates.state"])
def test_what_every_worker_follows_and_the_state_of_the_rates_have_one_partition_whatever_others_have(name):
    assert _specs(Settings(topics=TopicSettings(partitions=6)))[name].partitions == 1


def test_without_rates_their_own_topics_are_not_needed():
    without = _specs(Settings(rates=RatesSettings(enabled=False)))
    assert set(_specs(Settings())) - set(without) == set(Topics().rate_topics)
    assert tuple(without) == Topics().all


def test_tombstones_outlive_the_documents_stores():
    kept_seconds = int(_specs(Settings())["documents"].config["delete.retention.ms"]) / 1_000
    assert kept_seconds > MAX_STORE_AGE_SECONDS


def test_dead_letters_and_verdicts_take_more_than_answers_do():
    settings = Settings(encoding=EncodingSettings(max_value_bytes=10_000))
    limits = message_limits(settings)
    assert 10_000 < limits.input < limits.dead_letter
    assert limits.input < limits.verdict
    assert _specs(settings)["verdicts.review"].config["max.message.bytes"] == str(limits.verdict)


@pytest.mark.parametrize(("replication", "in_sync"), [(-1, None), (1, None), (2, None), (3, "2"), (5, "2")])
def test_two_copies_are_asked_for_where_there_are_three_replicas(replication, in_sync):
    settings = Settings(topics=TopicSettings(replication_factor=replication))
    assert {spec.config.get("min.insync.replicas") for spec in topic_specifications(settings)} == {in_sync}


def test_a_topic_as_specified_has_no_differences():
    settings = Settings(kafka=KafkaSettings(topic_prefix="eu."), topics=TopicSettings(replication_factor=3))
    assert all(spec_differences(spec, _fulfilled(spec)) == () for spec in topic_specifications(settings))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"cleanup.policy": "delete"}, "has cleanup.policy delete, compact wanted"),
        ({"unclean.leader.election.enable": "true"}, "has unclean.leader.election.enable true, false wanted"),
        ({"delete.retention.ms": "1"}, "has delete.retention.ms 1, 86400000 wanted"),
        (
            {"min.insync.replicas": "1"},
            "has min.insync.replicas 1, 2 wanted: one broker could lose a message",
        ),
    ],
)
def test_what_could_lose_a_message_is_a_problem(change, problem):
    spec = _specs(Settings(topics=TopicSettings(replication_factor=3)))["documents"]
    actual = _fulfilled(spec)
    assert spec_differences(spec, replace(actual, config={**actual.config, **change})) == (problem,)


HOUR, DAY = 3_600_000, 86_400_000
NOBODY_AUDITS = DeskSettings(audit_share=0)


def _warned(settings: Settings, topic: str, **changes: str) -> tuple[str, ...]:
    spec = _specs(settings)[topic]
    config = {**spec.config, **{key.replace("_", "."): value for key, value in changes.items()}}
    return retention_warnings(spec, replace(_fulfilled(spec), config=config))


@pytest.mark.parametrize("topic", ["answers", "answers.dead-letters"])
@pytest.mark.parametrize(("kept", "warnings"), [(DAY - 1, 1), (DAY, 0), (7 * DAY, 0), (0, 1), (-1, 0)])
def test_less_than_a_day_of_what_is_still_to_be_read_is_warned_of(topic, kept, warnings):
    assert len(_warned(Settings(), topic, retention_ms=str(kept))) == warnings


def test_a_topic_that_forgets_by_size_is_warned_of_with_what_comes_of_it():
    assert _warned(Settings(), "answers", retention_bytes="1000") == (
        "has retention.bytes 1000, however old they are: answers that no worker has read by then are lost",
    )
    assert _warned(Settings(), "answers", retention_bytes="-1") == ()


def test_verdicts_should_be_kept_as_long_as_rates_are_corrected_from_them():
    longer = Settings(rates=RatesSettings(retention_seconds=86_400), desk=NOBODY_AUDITS)
    assert len(_warned(longer, "verdicts.blocked", retention_ms=str(DAY + HOUR - 1))) == 1
    assert _warned(longer, "verdicts.blocked", retention_ms=str(DAY + HOUR)) == ()
    uncounted = Settings(rates=RatesSettings(enabled=False), desk=NOBODY_AUDITS)
    assert _warned(uncounted, "verdicts.blocked", retention_ms="1") == ()


def test_verdicts_should_be_kept_for_longer_than_a_fit_waits_for_their_ratings():
    (warning,) = _warned(Settings(), "verdicts.auto-send", retention_ms=str(14 * DAY - 1))
    assert "`policy fit`, which waits for ratings so long, finds few verdicts or none" in warning
    assert _warned(Settings(), "verdicts.auto-send", retention_ms=str(14 * DAY)) == ()


def test_nothing_is_warned_of_where_the_topics_are_as_they_are_made():
    assert [
        spec.name for spec in topic_specifications(Settings()) if retention_warnings(spec, _fulfilled(spec))
    ] == []


def test_what_must_be_so_is_reported_from_what_is_the_owners_choice():
    asked = {key: requirement_of(key) for spec in topic_specifications(Settings()) for key in spec.config}
    assert asked["cleanup.policy"] is Requirement.EXACTLY
    assert asked["max.message.bytes"] is requirement_of("min.insync.replicas") is Requirement.AT_LEAST
    assert asked["retention.ms"] is asked["message.timestamp.type"] is Requirement.ADVISED


def test_more_than_wanted_and_another_retention_are_fine():
    spec = _specs(Settings())["answers"]
    generous = {**spec.config, "max.message.bytes": "99999999", "retention.ms": "1"}
    assert spec_differences(spec, ActualTopic(spec.partitions + 1, 2, generous)) == ()


#: `Topic.MAX_NAME_LENGTH` of Kafka.
LONGEST_NAME = 249


def test_with_the_longest_prefix_the_longest_name_is_as_long_as_kafka_takes():
    prefix = "p" * MAX_PREFIX_LENGTH
    topics = Topics(KafkaSettings(topic_prefix=prefix).topic_prefix)
    assert max(map(len, (*topics.all, *topics.rate_topics))) == LONGEST_NAME


def test_a_longer_prefix_is_refused():
    with pytest.raises(ValidationError):
        KafkaSettings(topic_prefix="p" * (MAX_PREFIX_LENGTH + 1))


ADVICE = "`truthgate topics check` lists all requirements"


def _topic_check(name: str, *problems: str, there: bool = True, warnings: tuple[str, ...] = ()) -> TopicCheck:
    return TopicCheck(TopicSpec(name, 1, 1, {}), ActualTopic(1, 1, {}) if there else None, problems, warnings)


def _refusal(*checks: TopicCheck) -> list[str]:
    with pytest.raises(InvalidSettings) as caught:
        refuse_wrong_topics(checks)
    return [str(caught.value), *caught.value.more]


def test_topics_that_fit_pass_and_so_does_what_is_only_warned_of():
    refuse_wrong_topics(
        [_topic_check("answers"), _topic_check("documents", warnings=("has retention.ms 1",))]
    )


def test_what_is_missing_is_counted_and_named_with_what_makes_it():
    missing = [_topic_check(f"topic-{number}", "is missing", there=False) for number in range(5)]
    assert _refusal(*missing, _topic_check("there")) == [
        "5 of 6 topics are missing: topic-0, topic-1, topic-2 and 2 more",
        f"`truthgate topics create` creates missing topics; {ADVICE}",
    ]


def test_what_falls_short_is_reported_with_its_reasons_and_creating_is_not_advised():
    assert _refusal(
        _topic_check("documents", "has cleanup.policy delete, compact wanted", "has x 1, 2 wanted")
    ) == [
        "topic documents has cleanup.policy delete, compact wanted, has x 1, 2 wanted",
        ADVICE,
    ]


def test_however_many_are_wrong_there_are_six_lines_at_most():
    wrong = [_topic_check(f"topic-{number}", "has x 1, 2 wanted") for number in range(9)]
    lines = _refusal(_topic_check("answers", "is missing", there=False), *wrong)
    assert len(lines) == 6
    assert lines[0] == "1 of 10 topics are missing: answers"
    assert lines[4] == "topics with other problems: topic-3, topic-4, topic-5 and 3 more"
