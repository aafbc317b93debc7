"""The table model of evaluations: one type of table, its rendering, and the formats of its cells."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, Generic, TypeVar

from rich.console import Group as Lines
from rich.table import Table
from rich.text import Text

from scoring.evaluation.cases import ALL_CASES, CaseGroup
from scoring.evaluation.statistics import Estimate, Share
from streams.cli.verdict_rendering import humanize_code

Row = TypeVar("Row")
Cell = str | int | Text | None

NOTHING = "-"
INTERVAL_BELOW = "Wilson's 95% interval below"
BOOTSTRAPPED = "[bootstrapped 95% interval]"
# The signs of the paper (Table IV): p below 0.01, p below 0.05.
_SIGNS = ((0.01, "**"), (0.05, "*"))


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """A column: its heading, and the cell of each row; numbers are on the right, texts ``left``."""

    heading: str
    cell: Callable[[Row], Cell]
    left: bool = False


@dataclass(frozen=True, slots=True)
class ReportTable(Generic[Row]):
    """A table of a report; rich renders it.

    The ``group`` of answers and the ``variant`` of their scores, if there are several, are appended to the
    title. The first column has the names of rows. The ``note`` is below the table, in its width, and the
    ``footer`` below that. ``wrap``: numbers may wrap in a narrow terminal. Rows after the ``limit``
    are counted.
    """

    title: str
    rows: Iterable[Row]
    columns: Sequence[Column[Row]]
    group: CaseGroup = ALL_CASES
    variant: str = ""
    note: str = ""
    footer: Sequence[Text] = ()
    wrap: bool = False
    limit: int | None = None

    def __rich__(self) -> Lines:
        """Render the table with its footer."""
        group = "" if self.group == ALL_CASES else group_name(self.group)
        table = Table(
            title=Text(f"\n{', '.join(filter(None, (self.title, group, self.variant)))}", "bold"),
            caption=Text(self.note, "dim") if self.note else None,
            title_justify="left",
            caption_justify="left",
            box=None,
            pad_edge=False,
        )
        for index, column in enumerate(self.columns):
            left = column.left or index == 0
            table.add_column(
                column.heading, justify="left" if left else "right", no_wrap=not (left or self.wrap)
            )
        rows = list(self.rows)
        for row in rows[: self.limit]:
            cells = (column.cell(row) for column in self.columns)
            texts = (NOTHING if cell is None else cell for cell in cells)
            table.add_row(*(text if isinstance(text, Text) else Text(str(text)) for text in texts))
        more = len(rows) - (self.limit or len(rows))
        rest = [Text(f"and {more} more (--json has all)", "dim")] if more > 0 else []
        return Lines(table, *rest, *self.footer)


def columns(render: Callable[[Any], Cell], *attributes: str, **headed: str) -> Iterator[Column[Any]]:
    """Yield a column per attribute of the rows, headed by its name, or by the name of the argument."""
    names = {humanize_code(each.rpartition(".")[2]): each for each in attributes} | headed
    for heading, attribute in names.items():
        yield Column(heading, partial(lambda get, row: render(get(row)), attrgetter(attribute)))


def format_estimate(found: Estimate | None, p: float | None = None) -> Text:
    """Format an estimate: ``0.31* [0.12, 0.48]``."""
    if found is None:
        return Text(NOTHING)
    interval = "" if found.low is None else f" [{found.low:.2f}, {found.high:.2f}]"
    sign = next((sign for limit, sign in _SIGNS if p is not None and p < limit), "")
    return Text(f"{found.value:.2f}{sign}").append(interval, "dim")


def format_percentage(found: Share | Estimate | None) -> Text | None:
    """Format a percentage, ``55%``, with its interval on a line below."""
    return None if found is None else Text(f"{found.value:.0%}").append(_interval_below(found))


def format_count_with_interval(share: Share | None) -> Text | None:
    """Format a count with its percentage, ``11 (55%)``, and its interval on a line below."""
    if share is None:
        return None
    return Text(f"{share.count} ({share.value:.0%})").append(_interval_below(share))


def _interval_below(found: Share | Estimate) -> Text:
    if found.low is None or found.high is None:
        return Text()
    return Text(f"\n{100 * found.low:.0f}–{100 * found.high:.0f}", "dim")


def format_count(share: Share | None) -> str:
    """Format a count: ``11 of 20``."""
    return NOTHING if share is None else f"{share.count} of {share.total}"


def format_range(share: Share | None) -> str:
    """Format a count with its percentage and interval: ``11 of 20, 55% [34, 74]``."""
    if share is None:
        return NOTHING
    return f"{format_count(share)}, {share.value:.0%} [{100 * share.low:.0f}, {100 * share.high:.0f}]"


def format_share_with_count(share: Share | None) -> str | None:
    """Format a percentage with its count: ``55%  11/20``."""
    return None if share is None else f"{share.value:.0%} {share.count:>3}/{share.total}"


def format_rating(rating: float | None) -> str | None:
    """Format a rating, or a mean of several: ``5``, ``4.67``."""
    return None if rating is None else f"{round(rating, 2):g}"


def format_codes(codes: Iterable[str]) -> str:
    """Format codes as words, separated by commas."""
    return ", ".join(map(humanize_code, codes))


def group_name(group: CaseGroup) -> str:
    """Return ``all``, ``nl``, ``binary`` or ``nl, binary``."""
    return format_codes(part for part in (group.language, group.message_type) if part is not None) or "all"
