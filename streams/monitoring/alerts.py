"""The alerts on hallucination rates, judges, Kafka and the exporters beside a worker.

All that needs Kafka stands still or fails then, and would be told as a fault of its own.
"""

from collections.abc import Iterator

from streams.monitoring.prometheus_rules import (
    DEPLOYMENT,
    AlertingRule,
    Deployment,
    RecordingRule,
    RuleGroup,
    promql_duration,
)

#: How long the last value counts while no worker leads: between two leaders nothing is exported.
_LEADER_CHANGE_SECONDS = 300.0
_FOR_SECONDS = 60.0

_LABELS = ("alert", "message_type", "language", "window", "severity")
_GAUGES = (
    "truthgate_alert_rate_lower_bound",
    "truthgate_alert_threshold",
    "truthgate_alert_scored_answers",
    "truthgate_alert_minimum_answers",
)


def hallucination_rules(deployment: Deployment) -> RuleGroup:
    """Give the rules on the lower bounds of the rates, which three answers cannot lift over a threshold.

    The leader's gauges are recorded without the worker's name and read with their last value: another
    worker that takes over, or a scrape that fails, changes no series.
    """
    recorded = {f"job:{gauge}:max": deployment.series(gauge) for gauge in _GAUGES}
    recordings = (
        RecordingRule(name, deployment.aggregate("max", gauge, *_LABELS)) for name, gauge in recorded.items()
    )
    bound, threshold, scored, least = (
        deployment.over_time("last_over_time", name, _LEADER_CHANGE_SECONDS) for name in recorded
    )
    high = AlertingRule(
        name="TruthgateHallucinationRateHigh",
        expression=f"{bound} > {threshold} and {scored} >= {least}",
        for_seconds=_FOR_SECONDS * deployment.time_scale,
        severity=None,
        summary="Too many untrue answers: {{ $labels.alert }}",
        description=(
            "At least {{ $value | humanizePercentage }} of the scored answers "
            "(message type {{ $labels.message_type }}, language {{ $labels.language }}, "
            "last {{ $labels.window }}) are untrue, with 95% confidence, which is above the threshold "
            "{{ $labels.alert }}. They are blocked; what the chatbot says has become worse."
        ),
    )
    return RuleGroup("truthgate-hallucinations", (*recordings, high))


#: Retries and a slow moment cost less; an endpoint that is away fails all.
_FAILED_SHARE = 0.1
#: A model that fits its method hardly ever misses the form, where the endpoint holds it to the form.
_MALFORMED_SHARE = 0.2
#: With fewer in a quarter of an hour nobody is told: of three requests at night one is a third.
_MIN_FAILED_REQUESTS = 5
#: Of a budget that is spent evenly, what is left for the last two hours and a half of the day.
_NEARLY_SPENT = 0.1
_MIN_REFUSED = 10

_REQUESTS = "gen_ai_client_operation_duration_seconds_count"
_MODEL = "gen_ai_request_model"
_LATE = "timeout|busy"


def judge_rules(deployment: Deployment) -> RuleGroup:
    """Give the alerts; none of them matters where no endpoint is named."""
    return RuleGroup(
        "truthgate-judges", (*_endpoints(deployment), *_opinions(deployment), *_budget(deployment))
    )


def _endpoints(deployment: Deployment) -> Iterator[AlertingRule]:
    limit = promql_duration(deployment.settings.judges.timeout_seconds)
    # Without a fault there is no such label, which reads as an empty one.
    yield AlertingRule(
        name="TruthgateJudgeFailing",
        expression=_share(deployment, _REQUESTS, f'error_type!~"|{_LATE}"', _MODEL, _FAILED_SHARE),
        for_seconds=deployment.scaled_minutes(5),
        summary="A language model does not reply: {{ $labels.gen_ai_request_model }}",
        description="{{ $value | humanizePercentage }} of the requests of the last 15 minutes failed. "
        "Answers in doubt go to review, degraded judge_unavailable; none is sent or blocked for it.",
    )
    yield AlertingRule(
        name="TruthgateJudgeSlow",
        expression=_share(deployment, _REQUESTS, f'error_type=~"{_LATE}"', _MODEL, _FAILED_SHARE),
        for_seconds=deployment.scaled_minutes(5),
        summary="A language model takes too long: {{ $labels.gen_ai_request_model }}",
        description="{{ $value | humanizePercentage }} of the requests of the last 15 minutes had no reply "
        f"in time: all for one answer may take {limit} (judges.timeout_seconds). Answers in doubt wait so "
        "long, and then go to review, degraded judge_unavailable.",
    )


