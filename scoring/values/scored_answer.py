"""The scorer's output: measurements of one answer, on which a policy decides."""

from dataclasses import dataclass, field

from scoring.values.checked_claims import CheckedClaim
from scoring.values.exchange import Decision, FeatureValue, MessageType, RefusalKind
from scoring.values.rules import Reason, Rule

#: Carried by every score and verdict; equal to the version in pyproject.toml (a test compares them), since
#: package metadata is absent when run from source.
SCORER_VERSION = "0.1.0"


@dataclass(frozen=True, slots=True)
class CacheUse:
    """How many documents of an exchange were already prepared.

    ``hits`` were in the memory of the process, ``disk_hits`` in the file that processes share, ``misses`` in
    neither. ``failures`` are error names of that file, such as ``SQLITE_FULL``.
    """

    hits: int = 0
    misses: int = 0
    disk_hits: int = 0
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Timing:
    """Start and end of a stage, in nanoseconds since 1970."""

    name: str
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """What was measured of one answer.

    ``score``: in [1, 5], or None. ``reason``: the rule that set the score, or why there is none; None for a
    plain mean. ``degraded``: codes of what could not be checked. ``language``: an ISO 639-1 code, if known.
    ``claims``: in the order of the answer. ``support`` and ``contradiction``: how far the documents have what
    the answer says, and how strongly they contradict it, in [0, 1]. All three are empty for a profile that
    does not check claims. ``is_standalone``: the question means the same without the conversation before it,
    so far as its words tell. ``cache_use`` and ``timings`` are telemetry and take no part in ``==``.
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
    is_standalone: bool = False
    profile: str = ""
    scorer_version: str = SCORER_VERSION
    cache_use: CacheUse = field(default=CacheUse(), compare=False)
    timings: tuple[Timing, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class PolicyDecision:
    """A policy's decision; ``reasons`` are stable codes, the deciding one first."""

    decision: Decision
    reasons: tuple[str, ...]
    policy_version: str
