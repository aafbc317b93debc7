"""The cases that are evaluated: judged answers with people's labels, and their groups."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from scoring.text.language_detection import UNDETERMINED
from scoring.values.exchange import Decision, MessageType
from scoring.values.opinion import Label
from scoring.values.rules import Reason

RATINGS = (1, 2, 3, 4, 5)
#: A rating, or a score, that says neither true nor untrue.
NEUTRAL = 3.0
UNRATED = "unrated"
# Such an answer was scored by the other variant, so that it says nothing about this one.
_NOT_AS_REQUESTED = Reason.TRANSLATION_UNAVAILABLE


def round_rating(rating: float) -> int:
    """Return the rating from 1 to 5 that is nearest to a mean; 1.5 and 2.5 become 2, 3.5 and 4.5 become 4."""
    return round(rating)


@dataclass(frozen=True, slots=True)
class EvaluationCase:
    """One answer as it was judged, and as people rated it; without its texts.

    ``score`` is in [1, 5] or None, ``reasons`` are codes, the one that decided first, ``features`` each one's
    value in [0, 1] or None where it does not apply. ``checks`` has each rule of the profile, by the reason
    that a verdict then has, and whether evidence for it was found. ``rating`` is from 1 to 5, or a mean of
    several; ``rating_first`` and ``rating_second`` are those of two reviewers. ``labelled`` is the message
    type that a person gave the question; each is None if it is missing. So are ``label``, what a person says
    that the answer is, ``consistent``, whether all of it stands in the documents, and ``relevant``, whether
    it addresses the question.
    """

    answer_id: str
    recognised: MessageType
    language: str | None
    score: float | None
    decision: Decision
    reasons: tuple[str, ...]
    rating: float | None = None
    rating_first: float | None = None
    rating_second: float | None = None
    labelled: MessageType | None = None
    label: Label | None = None
    consistent: bool | None = None
    relevant: bool | None = None
    features: Mapping[str, float | None] = field(default_factory=dict)
    checks: Mapping[str, bool] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()
    translated: bool = False

    @property
    def reason(self) -> str:
        """The code that decided."""
        return self.reasons[0]

    @property
    def rounded_rating(self) -> int | None:
        """The rating as one of 1 to 5, see :func:`round_rating`."""
        return None if self.rating is None else round_rating(self.rating)

    @property
    def truth(self) -> Label | None:
        """What the answer is: the label that people gave it, or the one of its rating.

        Ratings above 3 are TRUE and ratings below are FALSE, as the paper reads them (section VI-B3). 3 is
        neither; a mean is rounded. A rating never means NOT_GIVEN, since it says nothing of whether the
        question is answered.
        """
        rating = self.rounded_rating
        if self.label is not None or rating is None or rating == NEUTRAL:
            return self.label
        return Label.TRUE if rating > NEUTRAL else Label.FALSE

    @property
    def is_scored_as_requested(self) -> bool:
        """Whether it was scored by the variant that was asked for."""
        return _NOT_AS_REQUESTED not in self.degraded

    @property
    def exclusion_reason(self) -> str | None:
        """Why score and rating cannot be compared, as a code; None where they can."""
        if self.rating is None:
            return UNRATED
        if not self.is_scored_as_requested:
            return str(_NOT_AS_REQUESTED)
        return self.reason if self.score is None else None


@dataclass(frozen=True, slots=True)
class CaseGroup:
    """Which answers a table is about: of one language, one recognised message type, both, or all.

    None means any; an answer whose language is not known belongs to the language ``und``.
    """

    language: str | None = None
    message_type: MessageType | None = None

    def contains(self, case: EvaluationCase) -> bool:
        """Return whether the case belongs to the group."""
        return self.language in (None, _language(case)) and self.message_type in (None, case.recognised)

    def select(self, cases: Sequence[EvaluationCase]) -> tuple[EvaluationCase, ...]:
        """Return those of the cases that belong to the group."""
        return tuple(filter(self.contains, cases))


ALL_CASES = CaseGroup()


def language_groups(cases: Sequence[EvaluationCase]) -> Iterator[CaseGroup]:
    """Yield the group of all, then one a language."""
    yield ALL_CASES
    for language in sorted(set(map(_language, cases))):
        yield CaseGroup(language)


def groups(cases: Sequence[EvaluationCase]) -> Iterator[CaseGroup]:
    """Yield all, each language, each message type, and each type in each language that occurs."""
    yield from language_groups(cases)
    types = [each for each in MessageType if any(case.recognised is each for case in cases)]
    for message_type in types:
        yield CaseGroup(None, message_type)
    for group in list(language_groups(cases))[1:]:
        for message_type in types:
            pair = CaseGroup(group.language, message_type)
            if any(map(pair.contains, cases)):
                yield pair


def _language(case: EvaluationCase) -> str:
    return case.language or UNDETERMINED