def _opinions(deployment: Deployment) -> Iterator[AlertingRule]:
    unusable = 'says=~"malformed|cut_off|empty"'
    yield AlertingRule(
        name="TruthgateOpinionsMalformed",
        expression=_share(deployment, "truthgate_opinions_total", unusable, "method", _MALFORMED_SHARE),
        for_seconds=deployment.scaled_minutes(5),
        summary="Replies of language models cannot be used: method {{ $labels.method }}",
        description="{{ $value | humanizePercentage }} of the opinions of the last 15 minutes have no label, "
        "since the replies were not of the form asked for, empty, or cut off. They are paid, and their "
        "answers go to review.",
    )


def _budget(deployment: Deployment) -> Iterator[AlertingRule]:
    budget = deployment.settings.judges.budget
    limits = {"requests": budget.requests_per_day, "tokens": budget.tokens_per_day}
    for of, limit in limits.items():
        if limit is None:
            continue
        left = deployment.series("truthgate_judge_budget_left", 'window="day"', f'of="{of}"')
        yield AlertingRule(
            name="TruthgateJudgeBudgetNearlySpent",
            expression=f"{deployment.aggregate('sum', left)} < {_NEARLY_SPENT * limit:.10g}",
            for_seconds=deployment.scaled_minutes(5),
            severity="info",
            summary=f"The day's budget for language models is nearly spent: {of}",
            description=f"{{{{ $value | humanize }}}} of {limit} {of} are left until midnight UTC. Then "
            "answers in doubt go to review, degraded judge_budget_spent.",
            labels={"of": of},
        )
    refused = deployment.increase("truthgate_judge_budget_refusals_total", by="priority")
    yield AlertingRule(
        name="TruthgateJudgeBudgetSpent",
        expression=f"{refused} >= {_MIN_REFUSED}",
        for_seconds=deployment.scaled_minutes(10),
        summary="Answers in doubt are not asked about: priority {{ $labels.priority }}",
        description="For {{ $value | humanize }} opinions of the last 15 minutes too little of judges.budget "
        "was left. Their answers go to review, degraded judge_budget_spent.",
    )


def _share(deployment: Deployment, counter: str, matcher: str, label: str, most: float) -> str:
    """Write that more than a share of what is counted is of a kind, by a label."""
    of_kind = deployment.increase(counter, matcher, by=label)
    every = deployment.increase(counter, by=label)
    return f"{of_kind} / {every} > {most} and {of_kind} >= {_MIN_FAILED_REQUESTS}"


_UP = "truthgate_kafka_up"
#: A worker that ends for it cannot start again, and shows nothing: how long its last word counts.
_LAST_WORD_SECONDS = 900.0


def kafka_silent_alert(deployment: Deployment) -> AlertingRule:
    """Give the alert; it comes before all others that Kafka's silence sets off."""
    health = deployment.settings.health
    up = deployment.series(_UP)
    last = deployment.over_time("last_over_time", _UP, _LAST_WORD_SECONDS)
    silent, were_silent = (f"{deployment.aggregate('sum', f'1 - {each}')} > 0" for each in (up, last))
    return AlertingRule(
        name="TruthgateKafkaSilent",
        expression=f"{silent} or ({were_silent} unless on ({', '.join(DEPLOYMENT)}) {up})",
        for_seconds=deployment.scaled_minutes(0.5),
        severity="critical",
        summary="Kafka does not answer the workers",
        description="Workers that have had no answer from Kafka for "
        f"{promql_duration(health.kafka_timeout_seconds)} (health.kafka_timeout_seconds): {{{{ $value }}}}. "
        "They judge nothing; answers wait in Kafka, and none is lost. After "
        f"{promql_duration(health.stall_timeout_seconds)} (health.stall_timeout_seconds) a worker ends "
        "itself, exit code 3, and its successor tries anew.",
    )


def unless_kafka_is_silent(deployment: Deployment, expression: str, *labels: str) -> str:
    """Write what is told only where Kafka answers one worker at least, of all that share these labels."""
    highest = deployment.aggregate("max", deployment.series(_UP), *labels)
    return f"{expression} unless on ({', '.join((*DEPLOYMENT, *labels))}) ({highest} == 0)"


def while_kafka_answers(deployment: Deployment, series: str, window: float) -> str:
    """Write what workers show that Kafka answered all through a window of so many seconds."""
    lowest = deployment.over_time("min_over_time", _UP, window)
    return f"{series} unless on ({', '.join((*DEPLOYMENT, 'instance'))}) ({lowest} == 0)"


#: From so many in a quarter of an hour on it is no hiccup; what fails is tried again by itself.
_FAILURES = 3
_QUARTER_SECONDS = 900.0
#: Clocks of hosts differ by less, in seconds.
_AHEAD = 60


