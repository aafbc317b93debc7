"""Which verdicts were seen, and which of several with one id counts."""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

_KEY_BYTES = 16  # collisions are as unlikely as those of UUIDs


class Label(NamedTuple):
    """What a verdict is counted as; ``language`` is empty and ``faithfulness`` -1 where it is not known."""

    decision: str
    scored: bool
    message_type: str
    language: str
    faithfulness: int = -1


class Version(NamedTuple):
    """One of the records that carry one verdict's id; the least counts: the one that was scored first.

    All its fields take part in the order, so which one is least never depends on what was read first.
    """

    scored_at: int
    event_time: int
    label: Label


class Memory:
    """The versions of each verdict, kept until their horizon is passed.

    Versions that share their horizon, as repeats do, are told apart and forgotten together. What counts is
    a function of the set of versions that are not forgotten, whatever the order they came in. Ids are
    kept as 16 bytes of a hash.
    """

    def __init__(self) -> None:
        self._kept: dict[int, dict[bytes, Version]] = {}
        self._several: set[bytes] = set()
        self._labels: dict[Label, Label] = {}

    def __len__(self) -> int:
        return sum(map(len, self._kept.values()))

    def add(self, verdict_id: str, version: Version, horizon: int) -> tuple[Version | None, Version]:
        """Keep a version until ``horizon``; give the one that counted before, and the one that does now."""
        key = _compact(verdict_id)
        before = self._least(key)
        versions = self._kept.setdefault(horizon, {})
        same_horizon = versions.get(key)
        if same_horizon is None or version < same_horizon:
            label = self._labels.setdefault(version.label, version.label)
            versions[key] = Version(version.scored_at, version.event_time, label)
        if before is not None and same_horizon is None:
            self._several.add(key)
        return before, version if before is None else min(before, version)

    def forget(self, boundary: int) -> list[Version]:
        """Forget all with a horizon at or before ``boundary``; give the versions that now count instead."""
        passed = [horizon for horizon in self._kept if horizon <= boundary]
        if not passed:
            return []
        gone = {key for horizon in passed for key in self._kept[horizon].keys() & self._several}
        before = {key: self._least(key) for key in gone}
        for horizon in passed:
            del self._kept[horizon]
        self._several -= {key for key in gone if self._copies(key) <= 1}
        after = {key: self._least(key) for key in gone}
        return [version for key, version in after.items() if version is not None and version != before[key]]

    def _copies(self, key: bytes) -> int:
        return sum(key in versions for versions in self._kept.values())

    def _least(self, key: bytes) -> Version | None:
        found = [versions[key] for versions in self._kept.values() if key in versions]
        return min(found, default=None)


def _compact(verdict_id: str) -> bytes:
    return blake2b(verdict_id.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()
