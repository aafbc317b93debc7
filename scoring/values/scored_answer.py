"""The scorer's word on one answer: everything that a policy decides on, and nothing decided."""

from dataclasses import dataclass, field

from scoring.values.checked_claims import CheckedClaim
from scoring.values.exchange import Decision, FeatureValue, MessageType, RefusalKind
from scoring.values.rules import Reason, Rule
from scoring.values.version import SCORER_VERSION


@dataclass(frozen=True, slots=True)
class CacheUse:
    """How many documents of an exchange had been prepared before, and how many had not.

    ``hits`` were in the memory of the process, ``disk_hits`` in the file that it shares with others, and
    ``misses`` in neither. ``failures`` are names of what went wrong with that file, such as ``SQLITE_FULL``.
    """

    hits: int = 0
    misses: int = 0
    disk_hits: int = 0
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Timing:
    """When a part of the work began and ended, in nanoseconds since 1970."""

    name: str
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """What was measured of one answer.

    ``score`` is in [1, 5], or None when there is no score; ``because`` is the rule that set it or what kept
    it from being set, None where it is a plain mean. ``degraded`` are the codes of what could not be checked.
    ``language`` is an ISO 639-1 code, None where it is not known. ``claims`` are those of the answer in
    order; ``support`` and ``contradiction``, in [0, 1], say how far the documents have what it says and how
    surely they say something else. A profile that checks no claims has none of the three. ``documents`` and
    ``timings`` are notes for those who watch, no part of the assessment: they take no part in ``==``.
    """

    score: float | None
    message_type: MessageType
    language: str | None
    reason: Reason | Rule | None = None
    degraded: tuple[str, ...] = ()
    refusal: RefusalKind = RefusalKind.NONE
    features: tuple[FeatureValue, ...] = ()
    translated: bool = False
    claims: tuple[CheckedClaim, ...] = ()
    support: float | None = None
    contradiction: float | None = None
    profile: str = ""
    scorer_version: str = SCORER_VERSION
    cache_use: CacheUse = field(default=CacheUse(), compare=False)
    timings: tuple[Timing, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class PolicyDecision:
    """What a policy makes of an assessment: ``reasons`` are stable codes, the deciding one first."""

    decision: Decision
    reasons: tuple[str, ...]
    policy_version: str
