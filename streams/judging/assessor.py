"""What the worker asks of an assessor, and the assessment where there is none."""

from __future__ import annotations

from typing import Protocol

from scoring.language import stated_language
from scoring.values.assessment import Assessment
from scoring.values.reasons import Reason
from scoring.values.types import Exchange, MessageType


class Assessor(Protocol):
    """Whoever assesses an exchange: the pool of scoring processes, or a stand-in that measures nothing."""

    async def assess(self, exchange: Exchange, degraded: tuple[str, ...]) -> Assessment:
        """Assess one exchange; ``degraded`` are the codes of what is already known to be missing.

        Raises:
            TimeoutError: the scorer took longer than one answer may.
            BadAnswer: the scorer failed on this answer.
            InfrastructureFailure: there is no scorer any more.
        """


class ScoringOff:
    """Measures nothing: every answer is degraded ``scoring_disabled``, which holds it for review."""

    def __init__(self, profile: str) -> None:
        self._profile = profile

    async def assess(self, exchange: Exchange, degraded: tuple[str, ...]) -> Assessment:
        """Leave the answer without a score."""
        return unassessed(self._profile, exchange.language, (Reason.SCORING_DISABLED, *degraded))


def unassessed(profile: str, language: str | None, degraded: tuple[str, ...]) -> Assessment:
    """Return the assessment of an answer that nobody could assess: no score.

    ``language`` is what the sender stated; anything but a language code is left out.
    """
    return Assessment(
        None, MessageType.UNSPECIFIED, stated_language(language), degraded=degraded, profile=profile
    )
