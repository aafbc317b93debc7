"""Verdicts and what people said of them, joined: a function of the records alone, whatever their order."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from scoring.policy.risk import NO_JUDGE
from scoring.values.exchange import MAX_UNTRUE_RATING, MIN_TRUE_RATING, Decision
from scoring.values.opinion import Label

#: Reviews of these sources repeat what a person said of another answer.
_NOT_BY_A_PERSON: Final = frozenset({"known_answer"})


class Truth(StrEnum):
    """What people find an answer to be."""

    TRUE = "true"
    UNTRUE = "untrue"
    #: Partly untrue, or people differ. It counts as a mistake wherever it is sent or blocked.
    DOUBTFUL = "doubtful"


@dataclass(frozen=True, slots=True)
class VerdictFacts:
    """What a verdict says of an answer, without texts.

    ``group`` is the message type and language. ``inputs`` are those of the risk (``risk_inputs``).
    ``may_be_sent``: no check objects (``no_check_objects``). ``versions`` name all that the verdict depends
    on: profile, scorer, judge with its prompt, the chatbot's model. ``scored_at`` is in ms since 1970.
    ``answer_key`` is equal for equal answers; empty for one like no other. ``certified_by`` is the version of
    the policy whose certificate sent it; empty if something else decided. ``in_doubt``: a judge was asked
    about it, or was to be asked and could not be. ``decided_before``: a known answer, a rule, a check or an
    opinion decides about it under any fitted policy, so that no certificate is about it.
    """

    verdict_id: str
    decision: Decision
    group: str
    scored_at: int
    inputs: Mapping[str, float]
    may_be_sent: bool
    versions: frozenset[str]
    answer_key: str = ""
    certified_by: str = ""
    in_doubt: bool = False
    decided_before: bool = False

    @property
    def has_opinion(self) -> bool:
        """Whether a judge replied."""
        return self.in_doubt and NO_JUDGE not in self.versions


@dataclass(frozen=True, slots=True)
class PersonsReview:
    """What one person said of a verdict; ``weight`` is 1 / the probability that it was chosen.

    ``reviewed_at`` is in ms since 1970, ``source`` is ``desk``, ``external`` or ``known_answer``.
    """

    review_id: str
    verdict_id: str
    reviewer: str
    reviewed_at: int
    outcome: str
    source: str
    rating: int | None = None
    label: str | None = None
    has_wrong_words: bool = False
    weight: float = 1.0

    @property
    def truth(self) -> Truth | None:
        """What the review says of the answer, or None.

        Label, rating and wrong words count; a label and a rating that contradict each other are doubtful.
        Without any of them the outcome counts: an answer that was edited is doubtful, since nobody said
        whether it was wrong. NOT_GIVEN is not untrue.
        """
        if self.source in _NOT_BY_A_PERSON:
            return None
        said = {_BY_LABEL.get(self.label or ""), _by_rating(self.rating)} - {None}
        if not said:
            said = {Truth.DOUBTFUL if self.has_wrong_words else _BY_OUTCOME.get(self.outcome)}
        elif self.has_wrong_words and said == {Truth.TRUE}:
            said = {Truth.DOUBTFUL}
        return said.pop() if len(said) == 1 else Truth.DOUBTFUL


_BY_LABEL: Final = {
    Label.TRUE.value: Truth.TRUE,
    Label.FALSE.value: Truth.UNTRUE,
    Label.NOT_GIVEN.value: Truth.TRUE,
}
_BY_OUTCOME: Final = {"send": Truth.TRUE, "send_edited": Truth.DOUBTFUL, "reject": Truth.UNTRUE}


def _by_rating(rating: int | None) -> Truth | None:
    if rating is None:
        return None
    if rating >= MIN_TRUE_RATING:
        return Truth.TRUE
    return Truth.UNTRUE if rating <= MAX_UNTRUE_RATING else Truth.DOUBTFUL


class AuditDraw(NamedTuple):
    """The probability with which an audit sample draws a verdict, and whether it did."""

    probability: float
    drawn: bool


#: A verdict that nothing could draw.
NEVER: Final = AuditDraw(0.0, drawn=False)
_ALWAYS: Final = AuditDraw(1.0, drawn=True)


@dataclass(frozen=True, slots=True)
class JoinedRating:
    """A verdict with its reviews, in the order of their times.

    ``draw`` is how it came to be rated by design, and not by anybody's choice: it is in the audit sample, or
    held, when all of these are to be rated. A rating of one that was not drawn teaches a model, but
    tells nothing of answers that nobody rated.
    """

    facts: VerdictFacts
    reviews: tuple[PersonsReview, ...] = ()
    draw: AuditDraw = NEVER

    @property
    def truth(self) -> Truth | None:
        """What most people find it to be, each by the last word; None if nobody said anything.

        Without a majority it is doubtful, so that a third person settles what two disagree on.
        """
        last = {each.reviewer: truth for each in self.reviews if (truth := each.truth)}
        if len(last) < 2:  # noqa: PLR2004 - nobody to agree with
            return next(iter(last.values()), None)
        said = Counter(last.values())
        truth, count = said.most_common(1)[0]
        return truth if 2 * count > said.total() else Truth.DOUBTFUL

    @property
    def is_chosen_by_reviewer(self) -> bool:
        """Whether somebody rated it without having been asked."""
        return not self.draw.drawn and self.truth is not None


@dataclass(frozen=True, slots=True)
class Joined:
    """All verdicts in the order of their times, and the reviews of verdicts that are not known (yet)."""

    ratings: tuple[JoinedRating, ...]
    unknown: tuple[PersonsReview, ...]


def join(
    verdicts: Iterable[VerdictFacts],
    reviews: Iterable[PersonsReview],
    audit: Callable[[VerdictFacts], AuditDraw] = lambda _: NEVER,
) -> Joined:
    """Join verdicts and reviews.

    Of two verdicts with one id the first counts: it was acted on, and reviewed. Two reviews with one id are
    one. ``audit`` is the audit sample: the draw of each verdict. Of held ones that it says nothing of all are
    to be rated; a desk that leaves many undecided should draw from these as well. Without a sample a weight
    above 1 tells that a verdict was drawn, but nothing tells what could have been and was not: then no set
    with such verdicts can be promised anything.
    """
    facts: dict[str, VerdictFacts] = {}
    for each in sorted(verdicts, key=verdict_order):
        facts.setdefault(each.verdict_id, each)
    by_id: dict[str, PersonsReview] = {}
    for review in sorted(reviews, key=review_order):
        by_id.setdefault(review.review_id, review)
    of_verdict: dict[str, list[PersonsReview]] = {}
    for review in by_id.values():
        of_verdict.setdefault(review.verdict_id, []).append(review)
    ratings = []
    for each in sorted(facts.values(), key=verdict_order):
        given = tuple(of_verdict.get(each.verdict_id, ()))
        ratings.append(JoinedRating(each, given, _draw(each, audit(each), given)))
    unknown = tuple(review for review in by_id.values() if review.verdict_id not in facts)
    return Joined(tuple(ratings), unknown)


def _draw(facts: VerdictFacts, draw: AuditDraw, reviews: Iterable[PersonsReview]) -> AuditDraw:
    if draw != NEVER:
        return draw
    if facts.decision is Decision.REVIEW:
        return _ALWAYS
    weight = max((each.weight for each in reviews), default=1.0)
    return AuditDraw(1 / weight, drawn=True) if weight > 1 else draw


def verdict_order(facts: VerdictFacts) -> tuple[object, ...]:
    """Return what verdicts are sorted by: of two with one id the first counts."""
    content = sorted(facts.versions), sorted(facts.inputs.items()), facts.answer_key, facts.certified_by
    rest = facts.decision, facts.group, facts.may_be_sent, facts.in_doubt, *content
    return (facts.scored_at, facts.verdict_id, *rest)


def review_order(review: PersonsReview) -> tuple[int, str, str]:
    """Return what reviews are sorted by: of two with one id the first counts."""
    return review.reviewed_at, review.review_id, repr(review)
