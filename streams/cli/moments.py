"""Moments of time as people give them to commands: a time, or how long ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

import typer

_AGO: Final = re.compile(r"(\d{1,6}) ?([smhdw])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment(told: str | datetime) -> datetime:
    """Read a moment: ``2026-03-02T09:15``, where the reader is or with a zone; or ``30m``, ``2h``, ``3d``.

    Returns:
        An aware time; for what is so long ago the present less that.

    Raises:
        typer.BadParameter: it is neither, or lies beyond what a time can be.
    """
    if isinstance(told, datetime):  # typer asks again for what it has read
        return told
    try:
        if ago := _AGO.fullmatch(told.strip()):
            return datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        return datetime.fromisoformat(told).astimezone()
    except (ValueError, OverflowError, OSError):
        raise typer.BadParameter(
            f"{told!r} is no time: such as 2026-03-02, 2026-03-02T09:15+01:00, or 30m, 2h, 3d for so long ago"
        ) from None


Since = Annotated[
    datetime | None,
    typer.Option(
        parser=moment, metavar="TIME", help="Judged at that time or later: 2026-03-02T09:15, or 2h, 3d ago."
    ),
]

Until = Annotated[
    datetime | None,
    typer.Option(
        parser=moment, metavar="TIME", help="Judged before that time; ends when all these are shown."
    ),
]
