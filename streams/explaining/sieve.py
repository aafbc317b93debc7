"""Which verdicts somebody wants to see, for all who show verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from schemas.records import Verdict
from scoring.language import UNDETERMINED


def language_of(verdict: Verdict) -> str:
    """Return the language that a verdict is found by: in lower case, ``und`` where it is not known."""
    return (verdict.language or UNDETERMINED).lower()


def codes_of(verdict: Verdict) -> tuple[str, ...]:
    """Return the reasons of a verdict, and after them what could not be checked, each once."""
    return tuple(dict.fromkeys((*verdict.reasons, *verdict.degraded)))


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

    def passes(self, verdict: Verdict) -> bool:
        """Say whether a verdict is wanted."""
        return (
            _named(verdict.decision, self.decisions)
            and _named(verdict.message_type, self.message_types)
            and _named(language_of(verdict), self.languages)
            and not (self.reasons and self.reasons.isdisjoint(codes_of(verdict)))
            and not (self.documents and self.documents.isdisjoint(verdict.context_ids))
            and (self.since is None or self.since <= verdict.scored_at)
            and (self.until is None or verdict.scored_at < self.until)
            and self._scored(verdict.score)
        )

    def _scored(self, score: float | None) -> bool:
        if score is None:
            return self.lowest is None and self.highest is None
        return (self.lowest is None or self.lowest <= score) and (
            self.highest is None or score <= self.highest
        )


def _named(value: str, names: frozenset[str]) -> bool:
    return not names or value in names
