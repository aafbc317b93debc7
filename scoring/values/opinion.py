"""The opinion of a language model on one answer: everything that a policy needs of it."""

from dataclasses import dataclass, field
from enum import StrEnum

from scoring.values.exchange import MAX_SCORE, MIN_SCORE, Evidence


class Label(StrEnum):
    """What an answer is (paper 002, section 3.2)."""

    TRUE = "TRUE"
    FALSE = "FALSE"
    #: The answer declines, or is about something else than the question.
    NOT_GIVEN = "NOT_GIVEN"


class Mistake(StrEnum):
    """A kind of mistake: a stable code, and the kind of the evidence that shows it.

    The first three are those of paper 004, section III-G. Contradiction, order and off-context are
    heuristics of paper 000, section IV-C; numbers and entities are what the metrics of paper 003,
    section 4.2.6, look for.
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
    """Why there is no label: a stable code."""

    #: No reply came: the endpoint was away, too slow, or its budget spent.
    NO_REPLY = "no_reply"
    #: The model, or the filter before it, declined.
    REFUSED = "refused"
    #: The reply reached its token limit before it was complete.
    CUT_OFF = "cut_off"
    EMPTY = "empty"
    #: The reply was not of the form asked for, and neither was the one after that.
    MALFORMED = "malformed"
    #: As many judges, or samples, for one label as for another.
    DISAGREEMENT = "disagreement"
    #: There was nothing to compare the answer with.
    NO_REFERENCE = "no_reference"
    #: Question and answer are too long to be judged whole.
    TOO_LONG = "too_long"
    #: The method measured something else, such as relevance alone.
    TRUTH_NOT_JUDGED = "truth_not_judged"


@dataclass(frozen=True, slots=True)
class Usage:
    """What an opinion took: requests, tokens, and the seconds waited, of replies at once the longest."""

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a method makes of one answer, with the models and the version of the prompts that it asked.

    There is a label, or there is the reason why not, ``unsure``; then ``confidence`` is 0 and ``score``
    None. ``score`` is in [1, 5], on the scale of the ratings. ``confidence`` is in [0, 1]; what it
    means differs by method. ``consistency`` and ``relevance`` (paper 004, section I) are in [0, 1], None
    where the method does not measure them. ``wrong`` are words of the answer, by kind of mistake, and
    ``mistakes`` all kinds, also those that no words show. ``shortened`` says that the documents were too
    long and only the passages nearest to question and answer were read.

    Raises ValueError where these do not go together.
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
        """Refuse what contradicts itself: nothing may be confident without a label."""
        if (self.label is None) is (self.unsure is None):
            raise ValueError("an opinion has either a label or a reason why not")
        if self.label is None and (self.confidence or self.score is not None):
            raise ValueError("without a label there is neither confidence nor score")
        if not 0 <= self.confidence <= 1:
            raise ValueError("a confidence is from 0 to 1")
        if self.score is not None and not MIN_SCORE <= self.score <= MAX_SCORE:
            raise ValueError("a score is from 1 to 5")
