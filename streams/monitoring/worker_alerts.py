"""Alerts on the workers and on the flow of answers: missing, stalled, or saturated."""

from collections.abc import Iterator
from dataclasses import replace

from scoring.guarantees.drift import DRIFTED
from streams.monitoring.alerts import group_alerts, kafka_silent_alerts, unless_kafka_is_silent
from streams.monitoring.prometheus_rules import (
    DEAD_LETTERS,
    DEPLOYMENT,
    VERDICTS,
    AlertingRule,
    Deployment,
    RuleGroup,
    promql_duration,
)

_RECEIVED = "truthgate_answers_total"
#: Traffic differs at night and on weekends: a quiet period is compared with the same time a week before, and
#: counts only if at least so many answers came then.
_QUIET_SECONDS, _WEEK_SECONDS, _USUAL_ANSWERS = 1800.0, 7 * 86_400.0, 20
_RESTARTS = 3
#: So many answers may wait for a person, each for this share of its time limit, without anybody being told.
_QUEUE, _TIME_USED = 20, 0.8
#: Scoring processes that are busy for this share of the time leave no room for a peak.
_SATURATED = 0.9
#: A check that is missing from this share of verdicts is missing in general.
_DEGRADED_SHARE = 0.2
_MIN_DEGRADED = 20


def operation_rules(deployment: Deployment) -> RuleGroup:
    """Return the alerts on workers and answers."""
    rules = (*_workers(deployment), *_answers(deployment), *_pauses(deployment), *_desk(deployment))
    return RuleGroup("truthgate-operations", rules)


def _workers(deployment: Deployment) -> Iterator[AlertingRule]:
    stall = deployment.settings.health.stall_timeout_seconds
    yield AlertingRule(
        name="TruthgateWorkersAbsent",
        expression=f"absent({deployment.series('up')} == 1)",
        for_seconds=deployment.scaled_minutes(2),
        severity="critical",
        summary="No truthgate worker can be scraped",
        description=f"Prometheus reaches no worker of job {deployment.job}. Answers are probably not judged, "
        "and wait in Kafka; none is lost.",
    )
    yield from _missing_workers(deployment)
    yield from kafka_silent_alerts(deployment)
    yield from group_alerts(deployment)
    ready = deployment.aggregate("sum", deployment.series("truthgate_ready"))
    yield AlertingRule(
        name="TruthgateNoWorkerReady",
        expression=unless_kafka_is_silent(deployment, f"{ready} == 0"),
        for_seconds=deployment.scaled_minutes(5),
        severity="critical",
        summary="No truthgate worker is ready",
        description="Workers run, but each still waits for something that it needs to judge answers. "
        "Answers wait in Kafka; none is lost.",
    )
    yield AlertingRule(
        name="TruthgateWorkerRestarting",
        expression=f"{deployment.over_time('changes', 'process_start_time_seconds', 30 * 60)} >= {_RESTARTS}",
        summary="Worker {{ $labels.instance }} restarts repeatedly",
        description="{{ $value }} starts in 30 minutes. A worker exits when something fails that every "
        "answer needs; its unfinished answers are judged again, so verdicts repeat.",
    )
    lag = deployment.aggregate("max", deployment.series("truthgate_consumer_lag"), "partition")
    age = deployment.aggregate("max", deployment.series("truthgate_commit_age_seconds"), "partition")
    group_age = deployment.aggregate(
        "max", deployment.series("truthgate_group_commit_age_seconds"), "partition"
    )
    yield AlertingRule(
        name="TruthgateNoCommit",
        # Or it has no owner, who knows whether it only waits for its turn.
        expression=f"({age} > {stall / 2:g} and {lag} > 0) or ({group_age} > {stall / 2:g} unless {lag})",
        severity="critical",
        summary="Partition {{ $labels.partition }} is stalled",
        description="Answers wait on partition {{ $labels.partition }}, and nothing was committed for "
        f"{{{{ $value | humanizeDuration }}}}. After {promql_duration(stall)} (health.stall_timeout_seconds) "
        "the worker exits, and its successor continues; a partition that no worker owns waits for one.",
    )
    # Only the owner of partition 0 reports partitions without an owner. `serve` exports no kafka_up.
    members = deployment.aggregate(
        "count",
        f"{deployment.series('truthgate_ready')} == 1 and on ({', '.join((*DEPLOYMENT, 'instance'))}) "
        f"{deployment.series('truthgate_kafka_up')} == 1",
    )
    group_lag = deployment.aggregate("max", deployment.series("truthgate_group_lag"))
    yield AlertingRule(
        name="TruthgateNoCommit",
        expression=f"{members} unless {group_lag}",
        for_seconds=stall / 2,
        severity="critical",
        summary="Partition 0 has no owner",
        description="Of the workers that are ready, {{ $value }}, none has partition 0. Its answers are not "
        "judged, and whether other partitions have no owner either is not known.",
        labels={"partition": "0"},
    )


