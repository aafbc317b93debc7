"""The file of all rules, as ``rule_files`` of Prometheus takes it."""

from streams.monitoring.alerts import dependency_rules, hallucination_rules, judge_rules
from streams.monitoring.objectives import objective_rules
from streams.monitoring.prometheus_rules import Deployment, RuleGroup, recording_rules
from streams.monitoring.worker_alerts import operation_rules

#: Where the runbook stands in the repository; a deployment names its own copy.
RUNBOOK = "streams/monitoring/RUNBOOK.md"

_HEADER = (
    "# Written by `truthgate monitoring rules` from the settings; write it anew instead of changing it.\n"
)


def all_rules(deployment: Deployment) -> tuple[RuleGroup, ...]:
    """Give every group of rules."""
    settings = deployment.settings
    rates = (hallucination_rules(deployment),) if settings.rates.enabled else ()
    judges = (judge_rules(deployment),) if settings.judges.endpoints else ()
    objectives = (
        recording_rules(deployment, settings.objectives.verdict_within_seconds),
        *objective_rules(deployment, settings.objectives),
    )
    return (*rates, *objectives, operation_rules(deployment), dependency_rules(deployment), *judges)


def render_rule_file(groups: tuple[RuleGroup, ...], runbook: str = RUNBOOK) -> str:
    """Write a rule file; ``runbook`` is the address that the alerts name. Needs the extra ``monitoring``."""
    import yaml  # noqa: PLC0415 - of the extra

    content = {"groups": [group.to_prometheus(runbook) for group in groups]}
    return _HEADER + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)
