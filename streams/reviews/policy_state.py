"""Which policy decides: a function of the records of the topic `policies` in the order of their offsets.

Only the last record of each key counts, so that compaction changes nothing.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from aiokafka import ConsumerRecord

from schemas import PolicyChange
from scoring.policy.certificates import FittedThresholds
from streams.kafka.topic_reader import Freshness
from streams.reviews.policy_records import (
    PARTITION,
    SETTINGS_VERSION,
    Change,
    UnreadableChange,
    key_version,
    policy_key,
    read_change,
    to_fitted,
)

#: A worker uses what it has read for this long without word from the brokers: the longest that it can miss a
#: withdrawal.
STALE_SECONDS: Final = 10.0
_NEVER: Final = -1


class PolicyStatus(StrEnum):
    """What became of a version."""

    PROPOSED = "proposed"
    ACTIVE = "active"
    #: Another version was approved later.
    REPLACED = "replaced"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class PolicyEntry:
    """The last record of a key; ``error`` is the code of why it, or its content, cannot be read.

    ``written_at`` is when Kafka took it (ms since 1970): the clock of whoever wrote it may be wrong.
    ``change`` is None if the record cannot be read, and for a tombstone. ``fitted`` is the content.
    """

    key: bytes
    offset: int
    written_at: int
    change: PolicyChange | None = None
    fitted: FittedThresholds | None = None
    error: str | None = None

    @property
    def version(self) -> str:
        """The version that it is about."""
        return key_version(self.key)

    @property
    def is_proposal(self) -> bool:
        """Whether it has the content of its version, or had."""
        return self.key == policy_key(self.version, Change.PROPOSED)

    @property
    def is_approval(self) -> bool:
        """Whether it approves its version, or did so if it can no longer be read."""
        return self.key == policy_key(self.version, Change.APPROVED)

    @property
    def withdrawn_group(self) -> str | None:
        """The group that it withdraws, None for none or all."""
        change = self.change
        return change.group if change is not None and change.change == Change.WITHDRAWN else None

    @property
    def withdraws_all(self) -> bool:
        """Whether it withdraws its version: says so, says what is unknown here, or cannot be read."""
        if self.is_proposal:
            return False
        return self.change is None or not (self.is_approval or self.withdrawn_group is not None)


@dataclass(frozen=True, slots=True)
class PolicyVersion:
    """What the topic says of one version; ``entries`` in the order of their offsets."""

    version: str
    entries: tuple[PolicyEntry, ...] = ()

    @property
    def proposal(self) -> PolicyEntry | None:
        """The record with its content; None if there is none."""
        return next((each for each in self.entries if each.is_proposal), None)

    @property
    def fitted(self) -> FittedThresholds | None:
        """What it decides by; None for the settings, and where the proposal is missing or unreadable."""
        return self.proposal.fitted if self.proposal else None

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that its certificates are about, and that can be withdrawn."""
        certificates = self.fitted.certificates if self.fitted else ()
        return tuple(sorted({group for each in certificates for group in each.groups}))

    @property
    def approved_at(self) -> int:
        """The offset of the last approval, -1 without any."""
        return max((each.offset for each in self.entries if each.is_approval), default=_NEVER)

    @property
    def withdrawn_at(self) -> int:
        """The offset of the last withdrawal of all of it, -1 without any."""
        return max((each.offset for each in self.entries if each.withdraws_all), default=_NEVER)

    @property
    def is_withdrawn(self) -> bool:
        """Whether it was withdrawn, and not approved since."""
        return self.withdrawn_at >= self.approved_at and self.withdrawn_at != _NEVER

    @property
    def withdrawn_groups(self) -> frozenset[str]:
        """The groups that were withdrawn after the last approval."""
        later = (each.withdrawn_group for each in self.entries if each.offset > self.approved_at)
        return frozenset(group for group in later if group is not None)


class PolicyState:
    """The last record of each key, and the version that decides.

    Args:
        clock: seconds since 1970.

    Attributes:
        freshness: when the topic was last read to its end.
        current: the version that was approved last, or ``settings`` as long as none was.
        next_offset: that of the next record: it tells whether anything has changed.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self.freshness = Freshness(STALE_SECONDS, clock)
        self.forget()

    def forget(self) -> None:
        """Forget everything: the topic is read anew."""
        self.freshness.forget()
        self.current = PolicyVersion(SETTINGS_VERSION)
        self._entries: dict[bytes, PolicyEntry] = {}
        self.next_offset = 0
        self._is_ordered = True

    def apply(self, records: Iterable[ConsumerRecord]) -> tuple[PolicyEntry, ...]:
        """Apply records in their order, and return the entry of each; those that were applied change nothing.

        A tombstone takes its record away, as if it had never been: nobody should write one.
        """
        taken = []
        for record in records:
            self._is_ordered = self._is_ordered and record.partition == PARTITION
            if record.offset < self.next_offset:
                continue
            self.next_offset = record.offset + 1
            entry = _read_entry(record)
            self._entries.pop(entry.key, None)  # so that it moves to the end
            if record.value is not None:
                self._entries[entry.key] = entry
            taken.append(entry)
        if taken:
            approved = max(self.versions, key=lambda each: each.approved_at, default=None)
            is_approved = approved is not None and approved.approved_at != _NEVER
            self.current = approved if approved and is_approved else self.version(SETTINGS_VERSION)
        return tuple(taken)

    @property
    def versions(self) -> tuple[PolicyVersion, ...]:
        """Every version that the topic has a record of, in the order of their first ones."""
        entries = defaultdict[str, list[PolicyEntry]](list)
        for entry in self._entries.values():
            entries[entry.version].append(entry)
        return tuple(PolicyVersion(name, tuple(found)) for name, found in entries.items())

    def version(self, name: str) -> PolicyVersion:
        """Return a version by its name; one without records is empty."""
        return next((each for each in self.versions if each.version == name), PolicyVersion(name))

    def status(self, version: PolicyVersion) -> PolicyStatus:
        """Return what became of a version."""
        if version.is_withdrawn:
            return PolicyStatus.WITHDRAWN
        if version.version == self.current.version:
            return PolicyStatus.ACTIVE
        return PolicyStatus.PROPOSED if version.approved_at == _NEVER else PolicyStatus.REPLACED

    @property
    def is_known(self) -> bool:
        """Whether the topic was read to its end recently, and the current version has all that it needs."""
        has_content = self.current.version == SETTINGS_VERSION or self.current.fitted is not None
        return self._is_ordered and self.freshness.is_current and has_content


def _read_entry(record: ConsumerRecord) -> PolicyEntry:
    place = record.key or b"", record.offset, record.timestamp
    if record.value is None:
        return PolicyEntry(*place)
    try:
        change = read_change(record)
    except UnreadableChange as unreadable:
        return PolicyEntry(*place, error=unreadable.error_type)
    if change.change != Change.PROPOSED:
        return PolicyEntry(*place, change)
    try:
        return PolicyEntry(*place, change, to_fitted(change.content) if change.content else None)
    except ValueError:
        return PolicyEntry(*place, change, error="unusable_content")
