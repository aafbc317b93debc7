"""Who judges: what the worker asks of a judge, and the judgement where there is none."""

from __future__ import annotations

from typing import Protocol

from scoring.language import stated_language
from scoring.policy import Assessment, Policy
from scoring.values.reasons import Reason
from scoring.values.types import Exchange, Judgement, MessageType
from scoring.values.version import SCORER_VERSION


class Judge(Protocol):
    """Whoever judges an exchange: the pool of scoring processes, or a stand-in that judges nothing."""

    async def judge(self, exchange: Exchange, degraded: tuple[str, ...]) -> Judgement:
        """Judge one exchange; ``degraded`` are the codes of what is already known to be missing.

        Raises:
            TimeoutError: the scorer took longer than one answer may.
            BadAnswer: the scorer failed on this answer.
            InfrastructureFailure: there is no scorer any more.
        """
        ...


class ScoringOff:
    """Judges nothing: every answer is held for review, degraded ``scoring_disabled``."""

    def __init__(self, policy: Policy, profile: str) -> None:
        self._policy = policy
        self._profile = profile

    async def judge(self, exchange: Exchange, degraded: tuple[str, ...]) -> Judgement:
        """Hold the answer for review."""
        codes = (Reason.SCORING_DISABLED, *degraded)
        return unjudged(self._policy, self._profile, exchange.language, codes)


def unjudged(policy: Policy, profile: str, language: str | None, degraded: tuple[str, ...]) -> Judgement:
    """Return the judgement on an answer that nobody could judge: no score, held for review.

    ``language`` is what the sender stated; anything but a language code is left out.
    """
    assessment = Assessment(None, MessageType.UNSPECIFIED, language, None, degraded)
    decision, reasons = policy.decide(assessment)
    return Judgement(
        decision=decision,
        reasons=reasons,
        score=None,
        profile=profile,
        message_type=MessageType.UNSPECIFIED,
        language=stated_language(language),
        translated=False,
        features=(),
        policy_version=policy.identity,
        scorer_version=SCORER_VERSION,
        degraded=degraded,
    )
