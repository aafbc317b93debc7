"""A release after this one, made for tests: its verdicts have a field more.

``python -m tests.support.newer_release worker`` is its command, ``NewerWorker`` a process of it.
"""

import sys

from schemas import Verdict, catalogue
from streams.cli import main
from tests.support.releases import later_schema
from tests.support.workers import Worker

NEWER_VERDICT = later_schema(Verdict, default="of a newer release", doc="What this release does not have.")


class NewerWorker(Worker):
    """A worker of the newer release."""

    def _command(self) -> list[str]:
        return [sys.executable, "-m", "tests.support.newer_release", "worker"]


def become_newer() -> None:
    """Write and read verdicts with the newer schema in this process."""
    catalogue._CURRENT[Verdict] = NEWER_VERDICT


if __name__ == "__main__":
    become_newer()
    sys.exit(main())
