"""Creation and checks of topics."""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError, TopicAlreadyExistsError, UnknownTopicOrPartitionError, for_code
from aiokafka.protocol.api import Response

from streams.kafka.kafka_clients import open_admin
from streams.kafka.topics.topic_specification import (
    ActualTopic,
    TopicSpec,
    retention_warnings,
    spec_differences,
    topic_specifications,
)
from streams.settings import InvalidSettings, Settings

_POLL_SECONDS = 0.05
#: A topic that was just created may be unknown to a broker for this long.
_NEWS_SECONDS = 2.0


class TopicStatus(StrEnum):
    """The result of ``create_topics`` for one topic."""

    CREATED = "created"
    EXTENDED = "partitions added"
    EXISTS = "exists"
    DIFFERS = "differs"


@dataclass(frozen=True, slots=True)
class TopicCheck:
    """One topic compared with its specification; ``actual`` is None for a missing topic.

    ``problems`` are unmet requirements, ``warnings`` are possible losses; each continues "topic <name>".
    ``created``: the topic was created just now; ``extended``: it was given partitions just now.
    """

    spec: TopicSpec
    actual: ActualTopic | None
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    created: bool = False
    extended: bool = False

    @property
    def status(self) -> TopicStatus:
        """What was found or done."""
        if self.created:
            return TopicStatus.CREATED
        if self.problems:
            return TopicStatus.DIFFERS
        return TopicStatus.EXTENDED if self.extended else TopicStatus.EXISTS


async def create_topics(settings: Settings, *, add_partitions: bool = False) -> list[TopicCheck]:
    """Create the missing topics; existing ones are compared and not changed.

    ``add_partitions`` gives existing topics as many partitions as the settings say, but for compacted ones.

    Raises ServiceUnreachable, and InvalidSettings if the cluster refuses to create a topic.
    """
    specs = topic_specifications(settings)
    async with open_admin(settings.kafka) as admin:
        # All topics: a request for one by name creates it on clusters with automatic creation.
        existing = set(await admin.list_topics())
        created = await _create(admin, [spec for spec in specs if spec.name not in existing])
        names, seconds = [spec.name for spec in specs], settings.kafka.connect_timeout_seconds
        actual = await _await_topics(admin, names, seconds)
        more = _missing_partitions(specs, actual) if add_partitions else {}
        if more:
            await _add_partitions(admin, more)
            actual = await _await_topics(admin, names, seconds, more)
    checks = [
        replace(
            _check(spec, actual.get(spec.name), "is not known to the brokers yet"), extended=spec.name in more
        )
        for spec in specs
    ]
    # A cluster that creates a topic with other values does so by its owner's choice.
    return [replace(one, problems=(), created=True) if one.spec.name in created else one for one in checks]


def _missing_partitions(specs: Iterable[TopicSpec], actual: Mapping[str, ActualTopic]) -> dict[str, int]:
    """Return the wanted number of partitions of the topics that may have more and have fewer."""
    return {
        spec.name: spec.partitions
        for spec in specs
        if not spec.keeps_partitions
        and spec.name in actual
        and actual[spec.name].partitions < spec.partitions
    }


async def _add_partitions(admin: AIOKafkaAdminClient, wanted: Mapping[str, int]) -> None:
    try:
        await admin.create_partitions({name: NewPartitions(count) for name, count in wanted.items()})
    except KafkaError as error:
        raise InvalidSettings(f"no partitions can be added: {error}") from error


async def check_topics(settings: Settings, *, any_partitions: bool = False) -> list[TopicCheck]:
    """Compare each required topic with the cluster's.

    ``any_partitions`` permits fewer partitions than ``topics.partitions``: judging works with any number.
    Raises ServiceUnreachable.
    """
    specs = topic_specifications(settings)
    async with open_admin(settings.kafka) as admin:
        actual = await _await_topics(admin, [spec.name for spec in specs], _NEWS_SECONDS)
    return [
        _check(spec, actual.get(spec.name), "is missing", any_partitions=any_partitions) for spec in specs
    ]


def _check(
    spec: TopicSpec, actual: ActualTopic | None, absence: str, *, any_partitions: bool = False
) -> TopicCheck:
    if actual is None:
        return TopicCheck(spec, None, (absence,))
    problems = spec_differences(spec, actual, any_partitions=any_partitions)
    return TopicCheck(spec, actual, problems, retention_warnings(spec, actual))


