"""What whoever changes a policy shares, a command and the desk: which change is refused, and its record."""

from enum import StrEnum
from typing import NamedTuple

from schemas import DecodeError, EncodeError, PolicyChange
from schemas.records import rfc3339
from streams.kafka.kafka_records import Headers, event_headers
from streams.reviews.policy_records import CODEC, SETTINGS_VERSION, Change, policy_key
from streams.reviews.policy_state import PolicyState


class ChangeRefusal(StrEnum):
    """Why a version cannot be approved or withdrawn."""

    NOT_PROPOSED = "not_proposed"
    UNREADABLE = "unreadable"
    #: It is an attempt that found nothing, which was written since every attempt counts.
    PROMISES_NOTHING = "promises_nothing"
    NO_SUCH_GROUP = "no_such_group"


class PolicyRecord(NamedTuple):
    """A change as it is published, to the one partition of the topic."""

    key: bytes
    value: bytes
    headers: Headers


def change_refusal(
    state: PolicyState, version: str, change: Change, group: str | None = None
) -> ChangeRefusal | None:
    """Return why a version cannot be approved, or withdrawn for a group or for all, or None.

    An approval of what no worker can read would stop all sending; a withdrawal always may be written.
    """
    found = state.version(version)
    if change is Change.WITHDRAWN:
        if not found.entries:
            return ChangeRefusal.NOT_PROPOSED
        return None if group is None or group in found.groups else ChangeRefusal.NO_SUCH_GROUP
    if version == SETTINGS_VERSION:
        return None
    if found.fitted:
        return None if found.fitted.certificates else ChangeRefusal.PROMISES_NOTHING
    return ChangeRefusal.UNREADABLE if found.proposal else ChangeRefusal.NOT_PROPOSED


def policy_record(change: PolicyChange, source: str, occasion: str | None = None) -> PolicyRecord:
    """Return the record of a change; raises ValueError if no worker could read it.

    ``source`` is the component that publishes it, ``occasion`` tells its event from others of the same key:
    its time, unless several publish the same one.
    """
    try:
        value = CODEC.encode(change)
        CODEC.decode(value, PolicyChange)
    except (EncodeError, DecodeError) as error:
        raise ValueError(f"the policy cannot be written: {error}") from error
    key = policy_key(change.version, change.change, change.group)
    headers = event_headers(f"{key.decode()}@{occasion or rfc3339(change.at)}", "PolicyChange", source)
    return PolicyRecord(key, value, headers)
