"""Markdown tables of what was measured in several runs: each figure the median of those of the runs."""

import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

Column = tuple[Callable[[T], float], str]


def table(title: str, columns: Mapping[str, Column[T]], rows: Mapping[str, Sequence[T]]) -> None:
    """Print a table; of a column is given what a run has in it, and how that is written."""
    lines = [("", *columns), ("---",) * (1 + len(columns))]
    lines += [(name, *(_median(column, runs) for column in columns.values())) for name, runs in rows.items()]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    sys.stdout.write(f"\n{title}:\n\n{text}\n")


def _median(column: Column[T], runs: Sequence[T]) -> str:
    read, form = column
    return form.format(statistics.median(map(read, runs)))
