"""The topic `policies` from a command: read whole, and written as an operator."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from schemas import PolicyChange, PolicyContent
from schemas.records import rfc3339
from scoring.policy.certificates import Certificate
from streams.cli.command_output import CommandFailed, UsageError, say
from streams.cli.topic_access import OutgoingRecord, open_topics, send_each
from streams.kafka.topics import Topics
from streams.rates.verdict_counts import from_epoch_ms
from streams.reviews.policy_records import PARTITION, SETTINGS_VERSION, Change
from streams.reviews.policy_state import PolicyState, PolicyVersion
from streams.reviews.policy_writing import ChangeRefusal, change_refusal, policy_record
from streams.settings import Settings

_REFUSALS: Final = {
    ChangeRefusal.UNREADABLE: "cannot be read",
    ChangeRefusal.NOT_PROPOSED: "was not proposed",
    ChangeRefusal.PROMISES_NOTHING: "promises nothing",
}


async def read_policies(settings: Settings) -> PolicyState:
    """Read the topic to its end; raises as :func:`open_topics` does."""
    state, topic = PolicyState(), Topics(settings.kafka.topic_prefix).policies
    async with open_topics(settings.kafka, topic, isolation_level="read_uncommitted") as (reader, log):
        async for records in reader.read_between(log.beginning_offsets, log.end_offsets):
            state.apply(records)
    return state


async def write_change(
    settings: Settings,
    version: str,
    change: Change,
    by_and_reason: tuple[str, str],
    group: str | None = None,
    content: PolicyContent | None = None,
) -> None:
    """Write one record; raises UsageError if no worker could read it, and as :func:`send_each` does."""
    changed = PolicyChange(version, change, group, datetime.now(UTC), *by_and_reason, content)
    try:
        record = policy_record(changed, "policy")
    except ValueError as error:
        raise UsageError(str(error)) from error
    topic = Topics(settings.kafka.topic_prefix).policies
    await send_each(settings, [OutgoingRecord(topic, *record, PARTITION)])


def approve_version(settings: Settings, version: str, by_and_reason: tuple[str, str]) -> None:
    """Let a version decide; raises as :func:`write_change` does. It says so, and if nobody watches."""
    asyncio.run(write_change(settings, version, Change.APPROVED, by_and_reason))
    say(f"{version} decides from now on")
    if version != SETTINGS_VERSION and not settings.desk.audit_share:
        say("nobody watches what it sends: desk.audit_share is 0")


def check_change(state: PolicyState, version: str, change: Change, group: str | None = None) -> None:
    """Raise CommandFailed for a version that is not there or cannot be read, UsageError for a wrong group."""
    refusal = change_refusal(state, version, change, group)
    if refusal is ChangeRefusal.NO_SUCH_GROUP:
        groups = ", ".join(state.version(version).groups)
        raise UsageError(f"--group {group}: {version} is about {groups or 'no group'}")
    if refusal:
        raise CommandFailed(f"{version} {_REFUSALS[refusal]}: see `truthgate policy list`")


def history(version: PolicyVersion) -> Iterator[dict[str, Any]]:
    """Yield the records of a version as JSON values, in their order."""
    for entry in version.entries:
        if change := entry.change:
            yield {
                "change": change.change,
                "group": change.group,
                "at": rfc3339(change.at),
                "by": change.by,
                "reason": change.reason,
                "error": entry.error,
            }
        else:
            yield {"error": entry.error or "tombstone", "offset": entry.offset}


def certificate_json(certificate: Certificate) -> dict[str, Any]:
    """Return a certificate as a JSON value, by the names of its record."""
    promise = certificate.promise
    return {
        "decision": certificate.decision,
        "groups": certificate.groups,
        "threshold": certificate.threshold,
        "alpha": promise.alpha,
        "delta": promise.delta,
        "missed": promise.missed,
        "delta_spent": certificate.delta,
        "answers": certificate.answers,
        "coverage": certificate.coverage,
        "ratings": certificate.ratings,
        "mistakes": certificate.mistakes,
        "estimate": certificate.estimate,
        "bound": certificate.bound,
        "first": rfc3339(from_epoch_ms(certificate.first)),
        "last": rfc3339(from_epoch_ms(certificate.last)),
        "data": certificate.data,
        "model": certificate.model,
        "versions": certificate.versions,
        "max_documents_changed": certificate.max_documents_changed,
    }