def dependency_rules(deployment: Deployment) -> RuleGroup:
    """Give the alerts; those about rates only where rates are counted."""
    rates = _rates(deployment) if deployment.settings.rates.enabled else ()
    return RuleGroup("truthgate-neighbours", (*_documents(deployment), *rates))


def _documents(deployment: Deployment) -> Iterator[AlertingRule]:
    increase = deployment.increase
    stale = increase("truthgate_degraded_total", 'code="documents_stale"')
    yield AlertingRule(
        name="TruthgateDocumentsStale",
        expression=f"{stale} > 0",
        for_seconds=deployment.scaled_minutes(5),
        summary="Help documents may be out of date",
        description="A worker could not confirm its copy of the documents for "
        f"{promql_duration(deployment.settings.documents.stale_after_seconds)} "
        "(documents.stale_after_seconds): "
        "its answers go to review.",
    )
    yield AlertingRule(
        name="TruthgateBadDocuments",
        expression=f"{increase('truthgate_bad_documents_total')} > 0",
        severity="info",
        summary="Help documents are published that cannot be read",
        description="{{ $value | humanize }} in 15 minutes, counted by every worker. Each takes the older "
        "version of its document away, so answers that rest on it go to review.",
    )
    yield AlertingRule(
        name="TruthgateRetrievalIndexFailing",
        expression=f"{increase('truthgate_retrieval_index_failures_total')} >= {_FAILURES}",
        summary="The index of the documents cannot be brought up to date",
        description="{{ $value | humanize }} failures in 15 minutes. Answers that bring no context are "
        "judged by an index that is behind, and go to review.",
    )
    yield AlertingRule(
        name="TruthgateCompanyTermsFailing",
        expression=f"{increase('truthgate_company_terms_failures_total')} >= {_FAILURES}",
        severity="info",
        summary="The company's own words cannot be brought up to date",
        description="{{ $value | humanize }} failures in 15 minutes. Answers are judged by the words that "
        "were known before.",
    )
    # It is half open now and then, to try one call: that is no recovery.
    opened = deployment.over_time("max_over_time", "truthgate_translation_breaker", 120, 'state="open"')
    yield AlertingRule(
        name="TruthgateTranslationBreakerOpen",
        expression=f"{deployment.aggregate('max', opened)} == 1",
        for_seconds=deployment.scaled_minutes(5),
        summary="The translator does not answer",
        description="Answers are judged untranslated, degraded translation_unavailable, and go to review.",
    )


def _rates(deployment: Deployment) -> Iterator[AlertingRule]:
    increase = deployment.increase
    leaders = deployment.aggregate("sum", deployment.series("truthgate_rates_leader"))
    yield AlertingRule(
        name="TruthgateRatesWithoutLeader",
        expression=unless_kafka_is_silent(deployment, f"{leaders} == 0"),
        for_seconds=deployment.scaled_minutes(5),
        summary="No worker counts the rates",
        description="Hallucination rates and their alerts stand still; answers are judged all the same.",
    )
    waiting = deployment.aggregate("max", deployment.series("truthgate_rates_lag"))
    yield AlertingRule(
        name="TruthgateRatesStandStill",
        expression=f"{waiting} > 0 and {increase('truthgate_rates_verdicts_total', minutes=5)} == 0",
        for_seconds=deployment.scaled_minutes(5),
        summary="Verdicts wait to be counted",
        description="{{ $value | humanize }} wait, and none was counted for 5 minutes: hallucination rates "
        "and their alerts stand still. Answers are judged all the same.",
    )
    failures = deployment.over_time("increase", "truthgate_rates_failures_total", _QUARTER_SECONDS)
    failures = deployment.aggregate("sum", while_kafka_answers(deployment, failures, _QUARTER_SECONDS))
    yield AlertingRule(
        name="TruthgateRatesFailing",
        expression=f"{failures} >= {_FAILURES}",
        summary="Counting the rates fails again and again",
        description="{{ $value | humanize }} failures in 15 minutes. Rates come late, and are exact again "
        "once it works. Answers are judged all the same.",
    )
    age = deployment.aggregate("min", deployment.series("truthgate_rates_watermark_age_seconds"))
    yield AlertingRule(
        name="TruthgateRatesAhead",
        expression=f"{age} < -{_AHEAD}",
        for_seconds=deployment.scaled_minutes(5),
        summary="The rates are ahead of the clock",
        description="The age of their watermark is {{ $value | humanizeDuration }}: a clock is or was wrong. "
        "Windows close before their time, and their verdicts come as late corrections, which "
        "alerts.thresholds do not see. Answers are judged all the same.",
    )
