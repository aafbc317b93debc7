"""The row on the service's objectives: whether they are met, and how fast their budgets are spent."""

from __future__ import annotations

from streams.monitoring.dashboard import style
from streams.monitoring.dashboard.panels import Panel, Query, graph, number
from streams.monitoring.dashboard.questions import SHOWN, Questions
from streams.monitoring.objectives import BURN_RATES, Objective, failed_share
from streams.monitoring.objectives import objectives as objectives_of
from streams.monitoring.promql import duration
from streams.settings import Settings

_ABOUT = {
    "truthgate_verdicts_late": ("In time", "verdicts within objectives.verdict_within of their answer"),
    "truthgate_answers_unjudged": ("Judged", "answers with a verdict, rather than a dead letter"),
}


def objectives(ask: Questions, settings: Settings) -> list[Panel]:
    """Show both objectives, each in three panels."""
    return [panel for objective in objectives_of(settings.objectives) for panel in _panels(ask, objective)]


def _panels(ask: Questions, objective: Objective) -> list[Panel]:
    title, about = _ABOUT[objective.key]
    failed = f"({_failed(ask, objective)})"
    return [
        number(
            title,
            f"Share of {about}, in the time shown. The objective is {objective.share * 100:.6g}%.",
            "percentunit",
            Query(f"1 - {failed}", title),
            style.steps(style.BAD, (objective.share, style.GOOD)),
            span=4,
            decimals=3,
        ),
        number(
            f"{title}: budget left",
            f"What is left of the {objective.budget * 100:.4g}% that may fail, if the time shown were all. "
            "Below 0 the objective is missed.",
            "percentunit",
            Query(f"1 - {failed} / {objective.budget:g}", "left"),
            style.steps(style.BAD, (0, style.DOUBTFUL), (0.5, style.GOOD)),
            span=4,
            decimals=1,
        ),
        _burning(ask, objective, title),
    ]


def _failed(ask: Questions, objective: Objective) -> str:
    failures, events = (
        counted.increase(ask.promql, SHOWN) for counted in (objective.failures, objective.events)
    )
    return f"({failures}) / ({events})"


def _burning(ask: Questions, objective: Objective, title: str) -> Panel:
    fastest = BURN_RATES[0]
    windows = [window for rate in BURN_RATES[:2] for window in (rate.short, rate.long)]
    return graph(
        f"{title}: how fast the budget is spent",
        "1 spends the budget in exactly 30 days. Somebody is called when both windows of a pair are above "
        f"its factor: {_factors()}. The dashed line is the highest. Needs the recording rules.",
        "none",
        *(
            Query(
                f"{ask.promql.series(failed_share(objective, window))} / {objective.budget:g}",
                duration(window),
            )
            for window in windows
        ),
        span=16,
        limit=fastest.factor,
    )


def _factors() -> str:
    return ", ".join(
        f"{duration(rate.short)} and {duration(rate.long)} above {rate.factor:g}" for rate in BURN_RATES
    )
