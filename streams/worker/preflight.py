"""Checks before the worker starts."""

import asyncio
from typing import Final

import structlog
from aiokafka.errors import KafkaError

from streams.kafka.consumer_groups import group_conflicts
from streams.kafka.kafka_clients import ServiceUnreachable
from streams.kafka.topics import check_topics, refuse_wrong_topics
from streams.settings import Settings, unused_settings

#: Deployments that start at the same time see no members of each other yet; after this long they do.
_LATER_SECONDS: Final = 300.0

log = structlog.get_logger(__name__)


async def run_preflight_checks(settings: Settings) -> None:
    """Check the topics, other deployments, and settings without effect; log what does not prevent the start.

    Raises:
        InvalidSettings: a topic is missing or has a wrong specification.
        ServiceUnreachable: Kafka does not respond.
    """
    for reason in unused_settings(settings):
        log.warning("setting_unused", reason=reason)
    await _check_topics(settings)
    await _check_groups(settings)


async def recheck_groups_later(settings: Settings, after_seconds: float = _LATER_SECONDS) -> None:
    """Check other deployments again, some minutes after the start."""
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
    except (KafkaError, ServiceUnreachable) as error:  # the worker may lack the permission; it works without
        log.warning("other_deployments_unknown", error_type=type(error.__cause__ or error).__name__)
        return
    for reason in conflicts:
        log.warning("another_deployment", reason=reason)
