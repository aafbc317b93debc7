"""What is held now, as commands show it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from rich.table import Table
from rich.text import Text

from schemas.records import rfc3339
from scoring.policy import Policy, Scope
from streams.cli.output import printable
from streams.cli.reading import open_topics
from streams.holds.board import Entry, HoldBoard
from streams.holds.told import in_words
from streams.kafka.topic_reader import Offsets
from streams.kafka.topics import Topics
from streams.settings import Settings


async def held_now(settings: Settings) -> tuple[Entry, ...]:
    """Read what operators hold now; raises as :func:`open_topics` does."""
    held, _ = await held_until(settings)
    return held


async def held_until(settings: Settings) -> tuple[tuple[Entry, ...], Offsets]:
    """Read what operators hold now, and where what changes it begins; raises as :func:`open_topics` does."""
    board, topic = HoldBoard(), Topics(settings.kafka.topic_prefix).controls
    async with open_topics(settings.kafka, topic, isolation_level="read_uncommitted") as (reader, log):
        async for records in reader.between(log.begins, log.ends):
            board.take_in(records)
    return board.held, log.ends


def name(entry: Entry) -> str:
    """Name what a record holds: which answers, or where it stands that cannot be read."""
    return in_words(entry.scope) if entry.scope else f"everything, by an unreadable record at {_place(entry)}"


def sentence(entry: Entry) -> str:
    """Say what a record holds or lets go, since when, who says so and why."""
    if entry.error:
        return f"nothing is sent: the record of the holds at {_place(entry)} cannot be read ({entry.error})"
    if (said := entry.hold) is None:
        return f"the record of the holds at {_place(entry)} takes away what was under its key"
    what = "sending goes on" if entry.resumed else "sending is held"
    return f"{what}: {name(entry)}, since {_moment(said.at)} by {said.by}: {said.reason}"


def described(policy: Policy, held: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    """Describe what the settings hold, and after it what operators do, as values of JSON."""
    for scope in _own(policy):
        yield {"source": "settings", "message_type": scope.message_type, "language": scope.language}
    for entry in held:
        if said := entry.hold:
            of = {"message_type": said.message_type, "language": said.language}
            told = {"since": rfc3339(said.at), "by": said.by, "reason": said.reason}
            yield {"source": "operator", **of, **told}
        else:
            yield {"source": "unreadable", "at": _place(entry), "error": entry.error}


def table(policy: Policy, held: Iterable[Entry]) -> Table:
    """Lay out the same for people."""
    laid_out = Table("held", "since", "by", "why", box=None, pad_edge=False)
    for scope in _own(policy):
        laid_out.add_row(in_words(scope), "", "the settings", "policy.hold")
    for entry in held:
        said = entry.hold
        cells = (_moment(said.at), said.by, said.reason) if said else ("", "", entry.error or "")
        laid_out.add_row(name(entry), *(Text(printable(cell)) for cell in cells))
    return laid_out


def _own(policy: Policy) -> list[Scope]:
    return sorted(policy.held, key=in_words)


def _moment(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S}"


def _place(entry: Entry) -> str:
    return f"{entry.partition}:{entry.offset}"
