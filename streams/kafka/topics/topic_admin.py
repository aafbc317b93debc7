"""Creates and checks topics."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import TopicAlreadyExistsError, UnknownTopicOrPartitionError, for_code
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
#: A topic that a broker does not know for so long is missing: it may have been made a moment ago.
_NEWS_SECONDS = 2.0


class TopicStatus(StrEnum):
    """What ``create_topics`` found or did."""

    CREATED = "created"
    EXISTS = "exists"
    DIFFERS = "differs"


@dataclass(frozen=True, slots=True)
class TopicCheck:
    """One topic beside what is asked of it; ``actual`` None is one that is missing.

    ``problems`` say in what it differs from what is needed, ``warnings`` what may be lost with it; both go on
    where "topic ..." begins. ``created`` says that it was made just now.
    """

    spec: TopicSpec
    actual: ActualTopic | None
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    created: bool = False

    @property
    def status(self) -> TopicStatus:
        """What was found or done."""
        if self.created:
            return TopicStatus.CREATED
        return TopicStatus.DIFFERS if self.problems else TopicStatus.EXISTS


async def create_topics(settings: Settings) -> list[TopicCheck]:
    """Create the topics that are missing; those that exist are compared and left as they are.

    Raises ServiceUnreachable, and InvalidSettings when the cluster refuses to make a topic.
    """
    specs = topic_specifications(settings)
    async with open_admin(settings.kafka) as admin:
        # All of them: asking for one by name creates it where the cluster makes topics by itself.
        existing = set(await admin.list_topics())
        created = await _create(admin, [spec for spec in specs if spec.name not in existing])
        actual = await _await_topics(
            admin, [spec.name for spec in specs], settings.kafka.connect_timeout_seconds
        )
    checks = [_check(spec, actual.get(spec.name), "is not known to the brokers yet") for spec in specs]
    # A cluster that makes a topic otherwise than it was asked to does so by its owner's choice.
    return [replace(one, problems=(), created=True) if one.spec.name in created else one for one in checks]


async def check_topics(settings: Settings, *, any_partitions: bool = False) -> list[TopicCheck]:
    """Give each topic that is needed beside what the cluster has.

    ``any_partitions`` True lets topics have fewer partitions than ``topics.partitions``: judging
    works with any number. Raises ServiceUnreachable.
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
    """Create topics and return the names of those that nobody else made meanwhile."""
    if not specs:
        return set()
    response = await admin.create_topics([_new_topic(spec) for spec in specs])
    return {name for name, code, reason in response.topic_errors if _was_created(name, code, reason)}


def _new_topic(spec: TopicSpec) -> NewTopic:
    # aiokafka takes -1, the cluster's default, only together with an assignment, which may be empty.
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
    admin: AIOKafkaAdminClient, names: list[str], seconds: float
) -> dict[str, ActualTopic]:
    """Describe topics that exist: a broker may learn a moment later than the controller that they do."""
    end = time.monotonic() + seconds
    while len(actual := await _describe(admin, names)) < len(names) and time.monotonic() < end:  # noqa: ASYNC110
        await asyncio.sleep(_POLL_SECONDS)
    return actual


def _configs(responses: Iterable[Response]) -> dict[str, dict[str, str]]:
    """Give the settings of each topic, without those that the broker that was asked does not know yet."""
    configs = {}
    for code, reason, _, name, entries in (found for response in responses for found in response.resources):
        if for_code(code) is UnknownTopicOrPartitionError:
            continue
        if code:
            raise InvalidSettings(
                f"the settings of topic {name} cannot be read: {reason or for_code(code).__name__}"
            )
        configs[name] = {entry[0]: entry[1] for entry in entries}
    return configs


#: A terminal shows what is worth reading at once; `truthgate topics check` tells the rest.
_NAMED = 3


def refuse_wrong_topics(checks: Sequence[TopicCheck]) -> None:
    """Let topics pass that are as they are needed; warnings are no reason to refuse.

    Raises:
        InvalidSettings: with what is missing, what falls short, and what helps, a line each.
    """
    missing = [check.spec.name for check in checks if check.actual is None]
    short = [check for check in checks if check.actual is not None and check.problems]
    if not missing and not short:
        return
    lines = _falling_short(short)
    if missing:
        lines.insert(0, f"{len(missing)} of {len(checks)} topics are missing: {_abbreviate(missing)}")
    made = "`truthgate topics create` makes what is missing; " if missing else ""
    raise InvalidSettings(lines[0], *lines[1:], f"{made}`truthgate topics check` says what each needs")


def _falling_short(checks: Sequence[TopicCheck]) -> list[str]:
    lines = [f"topic {check.spec.name} {', '.join(check.problems)}" for check in checks[:_NAMED]]
    left = [check.spec.name for check in checks[_NAMED:]]
    return [*lines, f"so do not fit: {_abbreviate(left)}"] if left else lines


def _abbreviate(names: Sequence[str]) -> str:
    named = ", ".join(names[:_NAMED])
    return f"{named} and {len(names) - _NAMED} more" if len(names) > _NAMED else named
