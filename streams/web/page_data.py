"""Verdicts, rates and alerts as the page shows them.

Times are milliseconds since 1970, rates are shares of 0 to 1.
"""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from schemas.records import RateAlert, VerdictClaim, VerdictOpinion
from scoring.policy import Policy
from streams.explaining.explanation import Explanation, ReasonExplanation
from streams.pause.pause_state import PauseState
from streams.rates.verdict_counts import to_epoch_ms

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

V = TypeVar("V", bound="DataclassInstance")

ALL = "all"
"""The series of all message types together."""

SourceState = Literal["off", "starting", "reading", "live", "failed"]


def from_attributes(kind: type[V], source: object, **others: Any) -> V:
    """Return a view of a value: it has what the value calls the same, and ``others``."""
    same = (each.name for each in fields(kind) if each.name not in others)
    return kind(**{name: getattr(source, name) for name in same}, **others)


@dataclass(frozen=True, slots=True)
class RatePoint:
    """One window of one series; ``rate`` is None where no answer of it had a score.

    ``untrue`` of the ``scored`` answers were judged untrue; ``low`` and ``high`` are the 95% bounds
    of the rate. A window that is not ``final`` may still change; ``late`` answers came after that.
    ``faithfulness`` is the mean of the ``faithfulness_answers`` that have one, None where there are none.
    """

    end: int
    answers: int
    scored: int
    untrue: int
    sent: int
    review: int
    blocked: int
    rate: float | None
    low: float
    high: float
    late: int
    final: bool
    faithfulness: float | None
    faithfulness_answers: int


@dataclass(frozen=True, slots=True)
class Threshold:
    """An alert fires when the lower bound of the rate reaches ``rate``, given enough scored answers."""

    name: str
    rate: float
    minimum_answers: int
    severity: str


@dataclass(frozen=True, slots=True)
class RateSeries:
    """The windows of one message type (``all`` for all of them), oldest first."""

    message_type: str
    points: tuple[RatePoint, ...]
    thresholds: tuple[Threshold, ...]


@dataclass(frozen=True, slots=True)
class WindowChoice:
    """A window size that the page offers; a new window begins every ``hop`` seconds."""

    size: int
    hop: int


@dataclass(frozen=True, slots=True)
class FiringAlert:
    """A threshold that is crossed, since ``since``; ``message_type`` and ``language`` None are all."""

    name: str
    severity: str
    message_type: str | None
    language: str | None
    window: int
    threshold: float
    rate: float
    low: float
    scored: int
    since: int


@dataclass(frozen=True, slots=True)
class PauseSummary:
    """A pause in force; ``message_type`` and ``language`` None cover all answers.

    ``since``, ``by`` and ``reason`` are None for a pause by the settings.
    """

    message_type: str | None
    language: str | None
    since: int | None = None
    by: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class SendingStatus:
    """The pauses; if they are not ``known``, the worker sends nothing."""

    known: bool
    pauses: tuple[PauseSummary, ...]


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """The state of the data source; ``problem`` says in a sentence why no data arrives."""

    state: SourceState
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class LivePage:
    """Everything on the page except the last answers, which it requests when ``answers`` changes.

    ``worker`` says what the worker itself waits for or suffers from, or None; ``sending`` what it does not
    send. ``end`` is the end of the newest window, None where there is none yet. ``desk`` is the review
    desk's address, if it is set.
    """

    now: int
    version: str
    desk: str | None
    source: SourceStatus
    worker: str | None
    sending: SendingStatus
    windows: tuple[WindowChoice, ...]
    window: int
    languages: tuple[str, ...]
    language: str | None
    end: int | None
    series: tuple[RateSeries, ...]
    alerts: tuple[FiringAlert, ...]
    answers: int


@dataclass(frozen=True, slots=True)
class EvidenceCount:
    """The number of spans of one kind; those ``at_fault`` are evidence against the answer."""

    kind: str
    count: int
    at_fault: bool


@dataclass(frozen=True, slots=True)
class ClaimCount:
    """The number of claims of an answer with one status."""

    status: str
    count: int


@dataclass(frozen=True, slots=True)
class AnswerSegment:
    """A segment of an answer, with the kinds of evidence that cover it.

    ``claim`` is the place of its claim among those of the excerpt, None where it is of none, and ``strong``
    whether Markdown stresses it.
    """

    text: str
    kinds: tuple[str, ...] = ()
    at_fault: bool = False
    claim: int | None = None
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Excerpt:
    """An answer in segments, truncated if it is long, with its claims and its question."""

    question: str
    answer: tuple[AnswerSegment, ...]
    cut_before: bool
    cut_after: bool
    claims: tuple[VerdictClaim, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerSummary:
    """One answer; ``excerpt`` only where texts are switched on.

    ``reasons`` has what could not be checked, too. ``claims`` and ``faithfulness`` are empty and None where
    no claims were checked.
    """

    verdict_id: str
    answer_id: str
    decision: str
    scored_at: int
    message_type: str
    language: str | None
    score: float | None
    reasons: tuple[ReasonExplanation, ...]
    evidence: tuple[EvidenceCount, ...]
    opinions: tuple[VerdictOpinion, ...]
    documents: tuple[str, ...]
    claims: tuple[ClaimCount, ...]
    faithfulness: float | None
    excerpt: Excerpt | None


@dataclass(frozen=True, slots=True)
class FilterChoices:
    """The values that the stored answers can be filtered by, sorted; ``und`` is an unknown language."""

    message_types: tuple[str, ...]
    languages: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerList:
    """The last answers that match a query, newest first; ``matching`` is how many there are in all.

    ``texts``: whether texts may be shown.
    """

    number: int
    texts: bool
    matching: int
    choices: FilterChoices
    answers: tuple[AnswerSummary, ...]


@dataclass(frozen=True, slots=True)
class VerdictDetails:
    """Everything about one verdict, with long lists and texts truncated, and texts only if they may be shown.

    The answer is in ``excerpt``.
    """

    texts: bool
    explanation: Explanation
    excerpt: Excerpt | None


def sending_status(policy: Policy, pause_state: PauseState) -> SendingStatus:
    """Return the pauses in force, those of the settings first."""
    own = (PauseSummary(each.message_type, each.language) for each in sorted(policy.paused_scopes, key=str))
    records = (entry.record for entry in pause_state.active if entry.record)
    operators = (from_attributes(PauseSummary, each, since=to_epoch_ms(each.at)) for each in records)
    return SendingStatus(pause_state.known, (*own, *operators))


_MAX_ALERTS: Final = 500
_FIRING: Final = "firing"


class FiringAlerts:
    """The alerts whose last record says that they fire."""

    def __init__(self) -> None:
        self._firing: dict[tuple[str, str | None, str | None], FiringAlert] = {}

    def add(self, alert: RateAlert) -> None:
        """Add a record; the last one of a name, message type and language counts."""
        key = alert.alert, alert.message_type, alert.language
        self._firing.pop(key, None)
        if alert.status == _FIRING and len(self._firing) < _MAX_ALERTS:
            self._firing[key] = from_attributes(
                FiringAlert,
                alert,
                name=alert.alert,
                window=(to_epoch_ms(alert.window_end) - to_epoch_ms(alert.window_start)) // 1000,
                low=alert.rate_low,
                since=to_epoch_ms(alert.since),
            )

    @property
    def firing(self) -> tuple[FiringAlert, ...]:
        """The firing alerts, newest first."""
        return tuple(sorted(self._firing.values(), key=lambda each: (-each.since, each.name)))
