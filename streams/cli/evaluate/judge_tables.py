"""The tables of judges on a terminal: side by side where a row has room for one, else one after the other."""

from collections.abc import Callable, Iterator, Sequence

from rich.console import Group as Lines
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from scoring.evaluation.opinion_accuracy import FlagRow
from scoring.evaluation.opinion_report import JudgeRun, SimulationResult
from scoring.evaluation.opinion_routing import SendingRow
from scoring.evaluation.statistics import Estimate, Share
from scoring.values.opinion import Label
from streams.cli.command_output import plural, printable
from streams.cli.evaluate.cell_formatting import (
    NOTHING,
    empty_table,
    format_estimate,
    format_percentage,
    format_share_with_count,
)
from streams.cli.verdict_rendering import humanize_code

# What a terminal has room for; JSON has all.
_TAUS = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
_SHARES_OF_SENDING: dict[str, Callable[[SendingRow], Share | None]] = {
    "true sent": lambda row: row.true_sent,
    "untrue sent": lambda row: row.untrue_sent,
    "untrue of sent": lambda row: row.untrue_of_sent,
    "untrue blocked": lambda row: row.untrue_blocked,
    "true blocked": lambda row: row.true_blocked,
    "reviewed": lambda row: row.reviewed,
}
_SIMULATED: dict[str, Callable[[SimulationResult], Estimate | None]] = {
    "true sent": lambda row: row.true_sent,
    "untrue sent": lambda row: row.untrue_sent,
    "untrue of sent": lambda row: row.untrue_of_sent,
    "untrue blocked": lambda row: row.untrue_blocked,
    "true blocked": lambda row: row.true_blocked,
}


def judge_tables(judges: Sequence[JudgeRun]) -> Iterator[RenderableType]:
    """Yield everything that a terminal shows of the judges, in order."""
    if not judges:
        return
    yield Lines(Text("\nJudges", "bold"), *map(_about, judges))
    yield _labels(judges)
    yield _flags("Wrong labels flagged, by confidence (002, Figure 6a)", judges, lambda row: row.flagged)
    yield _flags("Opinions reviewed, by confidence (002, Figure 6b)", judges, lambda row: row.reviewed)
    yield _dimensions(judges)
    yield _costs(judges)
    yield _rankings(judges)
    for run in judges:
        yield _sending("Sent and blocked by the checks and the judge", run, run.sending)
        yield _sending("Sent and blocked by the judge alone", run, run.sending_alone)
        yield _curve(run)
        if run.simulated:
            yield _simulated(run)


def _about(run: JudgeRun) -> Text:
    methods, models, versions = map(", ".join, (run.methods, run.models, run.prompt_versions))
    return Text(
        printable(f"{run.name}: {plural(run.answers, 'opinion')}, {methods} by {models}, prompts {versions}")
    )


def _labels(judges: Sequence[JudgeRun]) -> Table:
    note = "of ratings: 4 and 5 TRUE, 1 and 2 FALSE, 3 left out; no label is not right"
    table = empty_table("Accuracy by label (002, Table 1)", note=note)
    for column in (*Label, "macro", "unsure", "left out"):
        table.add_column(humanize_code(column), justify="right")
    for run in judges:
        shares = (format_share_with_count(row.accuracy) for row in run.labels.rows)
        counts = (str(run.labels.unsure), str(run.labels.left_out))
        table.add_row(_name(run), *shares, format_estimate(run.labels.macro), *counts)
    return table


def _flags(title: str, judges: Sequence[JudgeRun], share: Callable[[FlagRow], Share | None]) -> Table:
    table = empty_table(title, note="95% interval below")
    for tau in _TAUS:
        table.add_column(f"< {tau:g}", justify="right")
    for run in judges:
        table.add_row(_name(run), *(format_percentage(share(row)) for row in run.flags if row.tau in _TAUS))
    return table


