"""Rows on how answers flow: how long they take and where, what comes in, goes out, waits and fails."""

from __future__ import annotations

from streams.monitoring.dashboard import style
from streams.monitoring.dashboard.panels import Panel, Query, graph, heat
from streams.monitoring.dashboard.questions import Questions
from streams.settings import Settings

_LATENCY = "truthgate_verdict_latency_seconds"
_STAGES = "truthgate_stage_duration_seconds"


def latency(ask: Questions, settings: Settings) -> list[Panel]:
    """Show how long answers take, and where."""
    return [
        _spread(ask),
        _quantiles(ask, settings.objectives.verdict_within),
        _slow_stages(ask),
        _mean_stages(ask),
        _in_the_worker(ask),
    ]


def flow(ask: Questions, settings: Settings) -> list[Panel]:
    """Show what comes in, goes out, waits, and fails."""
    return [
        _in_and_out(ask),
        _waiting(ask),
        _without_commit(ask, settings.health.stall_timeout),
        _dead_letters(ask),
    ]


def _spread(ask: Questions) -> Panel:
    return heat(
        "Time to the verdict",
        "From the timestamp of the answer's record to its acknowledged verdict, with the wait in Kafka.",
        "s",
        ask.buckets(_LATENCY),
    )


def _quantiles(ask: Questions, objective: float) -> Panel:
    return graph(
        "Time to the verdict, quantiles",
        "The same. The dashed line is the objective, objectives.verdict_within.",
        "s",
        *_three_quantiles(ask, _LATENCY),
        span=12,
        limit=objective,
    )


def _three_quantiles(ask: Questions, name: str) -> list[Query]:
    return [Query(ask.quantile(share, name), f"{share:.0%}") for share in (0.5, 0.95, 0.99)]


def _slow_stages(ask: Questions) -> Panel:
    return graph(
        "Stages, 95%",
        "How long each stage takes for all but the slowest twentieth of answers, waiting included.",
        "s",
        Query(ask.quantile(0.95, _STAGES, "stage"), "{{stage}}"),
    )


def _mean_stages(ask: Questions) -> Panel:
    time, number = (ask.rate(f"{_STAGES}_{part}", "stage") for part in ("sum", "count"))
    return graph(
        "Stages, mean",
        "Mean time of each stage, one upon the other: what an answer's time in the worker is made of.",
        "s",
        Query(f"{time} / {number}", "{{stage}}"),
        stacked=True,
    )


def _in_the_worker(ask: Questions) -> Panel:
    return graph(
        "Time in the worker",
        "From receiving an answer to its acknowledged verdict or dead letter.",
        "s",
        *_three_quantiles(ask, "truthgate_answer_duration_seconds"),
    )


def _in_and_out(ask: Questions) -> Panel:
    return graph(
        "In and out",
        "Answers taken from the broker, and those that ended in a verdict or a dead letter, a second.",
        "cps",
        Query(ask.rate("truthgate_answers_total"), "in"),
        Query(ask.rate("truthgate_answer_duration_seconds_count"), "out"),
        colors={"in": style.NEUTRAL, "out": style.GOOD},
        span=6,
    )


def _waiting(ask: Questions) -> Panel:
    return graph(
        "Waiting, by partition",
        "Answers behind the end of each partition.",
        "short",
        Query(ask.max("truthgate_consumer_lag", "partition"), "{{partition}}"),
        span=6,
    )


def _without_commit(ask: Questions, stall_timeout: float) -> Panel:
    return graph(
        "Time without a commit",
        "How long the committed offset of a lagging partition has not moved. At the dashed line, "
        "health.stall_timeout, its worker ends itself.",
        "s",
        Query(ask.max("truthgate_commit_age_seconds", "partition"), "{{partition}}"),
        span=6,
        limit=stall_timeout,
    )


def _dead_letters(ask: Questions) -> Panel:
    letters = ask.rate("truthgate_dead_letters_total", "stage", "error_type")
    return graph(
        "Dead letters",
        "Answers that could not be judged, a second, by where they failed and of what.",
        "cps",
        Query(letters, "{{stage}}: {{error_type}}"),
        span=6,
        stacked=True,
    )
