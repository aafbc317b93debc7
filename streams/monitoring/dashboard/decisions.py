"""The row on what becomes of answers, and why."""

from __future__ import annotations

from streams.monitoring.dashboard import style
from streams.monitoring.dashboard.panels import Panel, Query, graph, heat
from streams.monitoring.dashboard.questions import CHOSEN_TYPE, Questions

_CHOSEN = (CHOSEN_TYPE,)


def decisions(ask: Questions) -> list[Panel]:
    """Show decisions, scores, what could not be checked, and what was checked against."""
    return [_decisions(ask), _types(ask), _mean_score(ask), _scores(ask), _degraded(ask), _contexts(ask)]


def _decisions(ask: Questions) -> Panel:
    return graph(
        "Decisions",
        "Verdicts a second by decision, of the message types chosen.",
        "cps",
        Query(ask.rate("truthgate_verdicts_total", "decision", where=_CHOSEN), "{{decision}}"),
        colors=style.DECISIONS,
        stacked=True,
    )


def _types(ask: Questions) -> Panel:
    return graph(
        "Verdicts by message type",
        "Verdicts a second by what the question asks for.",
        "cps",
        Query(ask.rate("truthgate_verdicts_total", "message_type"), "{{message_type}}"),
        stacked=True,
    )


def _mean_score(ask: Questions) -> Panel:
    total, number = (
        ask.rate(f"truthgate_score_{part}", "message_type", where=_CHOSEN) for part in ("sum", "count")
    )
    return graph(
        "Mean score",
        "Mean score of the verdicts that have one, from 1 (untrue) to 5, by message type.",
        "none",
        Query(f"{total} / {number}", "{{message_type}}"),
        largest=5,
    )


def _scores(ask: Questions) -> Panel:
    return heat(
        "Scores",
        "How many verdicts have which score, from 1 (untrue) to 5.",
        "none",
        ask.buckets("truthgate_score"),
        span=8,
    )


def _degraded(ask: Questions) -> Panel:
    degraded, verdicts = ask.rate("truthgate_degraded_total", "code"), ask.rate("truthgate_verdicts_total")
    return graph(
        "What could not be checked",
        "Share of verdicts degraded by each code. These go to review instead of being sent.",
        "percentunit",
        Query(f"{degraded} / on () group_left () {verdicts}", "{{code}}"),
    )


def _contexts(ask: Questions) -> Panel:
    return graph(
        "Where the context came from",
        "Verdicts a second by the source of their passages: with the answer, by document ids, searched for, "
        "or none.",
        "cps",
        Query(ask.rate("truthgate_contexts_total", "source"), "{{source}}"),
        colors={"none": style.BAD},
        stacked=True,
    )
