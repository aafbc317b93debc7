"""A topic and what it needs, as a person reads it and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from streams.kafka.topics import ActualTopic, Need, TopicCheck, TopicSpec, need_of

_CLUSTER_DEFAULT = -1
_MS_OF: Final = (("days", 86_400_000), ("hours", 3_600_000), ("minutes", 60_000), ("seconds", 1_000))
_BYTES_OF: Final = (("MiB", 1024 * 1024), ("KiB", 1024))
_PARTITIONS, _REPLICATION = "partitions", "replication factor"


def needs(spec: TopicSpec, actual: ActualTopic | None = None) -> Iterator[str]:
    """Give all that is asked of a topic, a line each, with what ``actual`` has where it differs."""
    wanted = {_PARTITIONS: str(spec.partitions), _REPLICATION: str(spec.replication), **spec.config}
    there = {}
    if actual:
        counted = {_PARTITIONS: str(actual.partitions), _REPLICATION: str(actual.replication)}
        there = {**actual.config, **counted}
    for key, value in wanted.items():
        need = need_of(key) if key in spec.config else Need.AT_LEAST
        found, is_default = there.get(key, value), value == str(_CLUSTER_DEFAULT)
        has = "" if found == value or is_default else f"   (has {_told(key, found)})"
        yield f"  {key:<32}{'' if is_default else need:<10}{_told(key, value)}{has}"


def as_json(check: TopicCheck) -> dict[str, Any]:
    """Give a topic as it should be, what it has, and in what it falls short."""
    actual = check.actual
    has = actual and {
        "partitions": actual.partitions,
        "replication_factor": actual.replication,
        "config": {key: actual.config[key] for key in check.spec.config if key in actual.config},
    }
    told = {"problems": list(check.problems), "warnings": list(check.warnings), "has": has}
    return {**spec_as_json(check.spec), **told}


def spec_as_json(spec: TopicSpec) -> dict[str, Any]:
    """Give a topic as it should be; a replication factor of null is the cluster's default."""
    return {
        "topic": spec.name,
        "partitions": spec.partitions,
        "replication_factor": None if spec.replication == _CLUSTER_DEFAULT else spec.replication,
        "config": dict(spec.config),
        "must_be": {key: need_of(key) for key in spec.config},
    }


def _told(key: str, value: str) -> str:
    """Give a value with its unit in words, where a bare number says little."""
    if key == _REPLICATION and value == str(_CLUSTER_DEFAULT):
        return "the cluster's default"
    units = _MS_OF if key.endswith(".ms") else _BYTES_OF if key.endswith("bytes") else ()
    for name, size in units:
        if int(value) >= 2 * size and int(value) % size == 0:
            return f"{value} ({int(value) // size} {name})"
    return value