def _missing_workers(deployment: Deployment) -> Iterator[AlertingRule]:
    up = deployment.series("up")
    others = deployment.aggregate("count", f"{up} == 1")
    yield AlertingRule(
        name="TruthgateWorkerMissing",
        # If none is left, TruthgateWorkersAbsent fires.
        expression=f"{up} == 0 and on ({', '.join(DEPLOYMENT)}) {others}",
        for_seconds=deployment.scaled_minutes(5),
        summary="Worker {{ $labels.instance }} cannot be scraped",
        description="Others can. They have taken over its partitions, unless it runs and only Prometheus "
        "does not reach it: fewer workers judge the same answers.",
    )
    if deployment.workers:
        yield AlertingRule(
            name="TruthgateWorkerMissing",
            expression=f"{others} < {deployment.workers}",
            for_seconds=deployment.scaled_minutes(5),
            summary=f"Fewer than {deployment.workers} truthgate workers can be scraped",
            description=f"{{{{ $value }}}} of {deployment.workers} can. They have taken over the partitions "
            "of the others: fewer workers judge the same answers.",
            labels={"of": "all"},
        )


def _answers(deployment: Deployment) -> Iterator[AlertingRule]:
    # Of all partitions, owned or not: the owner of the first one exports it. Without one: of the owned ones.
    reported = deployment.aggregate("max", deployment.series("truthgate_group_lag"), "partition")
    owned = deployment.aggregate("sum", deployment.series("truthgate_consumer_lag"))
    lag = f"({deployment.aggregate('sum', reported)} or {owned})"
    now = deployment.increase(_RECEIVED, minutes=_QUIET_SECONDS / 60)
    usual = deployment.sum_over("increase", _RECEIVED, _QUIET_SECONDS, ago=_WEEK_SECONDS)
    quiet = f"{now} == 0 and {usual} >= {_USUAL_ANSWERS} unless {lag} > 0"
    yield AlertingRule(
        name="TruthgateNoAnswers",
        expression=unless_kafka_is_silent(deployment, f"({quiet})"),
        for_seconds=deployment.scaled_minutes(5),
        summary="No answers arrive from the chatbot",
        description="None has come for half an hour, and none waits; a week ago some came at this time. The "
        "chatbot may be down, or publish elsewhere and bypass the gate.",
    )
    yield AlertingRule(
        name="TruthgateLagGrowing",
        # Over the sum, since a partition that another worker takes over begins a new series.
        expression=f"deriv(({lag})[{deployment.scaled_duration(600)}:{deployment.scaled_duration(60)}]) > 0 "
        f"and {lag} > {deployment.settings.flow.max_in_flight}",
        for_seconds=deployment.scaled_minutes(
            20
        ),  # longer than a peak of 10 minutes lifts the slope of 10 minutes
        summary="More answers arrive than are judged",
        description="The backlog has grown for 20 minutes, now by {{ $value | humanize }} a "
        "second. Customers wait ever longer.",
    )
    processes, busy, queue = (
        deployment.sum_over("avg_over_time", f"truthgate_scoring_{name}", 10 * 60)
        for name in ("processes", "processes_busy", "queue")
    )
    yield AlertingRule(
        name="TruthgateScoringSaturated",
        expression=f"{busy} / {processes} > {_SATURATED} and {queue} > 1",
        for_seconds=deployment.scaled_minutes(10),
        summary="The scoring processes are saturated",
        description="They were busy for {{ $value | humanizePercentage }} of the last 10 minutes, and "
        "answers wait for one. Verdicts come later, and there is no room for a peak.",
    )
    degraded = deployment.increase("truthgate_degraded_total", by="code")
    verdicts = deployment.increase(VERDICTS)
    yield AlertingRule(
        name="TruthgateDegradedShare",
        expression=f"{degraded} / on (namespace, job) group_left () {verdicts} > {_DEGRADED_SHARE} "
        f"and {degraded} >= {_MIN_DEGRADED}",
        for_seconds=deployment.scaled_minutes(10),
        summary="Many answers cannot be checked: {{ $labels.code }}",
        description="{{ $value | humanizePercentage }} of the verdicts of the last 15 minutes are degraded "
        "{{ $labels.code }}. They go to review: reviewers have more to do, and customers wait.",
    )
    letters = deployment.increase(DEAD_LETTERS, by="stage")
    yield AlertingRule(
        name="TruthgateDeadLetters",
        expression=f"{letters} > 0",
        severity="info",
        summary="Answers became dead letters in stage {{ $labels.stage }}",
        description="{{ $value | humanize }} in 15 minutes. They are not judged until somebody replays "
        "them; their customers get no answer.",
    )
    waiting = deployment.aggregate("max", deployment.series("truthgate_dead_letters_waiting"))
    yield AlertingRule(
        name="TruthgateDeadLettersWaiting",
        expression=f"{waiting} > 0",
        for_seconds=deployment.scaled_minutes(60),
        summary="Dead letters wait for somebody to replay or discard them",
        description="{{ $value }} were neither replayed nor discarded. Customers of these answers get none, "
        "and after topics.retention_days the letters are gone.",
    )


