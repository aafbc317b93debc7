"""The tables of a comparison of two runs for a terminal: decisions, and the answers that change."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from scoring.evaluation.comparison import AnswerChange, Comparison, DecisionTable, RunResult
from scoring.evaluation.routing import RoutingRow
from scoring.values.exchange import Decision
from streams.cli.command_output import plural, printable
from streams.cli.evaluate.report_tables import (
    INTERVAL_BELOW,
    NOTHING,
    Cell,
    Column,
    ReportTable,
    columns,
    format_codes,
    format_count,
    format_count_with_interval,
    format_estimate,
    format_range,
    more_rows,
)
from streams.cli.verdict_rendering import humanize_code

# A terminal has room for these; --json has all.
_MAX_CHANGES = 40
_MAX_SHIFTS = 10


def comparison_tables(
    found: Comparison, first: str, second: str, *, rescored: bool
) -> Iterator[RenderableType]:
    """Yield the tables of a comparison of two runs, whose names are ``first`` and ``second``.

    Scores and reasons are included if the answers were ``rescored``; else they follow from the decisions.
    """
    out = found.decisions.counted_out
    excluded = [Text(f"{out} excluded from these tables: not translated", "dim")] if out else []
    changed = Text(f"Changed decisions: {format_range(found.decided)}")
    yield decisions_table(found.decisions, first, second, [changed, *excluded])
    if found.rated:
        runs = ((first, found.before.sending), (second, found.after.sending))
        rows: list[tuple[str, RoutingRow, Cell]] = [(f"true: {run}", each.true, "") for run, each in runs]
        for run, each in runs:
            rows.append((f"untrue: {run}", each.untrue, format_count_with_interval(each.untrue_of_sent)))
        yield sending_table(rows)
    yield _changes([change for change in found.changes if change.decision_differs])
    if rescored:
        counts = f"{format_range(found.scored)}; {found.higher} higher, {found.lower} lower"
        yield Text(f"\nChanged scores: {counts}, mean change ").append(format_estimate(found.change))
        yield Text(f"Changed reasons: {format_range(found.reasoned)}")
    if rescored and found.shifts:
        yield ReportTable(
            "Changes of the first reason",
            found.shifts[:_MAX_SHIFTS],
            [
                Column("", lambda row: f"{humanize_code(row.before)} → {humanize_code(row.after)}"),
                *columns(str, "answers"),
            ],
            footer=more_rows(len(found.shifts) - _MAX_SHIFTS),
        )


def decisions_table(found: DecisionTable, first: str, second: str, footer: Sequence[Text]) -> RenderableType:
    """Return the table of the decisions of one run by those of another."""
    return ReportTable(
        f"Decisions: {first} (rows), {second} (columns)",
        found.rows,
        [
            Column("", lambda row: f"{humanize_code(row.decision)} ({row.answers})"),
            *columns(str, *Decision),
            *columns(format_count, "changed"),
        ],
        found.group,
        footer=footer,
    )


def sending_table(rows: Iterable[tuple[str, RoutingRow, Cell]], variant: str = "") -> RenderableType:
    """Return the table of where true and untrue answers went; the last cell is the share of all sent."""
    return ReportTable(
        "True and untrue answers sent and blocked",
        rows,
        [
            Column("", lambda row: row[0]),
            Column("answers", lambda row: row[1].answers),
            Column("sent", lambda row: format_count_with_interval(row[1].auto_send)),
            Column("review", lambda row: format_count_with_interval(row[1].review)),
            Column("blocked", lambda row: format_count_with_interval(row[1].blocked)),
            Column("of all sent", lambda row: row[2]),
        ],
        variant=variant,
        note=f"{INTERVAL_BELOW}; true: rated 4 or 5, untrue: 1 or 2; with answers without a score",
    )


def _changes(found: Sequence[AnswerChange]) -> RenderableType:
    def both(change: AnswerChange, text: Callable[[RunResult], str]) -> str:
        return " → ".join(dict.fromkeys((text(change.before), text(change.after))))

    def score(change: AnswerChange) -> str:
        text = format_exact_score(change.before.score)
        return f"{text} → {format_exact_score(change.after.score)}" if change.score_differs else text

    if not found:
        return Text("\nNo decision changes.")
    return ReportTable(
        f"Changed decisions: {plural(len(found), 'answer')}",
        found[:_MAX_CHANGES],
        [
            Column("", lambda row: printable(row.answer_id)),
            Column("rated", lambda row: row.rating),
            Column("from", lambda row: humanize_code(row.before.decision), left=True),
            Column("to", lambda row: humanize_code(row.after.decision), left=True),
            Column("score", score),
            Column("reasons", lambda row: both(row, lambda run: format_codes(run.reasons)), left=True),
        ],
        footer=more_rows(len(found) - _MAX_CHANGES),
    )


def format_exact_score(value: float | None) -> str:
    """Format a score with two decimals, or ``-``."""
    return NOTHING if value is None else f"{value:.2f}"
