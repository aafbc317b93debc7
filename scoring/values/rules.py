"""A rule of a feature: what follows for an answer from evidence that the feature gives."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from scoring.values.claims import ClaimStatus


class Severity(StrEnum):
    """What becomes of an answer by a rule, whatever the thresholds: the first two set its score to 1."""

    BLOCKS = "blocks"
    #: For a rule that takes too many true answers for untrue: a person decides.
    HOLDS = "holds"
    #: The only one that sets the score to 5.
    SENDS = "sends"


@dataclass(frozen=True, slots=True)
class Rule:
    """What follows from evidence, with the reason that a verdict then has.

    ``reason`` is a stable code, and ``description`` says in one sentence what it means. ``contradiction``, in
    [0, 1], is how surely its evidence speaks against the answer: about the share of untrue answers among
    those where it is found. A claim with such evidence has ``status``, and ``mistake`` as the kind of its
    mistake (paper, Table II); None where the evidence is of no claim.
    """

    reason: str
    description: str
    severity: Severity
    contradiction: float = 0.0
    status: ClaimStatus | None = None
    mistake: str | None = None

    def __str__(self) -> str:
        """Return the code of the reason."""
        return self.reason

    @property
    def marks_fault(self) -> bool:
        """Whether its evidence shows what is wrong, and not what was recognised."""
        return self.severity is not Severity.SENDS


#: Kinds of evidence, stable codes, each with the rule that follows from it, None where none does.
Kinds = tuple[tuple[str, Rule | None], ...]
