"""The dashboard as a whole: its variables, its rows, and its JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard as models

from streams.monitoring.dashboard import objectives, rates, workers
from streams.monitoring.dashboard.decisions import decisions
from streams.monitoring.dashboard.flow import flow, latency
from streams.monitoring.dashboard.overview import overview
from streams.monitoring.dashboard.panels import SOURCE, Panel
from streams.monitoring.dashboard.questions import Questions
from streams.monitoring.deployment import Deployment

_ALL = models.VariableOption(selected=True, text="All", value="$__all")


def to_json(deployment: Deployment) -> str:
    """Write the dashboard as Grafana imports it."""
    return json.dumps(dashboard(deployment), cls=JSONEncoder, indent=2, ensure_ascii=False) + "\n"


def dashboard(deployment: Deployment) -> models.Dashboard:
    """Build the dashboard; limits are drawn as the settings of the deployment have them."""
    ask = Questions()
    board = (
        builders.Dashboard("truthgate")
        .uid("truthgate")
        .description(
            "What becomes of a support chatbot's answers, how often they are untrue, and how the gate is."
        )
        .tags(["truthgate", "kafka"])
        .tooltip(models.DashboardCursorSync.CROSSHAIR)
        .refresh("30s")
        .time("now-3h", "now")
        .annotation(_alerts())
    )
    for variable in _variables(deployment.promql.job):
        board.with_variable(variable)
    for title, panels in _open_rows(ask, deployment):
        board.with_row(builders.Row(title))
        for panel in panels:
            board.with_panel(panel)
    for title, panels in _closed_rows(ask):
        row = builders.Row(title)
        for panel in panels:
            row.with_panel(panel)
        board.with_row(row)
    return _numbered(board.build())


def _open_rows(ask: Questions, deployment: Deployment) -> Iterator[tuple[str, list[Panel]]]:
    settings = deployment.settings
    yield "At a glance", overview(ask)
    yield "Hallucination rates", rates.rates(ask)
    yield "Decisions", decisions(ask)
    yield "Latency", latency(ask, settings)
    yield "Objectives", objectives.objectives(ask, settings)
    yield "Flow", flow(ask, settings)


def _closed_rows(ask: Questions) -> Iterator[tuple[str, list[Panel]]]:
    yield "Scoring", workers.scoring(ask)
    yield "Translation", workers.translation(ask)
    yield "Documents", workers.documents(ask)
    yield "Counting the rates", rates.counting(ask)
    yield "Processes", workers.processes(ask)


def _variables(job: str) -> Iterator[builders.QueryVariable | builders.DatasourceVariable]:
    yield builders.DatasourceVariable("datasource").label("Data source").type("prometheus")
    named = models.VariableOption(selected=True, text=job, value=job)
    yield _asked("job", "Job", "label_values(truthgate_answers_total, job)").current(named)
    chosen = 'job="$job", namespace=~"$namespace"'
    namespaces = _asked(
        "namespace", "Namespace", 'label_values(truthgate_answers_total{job="$job"}, namespace)'
    )
    # Where Prometheus knows no namespaces there is none to choose, and what has none is shown.
    yield namespaces.include_all(True).all_value(".*").multi(True).current(_ALL)
    types = f"label_values(truthgate_verdicts_total{{{chosen}}}, message_type)"
    yield _asked("message_type", "Message type", types).include_all(True).multi(True).current(_ALL)
    yield _asked("language", "Language", f"label_values(truthgate_hallucination_rate{{{chosen}}}, language)")
    yield _asked("window", "Window", f"label_values(truthgate_hallucination_rate{{{chosen}}}, window)")


def _asked(name: str, label: str, query: str) -> builders.QueryVariable:
    variable = builders.QueryVariable(name).label(label).datasource(SOURCE).query(query)
    return variable.refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED).sort(
        models.VariableSort.ALPHABETICAL_ASC
    )


def _alerts() -> builders.AnnotationQuery:
    firing = 'ALERTS{alertname=~"Truthgate.+", alertstate="firing", severity=~"critical|warning"}'
    return (
        builders.AnnotationQuery()
        .name("Alerts")
        .datasource(SOURCE)
        .enable(True)
        .icon_color("red")
        .expr(firing)
    )


def _numbered(board: models.Dashboard) -> models.Dashboard:
    """Give each panel a number of its own: links to a panel name it."""
    number = 0
    for panel in board.panels or []:
        for each in (panel, *(panel.panels if isinstance(panel, models.RowPanel) else ())):
            number += 1
            each.id_val = number
    return board
