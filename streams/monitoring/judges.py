"""Alerts on the language models that are asked for a second opinion: away, slow, of no use, or too dear."""

from __future__ import annotations

from collections.abc import Iterator

from streams.monitoring.deployment import Deployment, duration
from streams.monitoring.rules import Alert, Group

#: Retries and a slow moment cost less; an endpoint that is away fails all.
_FAILED_SHARE = 0.1
#: A model that fits its method hardly ever misses the form, where the endpoint holds it to the form.
_MALFORMED_SHARE = 0.2
#: With fewer in a quarter of an hour nobody is told: of three requests at night one is a third.
_LEAST = 5
#: Of a budget that is spent evenly, what is left for the last two hours and a half of the day.
_NEARLY_SPENT = 0.1
_LEAST_REFUSED = 10

_REQUESTS = "gen_ai_client_operation_duration_seconds_count"
_MODEL = "gen_ai_request_model"
_LATE = "timeout|busy"


def judge_rules(deployment: Deployment) -> Group:
    """Give the alerts; none of them matters where no endpoint is named."""
    return Group("truthgate-judges", (*_endpoints(deployment), *_opinions(deployment), *_budget(deployment)))


def _endpoints(deployment: Deployment) -> Iterator[Alert]:
    limit = duration(deployment.settings.judges.time_limit_seconds)
    # Without a fault there is no such label, which reads as an empty one.
    yield Alert(
        name="TruthgateJudgeFailing",
        expression=_share(deployment, _REQUESTS, f'error_type!~"|{_LATE}"', _MODEL, _FAILED_SHARE),
        hold=deployment.minutes(5),
        summary="A language model does not reply: {{ $labels.gen_ai_request_model }}",
        description="{{ $value | humanizePercentage }} of the requests of the last 15 minutes failed. "
        "Answers in doubt go to review, degraded judge_unavailable; none is sent or blocked for it.",
    )
    yield Alert(
        name="TruthgateJudgeSlow",
        expression=_share(deployment, _REQUESTS, f'error_type=~"{_LATE}"', _MODEL, _FAILED_SHARE),
        hold=deployment.minutes(5),
        summary="A language model takes too long: {{ $labels.gen_ai_request_model }}",
        description="{{ $value | humanizePercentage }} of the requests of the last 15 minutes had no reply "
        f"in time: all for one answer may take {limit} (judges.time_limit_seconds). Answers in doubt wait so "
        "long, and then go to review, degraded judge_unavailable.",
    )


def _opinions(deployment: Deployment) -> Iterator[Alert]:
    unusable = 'says=~"malformed|cut_off|empty"'
    yield Alert(
        name="TruthgateOpinionsMalformed",
        expression=_share(deployment, "truthgate_opinions_total", unusable, "method", _MALFORMED_SHARE),
        hold=deployment.minutes(5),
        summary="Replies of language models cannot be used: method {{ $labels.method }}",
        description="{{ $value | humanizePercentage }} of the opinions of the last 15 minutes have no label, "
        "since the replies were not of the form asked for, empty, or cut off. They are paid, and their "
        "answers go to review.",
    )


def _budget(deployment: Deployment) -> Iterator[Alert]:
    budget = deployment.settings.judges.budget
    limits = {"requests": budget.requests_per_day, "tokens": budget.tokens_per_day}
    for of, limit in limits.items():
        if limit is None:
            continue
        left = deployment.series("truthgate_judge_budget_left", 'window="day"', f'of="{of}"')
        yield Alert(
            name="TruthgateJudgeBudgetNearlySpent",
            expression=f"{deployment.by('sum', left)} < {_NEARLY_SPENT * limit:.10g}",
            hold=deployment.minutes(5),
            severity="info",
            summary=f"The day's budget for language models is nearly spent: {of}",
            description=f"{{{{ $value | humanize }}}} of {limit} {of} are left until midnight UTC. Then "
            "answers in doubt go to review, degraded judge_budget_spent.",
            labels={"of": of},
        )
    refused = deployment.increase("truthgate_judge_budget_refusals_total", by="priority")
    yield Alert(
        name="TruthgateJudgeBudgetSpent",
        expression=f"{refused} >= {_LEAST_REFUSED}",
        hold=deployment.minutes(10),
        summary="Answers in doubt are not asked about: priority {{ $labels.priority }}",
        description="For {{ $value | humanize }} opinions of the last 15 minutes too little of judges.budget "
        "was left. Their answers go to review, degraded judge_budget_spent.",
    )


def _share(deployment: Deployment, counter: str, matcher: str, label: str, most: float) -> str:
    """Write that more than a share of what is counted is of a kind, by a label."""
    of_kind = deployment.increase(counter, matcher, by=label)
    every = deployment.increase(counter, by=label)
    return f"{of_kind} / {every} > {most} and {of_kind} >= {_LEAST}"
