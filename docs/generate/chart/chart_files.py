"""The files that the templates read: truthgate's own defaults, topics, rules and dashboard."""

import json
from collections.abc import Mapping
from functools import reduce
from operator import getitem
from typing import Any, Final

from streams.kafka.topics.topic_specification import topic_specifications
from streams.monitoring.prometheus_rules import Deployment
from streams.monitoring.rendering import all_rules, render_dashboard
from streams.settings import JudgeSettings, Settings

#: Placeholders in the rules and the dashboard, replaced by each Helm release.
JOB: Final = "@job@"
RUNBOOK: Final = "@runbook@"

#: Settings whose defaults the templates use if the values do not set them.
_ASKED: Final[Mapping[str, tuple[str, ...]]] = {
    "desk": ("port",),
    "encoding": ("max_value_bytes",),
    "flow": ("answer_timeout_seconds",),
    "health": ("kafka_timeout_seconds", "stall_timeout_seconds"),
    "kafka": ("delivery_timeout_seconds",),
    "objectives": ("in_time", "judged", "verdict_within_seconds"),
    "rates": ("enabled", "retention_seconds", "windows"),
    "retrieval": ("embedder", "embedding_processes"),
    "topics": ("partitions", "replication_factor", "retention_days", "verdict_retention_days"),
    "web": ("port",),
}

#: Settings that the rules depend on; with other values than the defaults the rules in the file do not apply.
IN_RULES: Final = (
    ("documents", "stale_after_seconds"),
    ("flow", "max_in_flight"),
    ("health", "kafka_timeout_seconds"),
    ("health", "stall_timeout_seconds"),
    ("judges", "budget", "requests_per_day"),
    ("judges", "budget", "tokens_per_day"),
    ("judges", "timeout_seconds"),
    ("objectives", "in_time"),
    ("objectives", "judged"),
    ("objectives", "verdict_within_seconds"),
)

_JUDGES: Final = JudgeSettings.model_validate(
    {"endpoints": {"any": {"base_url": "http://any", "model": "any"}}}
)


def defaults() -> str:
    """Return the defaults of the settings that templates use."""
    values = Settings().model_dump(mode="json")
    return _json(
        {section: {name: values[section][name] for name in names} for section, names in _ASKED.items()}
    )


def topics() -> str:
    """Return the default configuration of each topic, and the settings that it depends on."""
    usual = {spec.name: spec for spec in topic_specifications(Settings())}
    without_rates = {
        spec.name for spec in topic_specifications(Settings().with_values("rates", {"enabled": False}))
    }
    larger = Settings().with_values("encoding", {"max_value_bytes": Settings().encoding.max_value_bytes + 1})
    grown = {spec.name: int(spec.config["max.message.bytes"]) for spec in topic_specifications(larger)}
    return _json(
        [
            {
                "name": name,
                "partitions": spec.partitions if spec.keeps_partitions else None,
                "ofRates": name not in without_rates,
                "bytesPerValueByte": grown[name] - int(spec.config["max.message.bytes"]),
                "config": dict(spec.config),
            }
            for name, spec in usual.items()
        ]
    )


def rules() -> str:
    """Return all groups of rules for the default settings, and the settings that they depend on.

    Each rule has with it what it needs: judges, rates, or nothing.
    """
    every = _groups(Settings(judges=_JUDGES))
    parts = {
        "judges": _groups(Settings()),
        "rates": _groups(Settings(judges=_JUDGES).with_values("rates", {"enabled": False})),
    }

    def needs(group: str, rule: Mapping[str, Any]) -> str:
        return next((part for part, left in parts.items() if rule not in left.get(group, ())), "")

    groups = [
        {"name": name, "rules": [{"needs": needs(name, rule), "rule": rule} for rule in members]}
        for name, members in every.items()
    ]
    values = Settings().model_dump(mode="json")
    settings = [{"path": path, "default": reduce(getitem, path, values)} for path in IN_RULES]
    return _json({"settings": settings, "groups": groups})


def dashboard() -> str:
    """Return the dashboard for the default settings."""
    return render_dashboard(Deployment(Settings(), JOB))


def _groups(settings: Settings) -> dict[str, list[Mapping[str, Any]]]:
    written = [group.to_prometheus(RUNBOOK) for group in all_rules(Deployment(settings, JOB))]
    return {group["name"]: group["rules"] for group in written}


def _json(content: Any) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
