"""Alerts on hallucination rates, judges, Kafka and the other services that a worker needs.

While Kafka is silent, everything that needs it stalls or fails; alerts on these are suppressed.
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

#: How long the last value counts while no worker leads: nothing is exported between two leaders.
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
    """Return the rules on the lower bounds of the rates; three answers cannot lift one above a threshold.

    The leader's gauges are recorded without the worker's name and read with their last value: a new leader
    or a failed scrape changes no series.
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
            "{{ $labels.alert }}. They are blocked; the chatbot's answers have become worse."
        ),
    )
    return RuleGroup("truthgate-hallucinations", (*recordings, high))


#: Retries and a slow moment stay below this; with an endpoint that is down all requests fail.
_FAILED_SHARE = 0.1
#: A suitable model almost never misses the form, if the endpoint enforces it.
_MALFORMED_SHARE = 0.2
#: Fewer in a quarter of an hour raise no alert: at night, one of three requests is a third.
_MIN_FAILED_REQUESTS = 5
#: The share that is left for the last two and a half hours of the day if the budget is spent evenly.
_NEARLY_SPENT = 0.1
_MIN_REFUSED = 10

_REQUESTS = "gen_ai_client_operation_duration_seconds_count"
_MODEL = "gen_ai_request_model"
_LATE = "timeout|busy"


def judge_rules(deployment: Deployment) -> RuleGroup:
    """Return the alerts on judges; they matter only if endpoints are set."""
    return RuleGroup(
        "truthgate-judges", (*_endpoints(deployment), *_opinions(deployment), *_budget(deployment))
    )


def _endpoints(deployment: Deployment) -> Iterator[AlertingRule]:
    limit = promql_duration(deployment.settings.judges.timeout_seconds)
    # A request without a fault has no such label, which matches as empty.
    yield AlertingRule(
        name="TruthgateJudgeFailing",
        expression=_share(deployment, _REQUESTS, f'error_type!~"|{_LATE}"', _MODEL, _FAILED_SHARE),
        for_seconds=deployment.scaled_minutes(5),
        summary="A language model does not reply: {{ $labels.gen_ai_request_model }}",
        description="{{ $value | humanizePercentage }} of the requests of the last 15 minutes failed. "
        "Answers in doubt go to review, degraded judge_unavailable; none is sent or blocked because of it.",
    )
    yield AlertingRule(
        name="TruthgateJudgeSlow",
        expression=_share(deployment, _REQUESTS, f'error_type=~"{_LATE}"', _MODEL, _FAILED_SHARE),
        for_seconds=deployment.scaled_minutes(5),
        summary="A language model takes too long: {{ $labels.gen_ai_request_model }}",
        description="{{ $value | humanizePercentage }} of the requests of the last 15 minutes had no reply "
        f"in time: all for one answer may take {limit} (judges.timeout_seconds). Answers in doubt wait "
        "that long, and then go to review, degraded judge_unavailable.",
    )


def _opinions(deployment: Deployment) -> Iterator[AlertingRule]:
    unusable = 'says=~"malformed|cut_off|empty"'
    yield AlertingRule(
        name="TruthgateOpinionsMalformed",
        expression=_share(deployment, "truthgate_opinions_total", unusable, "method", _MALFORMED_SHARE),
        for_seconds=deployment.scaled_minutes(5),
        summary="Replies of language models cannot be used: method {{ $labels.method }}",
        description="{{ $value | humanizePercentage }} of the opinions of the last 15 minutes have no label, "
        "since the replies did not have the required form, were empty, or were cut off. They are paid for, "
        "and their answers go to review.",
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
        summary="Judges are not asked about answers in doubt: priority {{ $labels.priority }}",
        description="For {{ $value | humanize }} opinions of the last 15 minutes too little of judges.budget "
        "was left. Their answers go to review, degraded judge_budget_spent.",
    )


