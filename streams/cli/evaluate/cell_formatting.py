"""Cells and titles of an evaluation's tables."""

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from scoring.evaluation.cases import ALL_CASES, CaseGroup
from scoring.evaluation.statistics import Estimate, Share
from streams.cli.verdict_rendering import humanize_code

NOTHING = "-"
# The paper's signs (Table IV): p below 0.01, p below 0.05.
_SIGNS = ((0.01, "**"), (0.05, "*"))


def format_estimate(found: Estimate | None, p: float | None = None) -> Text:
    """Give ``0.31* [0.12, 0.48]``, or a dash where there is no value."""
    if found is None:
        return Text(NOTHING)
    interval = "" if found.low is None else f" [{found.low:.2f}, {found.high:.2f}]"
    return Text(f"{found.value:.2f}{_sign(p)}").append(interval, "dim")


def format_value(found: Estimate | None) -> str:
    """Give ``0.31``, or a dash where there is no value."""
    return NOTHING if found is None else f"{found.value:.2f}"


def format_percentage(share: Share | None, *, interval: bool = True) -> Text:
    """Give ``55%``, with its interval on a line below, or a dash where there was nothing to count."""
    if share is None:
        return Text(NOTHING)
    text = Text(f"{share.value:.0%}")
    return text.append(_below(share)) if interval else text


def format_count_with_interval(share: Share | None) -> Text:
    """Give ``11 (55%)``, with its interval on a line below, or a dash where there was nothing to count."""
    if share is None:
        return Text(NOTHING)
    return (
        Text(f"{share.count} (")
        .append(format_percentage(share, interval=False))
        .append(")")
        .append(_below(share))
    )


def format_count(share: Share | None) -> str:
    """Give ``11 of 20``, or a dash where there was nothing to count."""
    return NOTHING if share is None else f"{share.count} of {share.total}"


def format_share_with_count(share: Share | None) -> str:
    """Give ``55%  11/20``, or a dash where there was nothing to count."""
    return NOTHING if share is None else f"{share.value:.0%} {share.count:>3}/{share.total}"


def group_name(group: CaseGroup) -> str:
    """Give ``all``, ``nl``, ``binary`` or ``nl, binary``."""
    parts = [part for part in (group.language, group.message_type) if part is not None]
    return ", ".join(map(humanize_code, parts)) or "all"


def _below(share: Share) -> Text:
    return Text(f"\n{100 * share.low:.0f}–{100 * share.high:.0f}", "dim")


def _sign(p: float | None) -> str:
    return next((sign for limit, sign in _SIGNS if p is not None and p < limit), "")


def empty_table(
    title: str, columns: Iterable[str] = (), group: CaseGroup = ALL_CASES, note: str = "", how: str = ""
) -> Table:
    """Give an empty table, its first column for the names of rows; ``note`` stands below it."""
    of_group = "" if group == ALL_CASES else group_name(group)
    heading = ", ".join(filter(None, (title, of_group, how)))
    table = Table(
        title=Text(f"\n{heading}", "bold"),
        caption=Text(note, "dim") if note else None,
        title_justify="left",
        caption_justify="left",
        box=None,
        pad_edge=False,
    )
    table.add_column("")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table
