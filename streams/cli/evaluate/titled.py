"""The table without rows that every table of an evaluation begins as."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from scoring.evaluation.cases import EVERY, Group
from streams.cli.evaluate.cells import name


def titled(
    title: str, columns: Iterable[str] = (), group: Group = EVERY, note: str = "", how: str = ""
) -> Table:
    """Give an empty table, its first column for the names of rows; ``note`` stands below it."""
    of_group = "" if group == EVERY else name(group)
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
