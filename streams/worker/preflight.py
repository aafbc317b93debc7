"""Checks before the worker starts."""

import asyncio
from typing import Final

import structlog
from aiokafka.errors import KafkaError

from streams.kafka.consumer_groups import group_conflicts
from streams.kafka.kafka_clients import ServiceUnreachable
from streams.kafka.topics import check_topics, refuse_wrong_topics
from streams.settings import Settings, unused_settings

#: Two deployments that start together have no members yet that the other could see; by then they have.
_LATER_SECONDS: Final = 300.0

log = structlog.get_logger(__name__)


async def run_preflight_checks(settings: Settings) -> None:
    """Look at the topics, at other deployments, and at settings that change nothing.

    What keeps a worker from judging is refused, the rest is told in its log.

    Raises:
        InvalidSettings: a topic is missing or falls short.
        ServiceUnreachable: Kafka does not answer.
    """
    for reason in unused_settings(settings):
        log.warning("setting_without_effect", reason=reason)
    await _check_topics(settings)
    await _check_groups(settings)


async def recheck_groups_later(settings: Settings, after_seconds: float = _LATER_SECONDS) -> None:
    """Look at other deployments once more, some minutes after the start."""
    await asyncio.sleep(after_seconds)
    await _check_groups(settings)


async def _check_topics(settings: Settings) -> None:
    checks = await check_topics(settings, any_partitions=True)
    refuse_wrong_topics(checks)
    for check in checks:
        for reason in check.warnings:
            log.warning("topic_keeps_too_little", topic=check.spec.name, reason=reason)


async def _check_groups(settings: Settings) -> None:
    try:
        conflicts = await group_conflicts(settings.kafka)
    except (KafkaError, ServiceUnreachable) as error:  # who may not ask works all the same
        log.warning("other_deployments_unknown", error_type=type(error.__cause__ or error).__name__)
        return
    for reason in conflicts:
        log.warning("another_deployment", reason=reason)
