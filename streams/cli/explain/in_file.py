"""The verdicts on one answer in a file of verdicts, as ``truthgate score`` and ``tail --json`` write them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from schemas import Verdict
from streams.cli.lines import Complaints, read
from streams.explaining.explanation import Found, Place


def verdicts_in(path: Path, wanted: str, since: datetime | None, complaints: Complaints) -> list[Found]:
    """Find the verdicts whose answer or verdict has this id, in their order; bad lines are complained about.

    Raises:
        CommandFailed: the file cannot be read.
    """
    return [
        Found(verdict, Place(file=str(path), line=number))
        for number, verdict in complaints.without_bad(read(path, Verdict))
        if wanted in {verdict.answer_id, verdict.verdict_id} and (since is None or since <= verdict.scored_at)
    ]
