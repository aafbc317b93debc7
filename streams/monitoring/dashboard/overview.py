"""The first row: whether all is well, in eight numbers."""

from __future__ import annotations

from streams.monitoring.dashboard import style
from streams.monitoring.dashboard.panels import Panel, Query, number
from streams.monitoring.dashboard.questions import SHOWN, Questions

_FIRING = 'ALERTS{alertname=~"Truthgate.+", alertstate="firing", job=~"$job|"}'


def overview(ask: Questions) -> list[Panel]:
    """Show the state of the deployment, and what became of its answers in the time shown."""
    return [
        _alerts(),
        _ready(ask),
        _answers(ask),
        _waiting(ask),
        _decision(ask, "auto_send", "Sent", "Answers sent without a person"),
        _decision(ask, "review", "Review", "Answers that wait for a person"),
        _decision(ask, "blocked", "Blocked", "Answers that must not go out"),
        _dead_letters(ask),
    ]


def _alerts() -> Panel:
    return number(
        "Alerts",
        "Alerts of truthgate's rules that fire now. The runbook has a section for each.",
        "none",
        Query(f"count({_FIRING}) or vector(0)", "firing"),
        style.steps(style.GOOD, (1, style.BAD)),
    )


def _ready(ask: Questions) -> Panel:
    return number(
        "Ready workers",
        "Workers that judge answers now.",
        "none",
        Query(ask.sum("truthgate_ready"), "ready"),
        style.steps(style.BAD, (1, style.GOOD)),
    )


def _answers(ask: Questions) -> Panel:
    return number(
        "Answers",
        "Answers taken from the broker, a second.",
        "cps",
        Query(ask.rate("truthgate_answers_total"), "answers"),
        style.steps(style.NEUTRAL),
        decimals=1,
    )


def _waiting(ask: Questions) -> Panel:
    return number(
        "Waiting",
        "Answers in Kafka that no worker has taken to its end.",
        "short",
        Query(ask.sum("truthgate_consumer_lag"), "waiting"),
        style.steps(style.GOOD, (100, style.DOUBTFUL), (1000, style.BAD)),
    )


def _decision(ask: Questions, decision: str, title: str, about: str) -> Panel:
    share = ask.share("truthgate_verdicts_total", SHOWN, f'decision="{decision}"')
    return number(
        title,
        f"{about}, of all verdicts in the time shown.",
        "percentunit",
        Query(share, decision),
        style.steps(style.DECISIONS[decision]),
        decimals=1,
    )


def _dead_letters(ask: Questions) -> Panel:
    letters = ask.promql.over("increase", "truthgate_dead_letters_total", SHOWN)
    return number(
        "Dead letters",
        "Answers that could not be judged, in the time shown. Their customers get no answer.",
        "short",
        Query(ask.total(letters), "letters"),
        style.steps(style.GOOD, (0.5, style.BAD)),
        decimals=0,
    )
