"""Documents that answers name and that are not there: which answers, and how many."""

from __future__ import annotations

from schemas.records import Verdict
from scoring.values.reasons import Reason
from streams.cli.exits import ExitCode
from streams.cli.lines import numbered
from streams.cli.output import plural, say


class MissingDocuments:
    """Takes the verdicts of one file in, and tells which of its answers name documents that are not there.

    Args:
        source: the file, as it is named.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._lines: list[int] = []
        self._example = ""

    def see(self, number: int, verdict: Verdict) -> None:
        """Take in what became of the answer of a line: its number from 1."""
        if missing := verdict.missing_context_ids:
            self._lines.append(number)
            self._example = self._example or missing[0]

    def tell(self) -> None:
        """Say how many answers there are and where, if any."""
        if self._lines:
            count, lines = plural(len(self._lines), "answer"), numbered(self._lines)
            say(
                f"{self._source}: {count} with documents that are not there, such as {self._example} "
                f"({lines}): degraded {Reason.CONTEXT_MISSING}"
            )

    @property
    def exit_code(self) -> ExitCode:
        """How the command ends: such answers are held, since what they rest on could not be looked at."""
        return ExitCode.BAD_INPUT if self._lines else ExitCode.DONE