async def _create(admin: AIOKafkaAdminClient, specs: list[TopicSpec]) -> set[str]:
    """Create topics, and return the names of those that no other client created meanwhile."""
    if not specs:
        return set()
    response = await admin.create_topics([_new_topic(spec) for spec in specs])
    return {name for name, code, reason in response.topic_errors if _was_created(name, code, reason)}


def _new_topic(spec: TopicSpec) -> NewTopic:
    # aiokafka accepts -1, the cluster's default, only with an assignment, which may be empty.
    assignment: dict[int, list[int]] | None = {} if spec.replication == -1 else None
    return NewTopic(spec.name, spec.partitions, spec.replication, assignment, dict(spec.config))


def _was_created(name: str, code: int, reason: str | None) -> bool:
    error = for_code(code)
    if error is TopicAlreadyExistsError:
        return False
    if code:
        raise InvalidSettings(f"topic {name} cannot be created: {reason or error.__name__}")
    return True


async def _describe(admin: AIOKafkaAdminClient, names: Iterable[str]) -> dict[str, ActualTopic]:
    wanted = set(names)
    described = [topic for topic in await admin.describe_topics() if topic["topic"] in wanted]
    resources = [ConfigResource(ConfigResourceType.TOPIC, topic["topic"]) for topic in described]
    configs = _configs(await admin.describe_configs(resources)) if resources else {}
    return {
        topic["topic"]: ActualTopic(
            len(topic["partitions"]),
            min((len(partition["replicas"]) for partition in topic["partitions"]), default=0),
            configs[topic["topic"]],
        )
        for topic in described
        if topic["topic"] in configs
    }


async def _await_topics(
    admin: AIOKafkaAdminClient, names: list[str], seconds: float, partitions: Mapping[str, int] | None = None
) -> dict[str, ActualTopic]:
    """Describe existing topics: a broker may learn of them a moment later than the controller.

    ``partitions`` are numbers that were asked for just now.
    """
    end, wanted = time.monotonic() + seconds, partitions or {}
    while True:
        actual = await _describe(admin, names)
        is_known = all(name in actual and actual[name].partitions >= wanted.get(name, 1) for name in names)
        if is_known or time.monotonic() > end:
            return actual
        await asyncio.sleep(_POLL_SECONDS)


def _configs(responses: Iterable[Response]) -> dict[str, dict[str, str]]:
    """Return the configuration of each topic, without topics that the broker does not know yet."""
    configs = {}
    for code, reason, _, name, entries in (found for response in responses for found in response.resources):
        if for_code(code) is UnknownTopicOrPartitionError:
            continue
        if code:
            raise InvalidSettings(
                f"the configuration of topic {name} cannot be read: {reason or for_code(code).__name__}"
            )
        configs[name] = {entry[0]: entry[1] for entry in entries}
    return configs


#: The number of topics in a message; `truthgate topics check` has the rest.
_NAMED = 3


def refuse_wrong_topics(checks: Sequence[TopicCheck]) -> None:
    """Refuse topics that are missing or do not meet their specification; warnings are accepted.

    Raises:
        InvalidSettings: with the missing topics, the problems, and the remedy, one line each.
    """
    missing = [check.spec.name for check in checks if check.actual is None]
    unmet = [check for check in checks if check.actual is not None and check.problems]
    if not missing and not unmet:
        return
    lines = [f"topic {check.spec.name} {', '.join(check.problems)}" for check in unmet[:_NAMED]]
    if others := [check.spec.name for check in unmet[_NAMED:]]:
        lines.append(f"topics with other problems: {_abbreviate(others)}")
    if missing:
        lines.insert(0, f"{len(missing)} of {len(checks)} topics are missing: {_abbreviate(missing)}")
    remedy = "`truthgate topics create` creates missing topics; " if missing else ""
    raise InvalidSettings(lines[0], *lines[1:], f"{remedy}`truthgate topics check` lists all requirements")


def _abbreviate(names: Sequence[str]) -> str:
    named = ", ".join(names[:_NAMED])
    return f"{named} and {len(names) - _NAMED} more" if len(names) > _NAMED else named
