"""A table in Markdown."""

from collections.abc import Iterable, Iterator


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a table and an empty one after it; a ``|`` within a cell is escaped."""
    heads = tuple(heads)
    yield _row(heads)
    yield f"|{'---|' * len(heads)}"
    yield from map(_row, rows)
    yield ""


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
