"""The policy: from what was measured of an answer, and what judges say of it, to a decision."""

from scoring.policy.policy import Doubt, Policy, with_judges
from scoring.policy.thresholds import NO_HOLDS, Holds, Override, Scope

__all__ = ["NO_HOLDS", "Doubt", "Holds", "Override", "Policy", "Scope", "with_judges"]