def _share(deployment: Deployment, counter: str, matcher: str, label: str, most: float) -> str:
    """Return the condition that more than a share of the counted events match, by a label."""
    of_kind = deployment.increase(counter, matcher, by=label)
    every = deployment.increase(counter, by=label)
    return f"{of_kind} / {every} > {most} and {of_kind} >= {_MIN_FAILED_REQUESTS}"


_UP = "truthgate_kafka_up"
#: A worker that ends because of it cannot start again, and exports nothing: its last value counts this long.
_LAST_WORD_SECONDS = 900.0


def kafka_silent_alerts(deployment: Deployment) -> Iterator[AlertingRule]:
    """Yield the alerts on an unresponsive Kafka; they precede all alerts that this would cause.

    If it answers some of the workers, the others' answers go to these after a while, or they recover.
    """
    health = deployment.settings.health
    up = deployment.series(_UP)
    last = deployment.over_time("last_over_time", _UP, _LAST_WORD_SECONDS)
    silent, were_silent = (f"{deployment.aggregate('sum', f'1 - {each}')} > 0" for each in (up, last))
    same = f"on ({', '.join(DEPLOYMENT)})"
    answers_some = f"({deployment.aggregate('max', up)} == 1)"
    description = (
        "Workers that have had no answer from Kafka for "
        f"{promql_duration(health.kafka_timeout_seconds)} (health.kafka_timeout_seconds): {{{{ $value }}}}. "
        "They judge nothing; answers wait in Kafka, and none is lost. After "
        f"{promql_duration(health.stall_timeout_seconds)} (health.stall_timeout_seconds) a worker "
        "exits with code 3, and its successor tries again."
    )
    yield AlertingRule(
        name="TruthgateKafkaSilent",
        expression=f"({silent} unless {same} {answers_some}) or ({were_silent} unless {same} {up})",
        for_seconds=deployment.scaled_minutes(0.5),
        severity="critical",
        summary="Kafka does not answer the workers",
        description=description,
    )
    yield AlertingRule(
        name="TruthgateKafkaSilent",
        expression=f"{silent} and {same} {answers_some}",
        for_seconds=deployment.scaled_minutes(0.5),
        summary="Kafka answers some of the workers, but not all",
        description=description,
        labels={"of": "some"},
    )


#: So many in half an hour are an upgrade's, if each worker leaves and joins once.
_REBALANCES_OF_A_WORKER, _REBALANCES_BESIDES = 2, 6
_RENEW_SECONDS = 14 * 86_400


def group_alerts(deployment: Deployment) -> Iterator[AlertingRule]:
    """Yield the alerts on a group that rebalances often, and on client certificates that expire."""
    most = deployment.aggregate("max", deployment.over_time("increase", "truthgate_rebalances_total", 1800))
    workers = deployment.aggregate("count", deployment.series("up"))
    yield AlertingRule(
        name="TruthgateRebalancingOften",
        expression=f"{most} > {_REBALANCES_BESIDES} + {_REBALANCES_OF_A_WORKER} * {workers}",
        summary="The workers share out their partitions again and again",
        description="{{ $value | humanize }} rebalances in 30 minutes, more than an upgrade of all workers "
        "needs. In each of them no worker judges, and verdicts come later.",
    )
    end = deployment.aggregate("min", deployment.series("truthgate_kafka_certificate_end_seconds"))
    yield AlertingRule(
        name="TruthgateCertificateExpires",
        expression=f"{end} - time() < {_RENEW_SECONDS}",
        summary="A client certificate for Kafka expires",
        description="The certificate that a worker loaded from kafka.ssl_certfile is valid for another "
        "{{ $value | humanizeDuration }}. After that the brokers refuse new connections, and workers exit.",
    )


def unless_kafka_is_silent(deployment: Deployment, expression: str, *labels: str) -> str:
    """Restrict an expression to where Kafka answers at least one of the workers with these labels."""
    highest = deployment.aggregate("max", deployment.series(_UP), *labels)
    return f"{expression} unless on ({', '.join((*DEPLOYMENT, *labels))}) ({highest} == 0)"


