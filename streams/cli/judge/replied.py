"""The replies of several rounds, read from their files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from streams.cli.lines import Complaints, read
from streams.judging.batches.replies import Replies, ReplyLine


def read_replies(paths: Sequence[Path], complaints: Sequence[Complaints], *, give_up: bool) -> Replies:
    """Read the replies of all files in their order, and complain about bad lines.

    Raises:
        CommandFailed: a file cannot be read.
    """
    replies = Replies(give_up=give_up)
    for path, about in zip(paths, complaints, strict=True):
        for _, line in about.without_bad(read(path, ReplyLine)):
            replies.add(line)
    return replies
