"""Which verdicts were seen, and which of several with one id counts."""

from __future__ import annotations

from hashlib import blake2b
from struct import Struct
from typing import NamedTuple

_KEY_BYTES = 16  # collisions are as unlikely as those of UUIDs
# Two times and the number of a label: as a whole number it takes 48 bytes, as objects it took 144.
_PACKED = Struct(">qqI")


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
    a function of the set of versions that are not forgotten, whatever the order they came in.

    A deployment's verdicts of some hours are kept, so each is two whole numbers: 16 bytes of its id's hash,
    and its packed version. That is 130 to 155 bytes with their place in a table, and nothing that a
    collection of garbage has to look through while answers wait.
    """

    def __init__(self) -> None:
        self._kept: dict[int, dict[int, int]] = {}
        self._several: set[int] = set()
        self._labels: list[Label] = []
        self._numbers: dict[Label, int] = {}

    def __len__(self) -> int:
        return sum(map(len, self._kept.values()))

    def add(self, verdict_id: str, version: Version, horizon: int) -> tuple[Version | None, Version]:
        """Keep a version until ``horizon``; give the one that counted before, and the one that does now."""
        key = _compact(verdict_id)
        before = self._least(key)
        versions = self._kept.setdefault(horizon, {})
        same_horizon = versions.get(key)
        if same_horizon is None or version < self._unpacked(same_horizon):
            versions[key] = self._packed(version)
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

    def _copies(self, key: int) -> int:
        return sum(key in versions for versions in self._kept.values())

    def _least(self, key: int) -> Version | None:
        found = [self._unpacked(versions[key]) for versions in self._kept.values() if key in versions]
        return min(found, default=None)

    def _packed(self, version: Version) -> int:
        number = self._numbers.setdefault(version.label, len(self._labels))
        if number == len(self._labels):
            self._labels.append(version.label)
        return int.from_bytes(_PACKED.pack(version.scored_at, version.event_time, number))

    def _unpacked(self, packed: int) -> Version:
        scored_at, event_time, number = _PACKED.unpack(packed.to_bytes(_PACKED.size))
        return Version(scored_at, event_time, self._labels[number])


def _compact(verdict_id: str) -> int:
    digest = blake2b(verdict_id.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()
    return int.from_bytes(digest)
