"""The way of an answer without a broker: from records to verdicts, the documents all given."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from schemas.records import ChatbotAnswer, Verdict
from streams.answers.way import Way
from streams.translating.opening import FILE_PATIENCE_SECONDS


class FilePatience:
    """Nobody waits for a file as for a chat: only what hangs is given up."""

    def for_documents(self) -> float:
        """Return 0: what is not among the given documents will not come."""
        return 0.0

    def for_service(self) -> float:
        """Return how long one search or translation may take."""
        return FILE_PATIENCE_SECONDS

    def for_judges(self) -> float:
        """Return how long the judges of one answer may take together."""
        return FILE_PATIENCE_SECONDS

    def for_assessment(self) -> None:
        """Set no limit: the assessor has one of its own."""


_PATIENCE = FilePatience()


@dataclass(frozen=True, slots=True)
class OfflineAnswers:
    """Judges answers of a file; ``scored_at`` is the time that all verdicts carry, to compare runs."""

    way: Way
    scored_at: datetime

    async def verdict(self, answer: ChatbotAnswer) -> Verdict:
        """Judge one answer; raises as :meth:`Way.verdict` does."""
        return await self.way.verdict(answer, _PATIENCE, lambda: self.scored_at)
