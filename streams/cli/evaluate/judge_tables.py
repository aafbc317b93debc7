"""The tables of judges for a terminal: one row per judge where that fits, else one table per judge."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from rich.console import Group as Lines
from rich.console import RenderableType
from rich.text import Text

from scoring.evaluation.opinion_accuracy import FlagRow
from scoring.evaluation.opinion_report import JudgeRun, SimulationResult
from scoring.evaluation.opinion_routing import SendingRow
from scoring.evaluation.statistics import Estimate, Share
from scoring.values.opinion import Label
from streams.cli.command_output import plural, printable
from streams.cli.evaluate.report_tables import (
    BOOTSTRAPPED,
    INTERVAL_BELOW,
    Column,
    ReportTable,
    columns,
    format_estimate,
    format_percentage,
    format_share_with_count,
)
from streams.cli.verdict_rendering import humanize_code

# A terminal has room for these; --json has all.
_TAUS = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
_OUTCOMES = ("true_sent", "untrue_sent", "untrue_of_sent", "untrue_blocked", "true_blocked")


def judge_tables(judges: Sequence[JudgeRun]) -> Iterator[RenderableType]:
    """Yield the tables of the judges."""
    if not judges:
        return
    yield Lines(Text("\nJudges", "bold"), *map(_description, judges))
    yield _labels(judges)
    yield _flags("Wrong labels flagged, by confidence (002, Figure 6a)", judges, lambda row: row.flagged)
    yield _flags("Opinions reviewed, by confidence (002, Figure 6b)", judges, lambda row: row.reviewed)
    yield _per_judge(
        "Accuracy of consistency and relevance (004, Table II)",
        judges,
        *columns(format_share_with_count, "dimensions.consistency", "dimensions.relevance"),
        note="of ratings: 5 consistent, 1 to 3 not, 4 excluded; relevant where the line says so",
    )
    yield _per_judge(
        "Cost of an opinion (004, Table V)",
        judges,
        *columns(format_estimate, "costs.requests"),
        *columns(_whole, "costs.tokens"),
        Column("of replies", lambda run: _whole(run.costs.tokens_out)),
        *columns(format_estimate, "costs.seconds"),
        Column("s/token", lambda run: _seconds(run.costs.seconds_per_token)),
        note=f"means; batch replies have no time; {BOOTSTRAPPED}",
    )
    yield _per_judge(
        "Scores without and with the judge",
        judges,
        *columns(str, "rankings.answers"),
        Column("Spearman without", lambda run: format_estimate(run.rankings.checks.spearman)),
        Column("with", lambda run: format_estimate(run.rankings.judge.spearman)),
        *columns(format_estimate, "rankings.gain"),
        Column("AUROC without", lambda run: format_estimate(run.rankings.checks.auroc)),
        Column("with", lambda run: format_estimate(run.rankings.judge.auroc)),
        note="the judge is asked about every answer; no score counts as 3; AUROC: rated 5 against 1; "
        f"{BOOTSTRAPPED}",
    )
    for run in judges:
        tables = [
            _sending("Sent and blocked by the checks and the judge", run.sending),
            _sending("Sent and blocked by the judge alone", run.sending_alone),
            _curve(run),
            *([_simulated(run)] if run.simulated else []),
        ]
        yield from (replace(table, variant=_name(run), wrap=True) for table in tables)


def _description(run: JudgeRun) -> Text:
    methods, models, versions = map(", ".join, (run.methods, run.models, run.prompt_versions))
    return Text(
        printable(f"{run.name}: {plural(run.answers, 'opinion')}, {methods} by {models}, prompts {versions}")
    )


def _per_judge(
    title: str, judges: Sequence[JudgeRun], *measures: Column[JudgeRun], note: str
) -> RenderableType:
    return ReportTable(title, judges, [Column("", _name), *measures], note=note, wrap=True)


def _labels(judges: Sequence[JudgeRun]) -> RenderableType:
    def accuracy(index: int, run: JudgeRun) -> str | None:
        return format_share_with_count(run.labels.rows[index].accuracy)

    return _per_judge(
        "Accuracy by label (002, Table 1)",
        judges,
        *(Column(humanize_code(label), partial(accuracy, index)) for index, label in enumerate(Label)),
        Column("macro", lambda run: format_estimate(run.labels.macro)),
        Column("unsure", lambda run: run.labels.unsure),
        Column("excluded", lambda run: run.labels.left_out),
        note="of ratings: 4 and 5 TRUE, 1 and 2 FALSE, 3 excluded; an opinion without a label is wrong; "
        f"{BOOTSTRAPPED}",
    )


def _flags(
    title: str, judges: Sequence[JudgeRun], share: Callable[[FlagRow], Share | None]
) -> RenderableType:
    def flagged(tau: float, run: JudgeRun) -> Text | None:
        return format_percentage(next((share(row) for row in run.flags if row.tau == tau), None))

    measures = (Column(f"< {tau:g}", partial(flagged, tau)) for tau in _TAUS)
    return _per_judge(title, judges, *measures, note=INTERVAL_BELOW)


def _sending(title: str, rows: Sequence[SendingRow]) -> ReportTable[Any]:
    return ReportTable(
        title,
        [row for row in rows if row.tau in _TAUS],
        [Column("", lambda row: f"{row.tau:g}"), *columns(format_percentage, *_OUTCOMES, "reviewed")],
        note=f"{INTERVAL_BELOW}; per row the confidence from which opinions decide",
    )


def _curve(run: JudgeRun) -> ReportTable[Any]:
    note = "order of asking: answers that an opinion may send, without a score first, then scores near 3"
    if run.curve:
        note = f"{note}; {BOOTSTRAPPED}; opinions decide from confidence {run.curve[0].sending.tau:g} on"
    shares = ("sending.true_sent", "sending.untrue_of_sent", "sending.untrue_blocked")
    return ReportTable(
        "The cascade: quality by the share asked about",
        run.curve,
        [
            Column("", lambda point: f"{point.share:.0%}"),
            *columns(str, "asked"),
            *columns(format_estimate, Spearman="ranking.spearman", AUROC="ranking.auroc"),
            *columns(format_share_with_count, *shares),
        ],
        note=note,
    )


def _simulated(run: JudgeRun) -> ReportTable[Any]:
    def name(row: SimulationResult) -> str:
        return f"{row.flipping.share:.0%} {row.flipping.confidence}" if row.flipping else "unchanged"

    return ReportTable(
        "Simulation of a model that is wrong more often",
        run.simulated,
        [
            Column("", name),
            *columns(format_estimate, Spearman="spearman", AUROC="auroc"),
            *columns(format_percentage, *_OUTCOMES),
        ],
        note="means of many draws and the range of 95% of them; "
        f"opinions decide from confidence {run.simulated[0].tau:g} on",
    )


def _name(run: JudgeRun) -> str:
    return printable(run.name)


def _seconds(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"


def _whole(found: Estimate | None) -> str | None:
    return None if found is None else f"{found.value:.0f}"
