"""Two runs side by side on a terminal: where answers go in both, and which of them change."""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group as Lines
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from scoring.evaluation.comparison import AnswerChange, Comparison, RunResult
from scoring.evaluation.statistics import Share
from scoring.values.exchange import Decision
from streams.cli.command_output import plural, printable
from streams.cli.evaluate.cell_formatting import (
    NOTHING,
    empty_table,
    format_count,
    format_count_with_interval,
    format_estimate,
)
from streams.cli.evaluate.routed_tables import NOTE, routing_cells
from streams.cli.verdict_rendering import humanize_code

# What a terminal has room for; JSON has all.
_SHOWN = 40
_SHIFTS_SHOWN = 10


def comparison_tables(
    found: Comparison, first: str, second: str, *, rescored: bool
) -> Iterator[RenderableType]:
    """Yield what a terminal shows of two runs; ``first`` and ``second`` say which they are.

    Scores and reasons are left out unless the answers were ``rescored``: they follow from the decisions then.
    """
    yield _decisions(found, first, second)
    if found.rated:
        yield _sending(found, first, second)
    yield _changed(found)
    if rescored:
        yield from _scores(found)


def _decisions(found: Comparison, first: str, second: str) -> Lines:
    table = empty_table(
        f"Decisions: {first} (rows), {second} (columns)", map(humanize_code, (*Decision, "changed"))
    )
    for row in found.decisions.rows:
        counts = (str(count) for count in (row.auto_send, row.review, row.blocked))
        table.add_row(f"{humanize_code(row.decision)} ({row.answers})", *counts, format_count(row.changed))
    out = found.decisions.counted_out
    return Lines(
        table,
        Text(f"Decided otherwise: {_format_share(found.decided)}"),
        *([Text(f"{out} counted out of these tables: not translated", "dim")] if out else []),
    )


def _sending(found: Comparison, first: str, second: str) -> Table:
    columns = ("answers", "sent", "review", "blocked", "of all sent")
    table = empty_table("True and untrue answers sent and blocked", columns, note=NOTE)
    for what, side in (("true", "true"), ("untrue", "untrue")):
        for run, each in ((first, found.before), (second, found.after)):
            untrue_of_sent = (
                [format_count_with_interval(each.sending.untrue_of_sent)] if side == "untrue" else []
            )
            table.add_row(f"{what}: {run}", *routing_cells(getattr(each.sending, side)), *untrue_of_sent)
    return table


def _changed(found: Comparison) -> RenderableType:
    decided = [change for change in found.changes if change.decision_differs]
    if not decided:
        return Text("\nNo answer is decided otherwise.")
    table = empty_table(f"Decided otherwise: {plural(len(decided), 'answer')}")
    for column in ("rated", "from", "to", "score"):
        table.add_column(column, justify="right" if column in {"rated", "score"} else "left", no_wrap=True)
    table.add_column("reasons")
    for change in decided[:_SHOWN]:
        table.add_row(*_row(change))
    return Lines(table, *_more(len(decided) - _SHOWN))


def _row(change: AnswerChange) -> Sequence[Text | str]:
    before, after = change.before, change.after
    return (
        Text(printable(change.answer_id)),
        NOTHING if change.rating is None else str(change.rating),
        humanize_code(before.decision),
        humanize_code(after.decision),
        _score(before) if not change.score_differs else f"{_score(before)} → {_score(after)}",
        Text(" → ".join(_unrepeated(_reasons(before), _reasons(after)))),
    )


def _scores(found: Comparison) -> Iterator[RenderableType]:
    scored = f"\nScored otherwise: {_format_share(found.scored)}; {found.higher} higher, {found.lower} lower"
    yield Text(f"{scored}, mean change ").append(format_estimate(found.change))
    yield Text(f"Other reasons: {_format_share(found.reasoned)}")
    if found.shifts:
        table = empty_table("Leading reasons that change", ("answers",))
        for shift in found.shifts[:_SHIFTS_SHOWN]:
            table.add_row(f"{humanize_code(shift.before)} → {humanize_code(shift.after)}", str(shift.answers))
        yield Lines(table, *_more(len(found.shifts) - _SHIFTS_SHOWN))


def _more(rest: int) -> list[Text]:
    return [Text(f"and {rest} more (--json has all)", "dim")] if rest > 0 else []


def _score(side: RunResult) -> str:
    return NOTHING if side.score is None else f"{side.score:.2f}"


def _reasons(side: RunResult) -> str:
    return ", ".join(map(humanize_code, side.reasons))


def _unrepeated(*told: str) -> Iterable[str]:
    return dict.fromkeys(told)


def _format_share(share: Share | None) -> str:
    if share is None:
        return NOTHING
    return f"{format_count(share)}, {share.value:.0%} [{100 * share.low:.0f}, {100 * share.high:.0f}]"
