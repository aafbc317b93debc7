"""`truthgate monitoring`: Prometheus rules and a Grafana dashboard for the settings."""

from pathlib import Path
from typing import Annotated

import typer

from streams.cli.command_files import open_output
from streams.cli.command_output import require_package, say
from streams.cli.common_options import ConfigFile
from streams.monitoring.prometheus_rules import Deployment
from streams.monitoring.rendering import all_rules, render_dashboard, render_rule_file
from streams.settings import load_settings

app = typer.Typer(help="Write rules for Prometheus and a dashboard for Grafana.")

Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", dir_okay=False, metavar="FILE", help="Default: standard output."),
]
Job = Annotated[
    str, typer.Option("--job", metavar="NAME", help="The job under which Prometheus scrapes the workers.")
]


def _absolute(address: str | None) -> str | None:
    if address is not None and not address.startswith(("https://", "http://")):
        raise typer.BadParameter("it should begin with https:// or http://")
    return address


@app.command("rules")
def rules(
    output: Output = None,
    job: Job = "truthgate",
    runbook_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            callback=_absolute,
            help="Your copy of the runbook, to which alerts link as `runbook_url`. Default: no link.",
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Warn if fewer workers than this are scraped.")
    ] = None,
    config: ConfigFile = None,
) -> None:
    """Write the recording and alerting rules as a file for `rule_files` of Prometheus.

    Objectives and limits are those of the settings; the thresholds of hallucination rates are in the
    metrics of the workers.

    Example: `truthgate monitoring rules --output /etc/prometheus/truthgate.yml`
    """
    require_package("yaml", "monitoring")
    groups = all_rules(Deployment(load_settings(config), job, workers=workers))
    _write(render_rule_file(groups, runbook_url), output)


@app.command("dashboard")
def dashboard(output: Output = None, job: Job = "truthgate", config: ConfigFile = None) -> None:
    """Write the dashboard as JSON, for Grafana's import or its folder of provisioned dashboards.

    Alerts and burn rates need the rules of `truthgate monitoring rules`; everything else needs only the
    metrics of the workers.

    Example: `truthgate monitoring dashboard --output truthgate.json`
    """
    _write(render_dashboard(Deployment(load_settings(config), job)), output)


def _write(text: str, output: Path | None) -> None:
    with open_output(output) as sink:
        sink.write(text)
    if output:
        say(f"wrote {output}")
