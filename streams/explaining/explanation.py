"""The values of an explanation: a verdict, and what its record does not say of itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from schemas.records import Verdict
from scoring.policy.thresholds import Thresholds


@dataclass(frozen=True, slots=True)
class Place:
    """Where a verdict stands: in a topic with ``partition`` and ``offset``, or in a file with its ``line``.

    Lines are counted from 1.
    """

    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        """Write ``verdicts.review 0:12``, or ``verdicts.jsonl, line 3``."""
        if self.topic is not None:
            return f"{self.topic} {self.partition}:{self.offset}"
        return f"{self.file}, line {self.line}"


@dataclass(frozen=True, slots=True)
class Found:
    """A verdict as it was found. ``written_at`` is its record's time, aware; ``trace_id`` is hexadecimal."""

    verdict: Verdict
    place: Place | None = None
    written_at: datetime | None = None
    trace_id: str | None = None


@dataclass(frozen=True, slots=True)
class Repeat:
    """Another verdict on the same answer; ``differs`` names the fields that differ, but for the time."""

    place: Place | None
    written_at: datetime | None
    scored_at: datetime
    decision: str
    reasons: tuple[str, ...]
    score: float | None
    differs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReasonTold:
    """Why an answer was sent, held or blocked: a code, what it means, and what to do; empty if not known."""

    code: str
    meaning: str
    to_do: str


class Part(StrEnum):
    """What a rule had to do with the verdict."""

    #: The decision is that of the rule.
    DECIDED = "decided"
    #: The rule set the score, or is named among the reasons, and something else decided.
    NAMED = "named"
    #: Another rule came first, or spoke against it.
    OUTWEIGHED = "outweighed"


@dataclass(frozen=True, slots=True)
class RuleTold:
    """A rule whose evidence was found: ``severity`` is blocks, holds or sends.

    ``contradiction``, in [0, 1], is how surely it speaks against the answer; ``kinds`` are those of the
    evidence, and ``features`` gave it.
    """

    reason: str
    meaning: str
    severity: str
    part: Part
    contradiction: float
    kinds: tuple[str, ...]
    features: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FeatureTold:
    """What a feature measures, in a sentence, and the rules that its evidence led to, by their reasons."""

    name: str
    meaning: str
    rules: tuple[str, ...]


class MadeBy(StrEnum):
    """What a score was made of."""

    #: How far the documents have what the answer says: the lower of the two.
    SUPPORT = "support"
    #: How surely they say something else: the lower of the two.
    CONTRADICTION = "contradiction"
    RULE = "rule"
    #: All applicable features with equal weights.
    MEAN = "mean"
    #: Another release made it in another way.
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ScoreTold:
    """A score in [1, 5] and where it comes from, both None where there is none.

    ``of_support`` and ``of_contradiction`` are the scores that each would give alone, as far as they are
    known.
    """

    value: float | None
    made_by: MadeBy | None
    of_support: float | None
    of_contradiction: float | None


@dataclass(frozen=True, slots=True)
class PolicyTold:
    """The policy that decided; ``thresholds`` are those for such answers, None where it is not at hand."""

    version: str
    thresholds: Thresholds | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything about one verdict.

    ``reasons`` has what could not be checked, too. ``claims`` counts those of each status. ``seconds`` is how
    long after the answer it came, below 0 where clocks disagree. ``repeats`` are other verdicts on the same
    answer, the first of them first.
    """

    verdict: Verdict
    place: Place | None
    written_at: datetime | None
    trace_id: str | None
    reasons: tuple[ReasonTold, ...]
    rules: tuple[RuleTold, ...]
    features: tuple[FeatureTold, ...]
    score: ScoreTold
    policy: PolicyTold
    seconds: float
    repeats: tuple[Repeat, ...] = ()
