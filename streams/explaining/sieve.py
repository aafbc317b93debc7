"""Which verdicts somebody wants to see, for all who show verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from schemas.records import Verdict
from scoring.language import UNDETERMINED


@dataclass(frozen=True, slots=True)
class Marks:
    """What a verdict is found by, without its texts; ``language`` in lower case, ``und`` where not known."""

    decision: str
    message_type: str
    language: str
    reasons: tuple[str, ...]
    documents: frozenset[str]
    score: float | None
    scored_at: datetime

    @classmethod
    def of(cls, verdict: Verdict) -> Self:
        """Take the marks of a verdict; what could not be checked of it is among its reasons."""
        return cls(
            decision=verdict.decision,
            message_type=verdict.message_type,
            language=(verdict.language or UNDETERMINED).lower(),
            reasons=tuple(dict.fromkeys((*verdict.reasons, *verdict.degraded))),
            documents=frozenset(verdict.context_ids),
            score=verdict.score,
            scored_at=verdict.scored_at,
        )


@dataclass(frozen=True, slots=True)
class Sieve:
    """Lets those verdicts through that have one of each kind that is named; a kind without names lets all.

    Languages are in lower case. ``since`` is included and ``until`` is not; both are aware, and of the time
    when an answer was judged. ``lowest`` and ``highest``, in [1, 5], are included; with either of them a
    verdict needs a score.
    """

    decisions: frozenset[str] = frozenset()
    message_types: frozenset[str] = frozenset()
    languages: frozenset[str] = frozenset()
    reasons: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()
    since: datetime | None = None
    until: datetime | None = None
    lowest: float | None = None
    highest: float | None = None

    def passes(self, marks: Marks) -> bool:
        """Say whether a verdict with these marks is wanted."""
        return (
            _named(marks.decision, self.decisions)
            and _named(marks.message_type, self.message_types)
            and _named(marks.language, self.languages)
            and not (self.reasons and self.reasons.isdisjoint(marks.reasons))
            and not (self.documents and self.documents.isdisjoint(marks.documents))
            and (self.since is None or self.since <= marks.scored_at)
            and (self.until is None or marks.scored_at < self.until)
            and self._scored(marks.score)
        )

    def _scored(self, score: float | None) -> bool:
        if self.lowest is None and self.highest is None:
            return True
        if score is None:
            return False
        return (self.lowest is None or self.lowest <= score) and (
            self.highest is None or score <= self.highest
        )


def _named(value: str, names: frozenset[str]) -> bool:
    return not names or value in names
