"""The way of an answer without a broker: from records to verdicts, the documents all given."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from schemas.records import ChatbotAnswer, Verdict
from streams.answers.deadline import Deadline
from streams.answers.way import Pipeline


@dataclass(frozen=True, slots=True)
class OfflineAnswers:
    """Judges answers of a file; ``scored_at`` is the time that all verdicts carry, to compare runs."""

    way: Pipeline
    scored_at: datetime

    async def verdict(self, answer: ChatbotAnswer) -> Verdict:
        """Judge one answer; raises as :meth:`Pipeline.verdict` does."""
        return await self.way.verdict(answer, Deadline(None), lambda: self.scored_at)