def _dimensions(judges: Sequence[JudgeRun]) -> Table:
    note = "of ratings: 5 consistent, 1 to 3 not, 4 left out; relevant where the line says so"
    table = empty_table("Accuracy of consistency and relevance (004, Table II)", note=note)
    table.add_column("consistency", justify="right")
    table.add_column("relevance", justify="right")
    for run in judges:
        found = run.dimensions
        table.add_row(
            _name(run), format_share_with_count(found.consistency), format_share_with_count(found.relevance)
        )
    return table


def _costs(judges: Sequence[JudgeRun]) -> Table:
    table = empty_table("What an opinion takes (004, Table V)", note="means; batch replies tell no time")
    for column in ("requests", "tokens", "of replies", "seconds", "s/token"):
        table.add_column(column, justify="right")
    for run in judges:
        found = run.costs
        per_token = NOTHING if found.seconds_per_token is None else f"{found.seconds_per_token:.4f}"
        cells = (format_estimate(found.requests), _whole(found.tokens), _whole(found.tokens_out))
        table.add_row(_name(run), *cells, format_estimate(found.seconds), per_token)
    return table


def _rankings(judges: Sequence[JudgeRun]) -> Table:
    note = "every answer asked about; without a score it counts as 3; AUROC: rated 5 against 1"
    table = empty_table("Scores without and with the judge", note=note)
    for column in ("answers", "Spearman without", "with", "gain", "AUROC without", "with"):
        table.add_column(column, justify="right")
    for run in judges:
        found = run.rankings
        correlations = map(format_estimate, (found.checks.spearman, found.judge.spearman, found.gain))
        areas = map(format_estimate, (found.checks.auroc, found.judge.auroc))
        table.add_row(_name(run), str(found.answers), *correlations, *areas)
    return table


def _sending(title: str, run: JudgeRun, rows: Sequence[SendingRow]) -> Table:
    table = empty_table(
        title, note="95% interval below; by the confidence from which it decides", how=_name(run)
    )
    for column in _SHARES_OF_SENDING:
        table.add_column(column, justify="right")
    for row in rows:
        if row.tau in _TAUS:
            table.add_row(f"{row.tau:g}", *(format_percentage(of(row)) for of in _SHARES_OF_SENDING.values()))
    return table


def _curve(run: JudgeRun) -> Table:
    note = "asked about first: what an opinion may send, of it what has no score, then scores near 3"
    if run.curve:
        note = f"{note}; opinions decide from {run.curve[0].sending.tau:g} on"
    table = empty_table("The cascade: quality by the share asked about", note=note, how=_name(run))
    for column in ("asked", "Spearman", "AUROC", "true sent", "untrue of sent", "untrue blocked"):
        table.add_column(column, justify="right")
    for point in run.curve:
        row = point.sending
        shares = map(format_share_with_count, (row.true_sent, row.untrue_of_sent, row.untrue_blocked))
        ranking = map(format_estimate, (point.ranking.spearman, point.ranking.auroc))
        table.add_row(f"{point.share:.0%}", str(point.asked), *ranking, *shares)
    return table


def _simulated(run: JudgeRun) -> Table:
    tau = run.simulated[0].tau
    note = f"means of many draws and the range of 95% of them; opinions decide from {tau:g} on"
    table = empty_table("If the model were wrong more often", note=note, how=_name(run))
    for column in ("Spearman", "AUROC", *_SIMULATED):
        table.add_column(column, justify="right")
    for row in run.simulated:
        flipping = row.flipping
        name = f"{flipping.share:.0%} {flipping.confidence}" if flipping else "as it is"
        shares = (_range(of(row)) for of in _SIMULATED.values())
        table.add_row(name, format_estimate(row.spearman), format_estimate(row.auroc), *shares)
    return table


def _name(run: JudgeRun) -> str:
    return printable(run.name)


def _whole(found: Estimate | None) -> str:
    return NOTHING if found is None else f"{found.value:.0f}"


def _range(found: Estimate | None) -> Text:
    if found is None:
        return Text(NOTHING)
    text = Text(f"{found.value:.0%}")
    if found.low is None or found.high is None:
        return text
    return text.append(f"\n{100 * found.low:.0f}–{100 * found.high:.0f}", "dim")