def while_kafka_answers(deployment: Deployment, series: str, window: float) -> str:
    """Restrict a series to workers that Kafka answered throughout a window (seconds)."""
    lowest = deployment.over_time("min_over_time", _UP, window)
    return f"{series} unless on ({', '.join((*DEPLOYMENT, 'instance'))}) ({lowest} == 0)"


#: Fewer in a quarter of an hour are a hiccup: what fails is retried automatically.
_FAILURES = 3
_QUARTER_SECONDS = 900.0
#: The worker tries again every half minute; each attempt counts.
_STEPPED_DOWN = 'error_type{}"unreadable_verdict"'
#: Clocks of hosts differ by less (seconds).
_AHEAD = 60


def dependency_rules(deployment: Deployment) -> RuleGroup:
    """Return the alerts on the documents and, if rates are on, on the rates."""
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
        summary="Unreadable help documents are published",
        description="{{ $value | humanize }} in 15 minutes, counted by every worker. Each replaces the older "
        "version of its document, so answers based on it go to review.",
    )
    yield AlertingRule(
        name="TruthgateRetrievalIndexFailing",
        expression=f"{increase('truthgate_retrieval_index_failures_total')} >= {_FAILURES}",
        summary="The search index cannot be updated",
        description="{{ $value | humanize }} failures in 15 minutes. Answers without context are "
        "looked up in an outdated index, and go to review.",
    )
    yield AlertingRule(
        name="TruthgateCompanyTermsFailing",
        expression=f"{increase('truthgate_company_terms_failures_total')} >= {_FAILURES}",
        severity="info",
        summary="The company terms cannot be updated",
        description="{{ $value | humanize }} failures in 15 minutes. Answers are judged with the "
        "previous terms.",
    )
    # It is half open now and then to try one call: that is no recovery.
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
        description="Hallucination rates and their alerts stall; answers are still judged.",
    )
    waiting = deployment.aggregate("max", deployment.series("truthgate_rates_lag"))
    yield AlertingRule(
        name="TruthgateRatesStandStill",
        expression=f"{waiting} > 0 and {increase('truthgate_rates_verdicts_total', minutes=5)} == 0",
        for_seconds=deployment.scaled_minutes(5),
        summary="Verdicts wait to be counted",
        description="{{ $value | humanize }} wait, and none was counted for 5 minutes: hallucination rates "
        "and their alerts stall. Answers are still judged.",
    )
    stepped_down = increase("truthgate_rates_failures_total", _STEPPED_DOWN.format("="), minutes=5)
    yield AlertingRule(
        name="TruthgateRatesUnreadable",
        expression=f"{stepped_down} >= {_FAILURES}",
        severity="critical",
        summary="The worker that counts the rates cannot read a verdict",
        description="A verdict has a schema that this worker does not know, such as that of a newer release. "
        "It does not skip it: hallucination rates and their alerts stall until the schema is on the topic "
        "schemas. Answers are still judged.",
    )
    others = _STEPPED_DOWN.format("!=")
    failures = deployment.over_time("increase", "truthgate_rates_failures_total", _QUARTER_SECONDS, others)
    failures = deployment.aggregate("sum", while_kafka_answers(deployment, failures, _QUARTER_SECONDS))
    yield AlertingRule(
        name="TruthgateRatesFailing",
        expression=f"{failures} >= {_FAILURES}",
        summary="Counting the rates fails repeatedly",
        description="{{ $value | humanize }} failures in 15 minutes. Rates come late, and are exact again "
        "once it works. Answers are still judged.",
    )
    age = deployment.aggregate("min", deployment.series("truthgate_rates_watermark_age_seconds"))
    yield AlertingRule(
        name="TruthgateRatesAhead",
        expression=f"{age} < -{_AHEAD}",
        for_seconds=deployment.scaled_minutes(5),
        summary="The rates are ahead of the clock",
        description="The age of their watermark is {{ $value | humanizeDuration }}: a clock is or was wrong. "
        "Windows close too early, and their verdicts come as late corrections, which "
        "alerts.thresholds ignore. Answers are still judged.",
    )
