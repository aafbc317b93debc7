"""A table in Markdown."""

from collections.abc import Iterable, Iterator


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Give the lines of a table, with an empty one behind it; a ``|`` within a cell is no border."""
    heads = tuple(heads)
    yield _row(heads)
    yield f"|{'---|' * len(heads)}"
    yield from map(_row, rows)
    yield ""


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
