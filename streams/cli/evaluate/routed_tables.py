"""The tables on a terminal of true and untrue answers: sent and blocked, found by checks, routed wrongly."""

from collections.abc import Iterable, Sequence

from rich.console import Group as Lines
from rich.table import Table
from rich.text import Text

from scoring.evaluation.routing import CheckTable, Misrouted, RoutingRow, SendingTable
from scoring.evaluation.statistics import Share
from streams.cli.command_output import plural, printable
from streams.cli.evaluate.cell_formatting import NOTHING, empty_table, format_count_with_interval, group_name
from streams.cli.verdict_rendering import humanize_code

NOTE = "95% interval below; true: rated 4 or 5, untrue: 1 or 2; answers without a score are among them"

# What a terminal has room for; JSON has all.
_SHOWN = 20


def sending_table(tables: Iterable[SendingTable], how: str) -> Table:
    """Give where the true and the untrue answers of each group went."""
    columns = ("answers", "sent", "review", "blocked", "of all sent")
    shown = empty_table("True and untrue answers sent and blocked", columns, note=NOTE, how=how)
    for table in tables:
        found = table.sending
        group = group_name(table.group)
        shown.add_row(f"{group}: true", *routing_cells(found.true))
        shown.add_row(
            f"{group}: untrue", *routing_cells(found.untrue), format_count_with_interval(found.untrue_of_sent)
        )
    return shown


def checks_table(table: CheckTable, how: str) -> Table:
    """Give in how many answers each check of a profile found something."""
    note = "95% interval below; rules that send are among them; others: rated 3"
    columns = ("untrue : true", "others", "of the untrue", "of the true")
    shown = empty_table("Each check alone", columns, table.group, note, how)
    for row in table.rows:
        counts = (f"{_count(row.untrue)} : {_count(row.true)}", _count(row.others))
        shown.add_row(
            humanize_code(row.reason),
            *counts,
            format_count_with_interval(row.untrue),
            format_count_with_interval(row.true),
        )
    return shown


def misrouted_table(found: Sequence[Misrouted], how: str) -> Lines:
    """Give the answers that were routed wrongly, the first of them."""
    shown = empty_table(f"Routed wrongly: {plural(len(found), 'answer')}", how=how)
    for column in ("rated", "decision", "score"):
        shown.add_column(column, justify="right", no_wrap=True)
    shown.add_column("reasons")
    for each in found[:_SHOWN]:
        score = NOTHING if each.score is None else f"{each.score:.2f}"
        reasons = ", ".join(map(humanize_code, each.reasons))
        shown.add_row(
            Text(printable(each.answer_id)),
            str(each.rating),
            humanize_code(each.decision),
            score,
            Text(reasons),
        )
    more = len(found) - _SHOWN
    return Lines(shown, *([Text(f"and {more} more (--json has all)", "dim")] if more > 0 else []))


def routing_cells(row: RoutingRow) -> tuple[str | Text, ...]:
    """Give how many answers there are, and where they went."""
    return str(row.answers), *map(format_count_with_interval, (row.auto_send, row.review, row.blocked))


def _count(share: Share | None) -> str:
    return NOTHING if share is None else str(share.count)
