"""The policy: from a scored answer, and the opinions of judges, to a decision."""

from scoring.policy.certificates import SETTINGS_POLICY, ActivePolicy
from scoring.policy.policy import UNDECIDABLE, Doubt, Policy, decide_with_opinion
from scoring.policy.thresholds import NO_PAUSES, Override, Pauses, PauseScope

__all__ = [
    "NO_PAUSES",
    "SETTINGS_POLICY",
    "UNDECIDABLE",
    "ActivePolicy",
    "Doubt",
    "Override",
    "PauseScope",
    "Pauses",
    "Policy",
    "decide_with_opinion",
]