def _desk(deployment: Deployment) -> Iterator[AlertingRule]:
    desk = replace(deployment, job=f"{deployment.job}-desk")
    waiting = desk.aggregate("max", desk.series("truthgate_desk_waiting"))
    yield AlertingRule(
        name="TruthgateReviewQueueGrowing",
        expression=f"deriv(({waiting})[{desk.scaled_duration(1800)}:{desk.scaled_duration(60)}]) > 0 "
        f"and {waiting} > {_QUEUE}",
        for_seconds=desk.scaled_minutes(30),
        summary="More answers wait for a person than are decided",
        description="The queue of the review desk has grown for half an hour, now by {{ $value | humanize }} "
        "a second. Customers wait ever longer, and answers will expire.",
    )
    used = desk.aggregate("max", desk.series("truthgate_desk_time_used"))
    yield AlertingRule(
        name="TruthgateReviewTooLate",
        expression=f"{used} > {_TIME_USED}",
        for_seconds=desk.scaled_minutes(1),
        summary="An answer for review is about to expire",
        description="It has waited for {{ $value | humanizePercentage }} of its time limit "
        "(desk.time_limits). An answer that expires is not sent.",
    )
    drift = desk.aggregate("max", desk.series("truthgate_policy_drift"), "input")
    yield AlertingRule(
        name="TruthgatePolicyDrift",
        expression=f"{drift} > {DRIFTED}",
        for_seconds=desk.scaled_minutes(60),
        severity="info",
        summary="Answers differ from those that the policy was fitted to: {{ $labels.input }}",
        description="The stability index of this input of the risk is {{ $value | humanize }}. The policy "
        "promises nothing about other answers: look at what has changed, and fit it again.",
    )


def _pauses(deployment: Deployment) -> Iterator[AlertingRule]:
    yield AlertingRule(
        name="TruthgateSendingPaused",
        expression=deployment.aggregate(
            "max", deployment.series("truthgate_pauses"), "message_type", "language"
        )
        + " > 0",
        for_seconds=deployment.scaled_minutes(4 * 60),
        severity="info",
        summary="Sending is paused: message type {{ $labels.message_type }}, language {{ $labels.language }}",
        description="For more than 4 hours answers that would be sent have gone to review: reviewers have "
        "more to do, and customers wait. The pause may have been forgotten.",
    )
    known = deployment.aggregate("min", deployment.series("truthgate_pauses_known"), "instance")
    yield AlertingRule(
        name="TruthgatePausesUnknown",
        expression=unless_kafka_is_silent(deployment, f"{known} == 0", "instance"),
        for_seconds=deployment.scaled_minutes(1),
        summary="Worker {{ $labels.instance }} does not know the pauses",
        description="It cannot read the pauses, so it sends nothing automatically: answers that it would "
        "send go to review.",
    )
    unknown = deployment.aggregate(
        "max", deployment.series("truthgate_policy", 'state="unknown"'), "instance"
    )
    yield AlertingRule(
        name="TruthgatePolicyUnknown",
        expression=unless_kafka_is_silent(deployment, f"{unknown} > 0", "instance"),
        for_seconds=deployment.scaled_minutes(1),
        summary="Worker {{ $labels.instance }} does not know which policy decides",
        description="It cannot read the policies, or the content of the one that was approved, so it sends "
        "nothing by score, opinion or risk: such answers go to review.",
    )
    withdrawn = deployment.aggregate("max", deployment.series("truthgate_policy_withdrawn"), "group")
    yield AlertingRule(
        name="TruthgatePolicyWithdrawn",
        expression=f"{withdrawn} > 0",
        for_seconds=0,
        summary="Sending by the fitted policy is withdrawn: {{ $labels.group }}",
        description="More of what was sent was found to be untrue than the policy promises, or a person "
        "withdrew it. Such answers go to review.",
    )
