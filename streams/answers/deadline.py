"""The time in which an answer is to be judged, and how its stages share it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from streams.translating.opening import FILE_PATIENCE_SECONDS


@dataclass(frozen=True, slots=True)
class Deadline:
    """The moment of the event loop's clock by which an answer must be judged, and how the time is shared.

    ``at`` is None where nobody waits, as for a file: only what hangs is given up then. ``documents`` is how
    many seconds an answer waits for documents that it names.
    """

    at: float | None
    documents: float = 0.0

    def for_documents(self) -> float:
        """Return how long to wait for documents that the answer names."""
        return min(self.documents, self._remaining())

    def for_service(self) -> float:
        """Return how long one service may take: a search, the translation, or the judges together.

        It is half of what is left: what comes too late to be judged is of no use, and the time of those
        behind the answer in its conversation is running too.
        """
        return FILE_PATIENCE_SECONDS if self.at is None else self._remaining() / 2

    def for_assessment(self) -> float | None:
        """Return how long translation and assessment may take together; None without a limit here."""
        return None if self.at is None else self._remaining()

    def _remaining(self) -> float:
        return 0.0 if self.at is None else max(0.0, self.at - asyncio.get_running_loop().time())
