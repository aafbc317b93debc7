"""A language model's opinion on one answer."""

from dataclasses import dataclass, field
from enum import StrEnum

from scoring.values.exchange import MAX_SCORE, MIN_SCORE, Evidence


class Label(StrEnum):
    """A judge's verdict on an answer (paper 002, section 3.2)."""

    TRUE = "TRUE"
    FALSE = "FALSE"
    #: The answer declines, or does not address the question.
    NOT_GIVEN = "NOT_GIVEN"


class Mistake(StrEnum):
    """A kind of mistake, a stable code; also the kind of the evidence for it.

    The first three are from paper 004, section III-G. Contradiction, order and off-context are heuristics of
    paper 000, section IV-C. Numbers and entities are checked by the metrics of paper 003, section 4.2.6.
    """

    TERMINOLOGY = "terminology"
    HALLUCINATION = "hallucination"
    COMMON_SENSE = "common_sense"
    CONTRADICTION = "contradiction"
    NUMBER = "number"
    ORDER = "order"
    ENTITY = "entity"
    OFF_CONTEXT = "off_context"


class UnsureReason(StrEnum):
    """Why an opinion has no label: a stable code."""

    #: The endpoint was unreachable or too slow, or its budget was spent.
    NO_REPLY = "no_reply"
    #: The model or its content filter declined.
    REFUSED = "refused"
    #: The reply reached its token limit.
    CUT_OFF = "cut_off"
    EMPTY = "empty"
    #: Neither the reply nor its repair had the requested form.
    MALFORMED = "malformed"
    #: Judges or samples are tied between labels.
    DISAGREEMENT = "disagreement"
    #: There is nothing to compare the answer with.
    NO_REFERENCE = "no_reference"
    #: Question and answer exceed the judge's limit.
    TOO_LONG = "too_long"
    #: The method measures something else, such as relevance.
    TRUTH_NOT_JUDGED = "truth_not_judged"


_UNREADABLE = frozenset({UnsureReason.CUT_OFF, UnsureReason.EMPTY, UnsureReason.MALFORMED})


@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of an opinion: requests, tokens, and seconds waited (the longest of parallel replies)."""

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Opinion:
    """A judging method's opinion on one answer.

    There is either a label or the reason why not, ``unsure``; then ``confidence`` is 0 and ``score`` None.
    ``score`` is in [1, 5], on the scale of the ratings. ``confidence`` is in [0, 1]; its meaning differs by
    method. ``consistency`` and ``relevance`` (paper 004, section I) are in [0, 1], None where the method does
    not measure them. ``wrong`` are spans of the answer by kind of mistake, and ``mistakes`` all kinds, with
    or without a span. ``shortened``: the documents were too long, and only the most relevant passages were
    read.

    Raises:
        ValueError: the fields contradict each other.
    """

    method: str
    models: tuple[str, ...]
    prompt_version: str
    label: Label | None
    confidence: float
    score: float | None = None
    consistency: float | None = None
    relevance: float | None = None
    wrong: tuple[Evidence, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    unsure: UnsureReason | None = None
    shortened: bool = False
    usage: Usage = field(default=Usage())

    def __post_init__(self) -> None:
        """Check that fields agree: nothing may be confident without a label."""
        if (self.label is None) is (self.unsure is None):
            raise ValueError("an opinion has either a label or a reason why not")
        if self.label is None and (self.confidence or self.score is not None):
            raise ValueError("without a label there is neither confidence nor score")
        if not 0 <= self.confidence <= 1:
            raise ValueError("a confidence must be from 0 to 1")
        if self.score is not None and not MIN_SCORE <= self.score <= MAX_SCORE:
            raise ValueError("a score must be from 1 to 5")

    @property
    def is_malformed(self) -> bool:
        """Whether there is no label because a reply was empty, cut off, or not of the requested form."""
        return self.unsure in _UNREADABLE
