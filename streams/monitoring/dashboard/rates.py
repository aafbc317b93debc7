"""Rows on hallucination rates: each message type with its bounds and thresholds, and how they are counted."""

from __future__ import annotations

from streams.monitoring.dashboard import style
from streams.monitoring.dashboard.panels import WIDTH, Panel, Query, graph, number, rows, states
from streams.monitoring.dashboard.questions import (
    CHOSEN_LANGUAGE,
    CHOSEN_TYPE,
    CHOSEN_WINDOW,
    Questions,
)

_CHOSEN = (CHOSEN_TYPE, CHOSEN_LANGUAGE, CHOSEN_WINDOW)
#: A threshold may be for all message types, or all languages.
_CONCERNED = ('message_type=~"$message_type|all"', 'language=~"$language|all"', CHOSEN_WINDOW)
_ALERT = ("alert", "message_type", "language", "window", "severity")


def rates(ask: Questions) -> list[Panel]:
    """Show the rates of the newest closed windows, and the thresholds that they are compared with."""
    return [
        graph(
            "Lower bounds of all message types",
            "The share of untrue answers among the scored ones is at least this, with 95% confidence. "
            "What is compared with the thresholds.",
            "percentunit",
            Query(
                ask.max(
                    "truthgate_hallucination_rate_lower_bound",
                    "message_type",
                    "language",
                    where=(CHOSEN_WINDOW,),
                ),
                "{{message_type}} {{language}}",
            ),
            span=12,
            largest=1,
        ),
        graph(
            "Scored answers of all message types",
            "How many answers the rates rest on. Few answers make wide bounds.",
            "short",
            Query(
                ask.max(
                    "truthgate_hallucination_rate_scored_answers",
                    "message_type",
                    "language",
                    where=(CHOSEN_WINDOW,),
                ),
                "{{message_type}} {{language}}",
            ),
            span=12,
        ),
        _thresholds(ask),
        _of_one_type(ask),
    ]


def _of_one_type(ask: Questions) -> Panel:
    rate = "truthgate_hallucination_rate"
    panel = graph(
        "$message_type, $language, last $window",
        "Share of untrue answers (scored and blocked) among the scored ones. The band is its 95% interval; "
        "dashed lines are thresholds, which are for the lower end of the band.",
        "percentunit",
        Query(ask.max(f"{rate}_upper_bound", where=_CHOSEN), "upper bound"),
        Query(ask.max(f"{rate}_lower_bound", where=_CHOSEN), "lower bound"),
        Query(ask.max(rate, where=_CHOSEN), "rate"),
        Query(ask.max("truthgate_alert_threshold", "alert", where=_CONCERNED), "threshold {{alert}}"),
        span=WIDTH,  # shared by up to four message types
        largest=1,
    )
    edge = [style.custom("lineWidth", 0), style.fixed(style.BAD)]
    band = [style.custom("fillBelowTo", "lower bound"), style.custom("fillOpacity", 15)]
    panel.override_by_name("upper bound", [*edge, *band])
    panel.override_by_name("lower bound", [*edge, style.custom("fillOpacity", 0)])
    panel.override_by_name("rate", [style.fixed(style.BAD), style.custom("fillOpacity", 0)])
    dashes = {"fill": "dash", "dash": [10, 10]}
    panel.override_by_regexp("threshold .+", [style.custom("lineStyle", dashes), style.fixed(style.DOUBTFUL)])
    return panel.repeat("message_type").repeat_direction("h")


def _thresholds(ask: Questions) -> Panel:
    columns = {
        "Lower bound": "truthgate_alert_rate_lower_bound",
        "Threshold": "truthgate_alert_threshold",
        "Scored": "truthgate_alert_scored_answers",
        "At least": "truthgate_alert_minimum_answers",
        "Firing": "truthgate_alert_firing",
    }
    panel = rows(
        "Thresholds",
        "Each threshold of alerts.thresholds with what it is compared with now. It fires when the lower "
        "bound is above it on enough scored answers.",
        {name: Query(ask.max(metric, *_ALERT), name) for name, metric in columns.items()},
        hidden=(),
    )
    for name in ("Lower bound", "Threshold"):
        panel.override_by_name(name, [style.unit("percentunit")])
    return panel.override_by_name("Firing", style.yes_or_no(bad=True))


def counting(ask: Questions) -> list[Panel]:
    """Show whether somebody counts, and how far."""
    return [
        states(
            "Leader",
            "Which worker counts the rates of the deployment: the owner of partition 0 of the answers.",
            Query(ask.each("truthgate_rates_leader"), "{{instance}}"),
            span=6,
        ),
        graph(
            "Verdicts counted",
            "Verdicts a second by what became of them: counted, known already, late, or too old.",
            "cps",
            Query(ask.rate("truthgate_rates_verdicts_total", "outcome"), "{{outcome}}"),
            span=6,
            colors={"counted": style.GOOD, "late": style.DOUBTFUL, "expired": style.BAD},
            stacked=True,
        ),
        graph(
            "Verdicts not yet counted",
            "Verdicts that the leader has still to read.",
            "short",
            Query(ask.max("truthgate_rates_lag"), "verdicts"),
            span=6,
        ),
        graph(
            "Age of the watermark",
            "How far the newest closed windows are behind. Old answers that are replayed make it large.",
            "s",
            Query(ask.max("truthgate_rates_watermark_age_seconds"), "age"),
            span=4,
        ),
        number(
            "Failures",
            "Times in the last quarter of an hour that counting was begun anew.",
            "short",
            Query(ask.total(ask.promql.over("increase", "truthgate_rates_failures_total", 900)), "failures"),
            style.steps(style.GOOD, (0.5, style.DOUBTFUL), (2.5, style.BAD)),
            span=2,
            decimals=0,
        ),
    ]
