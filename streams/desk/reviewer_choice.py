"""What a reviewer chose about an answer, and the review that it makes."""

import hashlib
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from schemas import Review, Verdict
from schemas.records import SENDING_OUTCOMES
from scoring.values.exchange import MAX_UNTRUE_RATING
from scoring.values.opinion import Label
from streams.desk.decisions import EXPIRED, NONE, SEND, SEND_EDITED
from streams.desk.sessions import ReviewerSession
from streams.desk.wrong_words import find_wrong_words

_EXPIRED_IDS: Final = uuid.UUID("0f6a3f0e-5c39-5b0e-8b7c-6c1f6a2d9b11")


@dataclass(frozen=True, slots=True)
class Choice:
    """What a reviewer chose: ``outcome`` is send, send_edited with a ``text``, reject, or none.

    ``text`` is that of the form, whatever was chosen.
    ``wrong`` names wrong words of the answer, as ``find_wrong_words`` reads them.
    """

    outcome: str
    text: str | None = None
    rating: int | None = None
    label: str | None = None
    wrong: str = ""
    comment: str | None = None
    #: The digest of the answer that was on the screen; empty: it is not compared.
    seen: str = ""

    @property
    def calls_it_untrue(self) -> bool:
        """Whether rating or label say that the answer is untrue."""
        return self.label == Label.FALSE or (self.rating is not None and self.rating <= MAX_UNTRUE_RATING)


class DecisionRefusal(StrEnum):
    """Why a decision is not taken; a code of the pages."""

    GONE = "gone"
    CHANGED = "changed"
    TAKEN = "taken"
    NOT_YOURS = "not_yours"
    NO_REASON = "no_reason"
    EMPTY = "empty"
    EDITED = "edited"
    RATED_UNTRUE = "rated_untrue"
    TOO_LARGE = "too_large"
    NOT_READY = "not_ready"


def answer_digest(verdict: Verdict) -> str:
    """Return what tells whether an answer is still the one that was looked at."""
    return hashlib.sha256(verdict.answer.encode("utf-8", "surrogatepass")).hexdigest()


def make_review(
    verdict: Verdict, session: ReviewerSession, choice: Choice, now: float, weight: float
) -> Review:
    """Return the review that a choice makes at ``now`` (seconds since 1970)."""
    outcome, text = choice.outcome, None
    if outcome == SEND_EDITED:
        is_answer = choice.text is not None and not is_edited(choice, verdict)
        outcome, text = (SEND, None) if is_answer else (SEND_EDITED, choice.text)
    wrong, rest = find_wrong_words(verdict.answer, choice.wrong)
    return Review(
        review_id=str(uuid.uuid4()),
        **_of(verdict),
        outcome=outcome,
        text=verdict.answer if outcome == SEND else text,
        rating=choice.rating,
        label=choice.label,
        wrong_spans=wrong,
        comment="\n".join(filter(None, (choice.comment, rest))) or None,
        reviewer=session.reviewer,
        reviewed_at=datetime.fromtimestamp(now, UTC),
        source="desk",
        sampling_weight=weight,
    )


def is_edited(choice: Choice, verdict: Verdict) -> bool:
    """Return whether the text of the form is another one than the answer."""
    # Browsers write every line end in one way.
    answer = verdict.answer.replace("\r\n", "\n").replace("\r", "\n")
    return choice.text is not None and choice.text != answer


def proposal_of(review: Review) -> Review:
    """Return what one of several reviewers chose: a rating without an outcome yet."""
    text = review.text if review.outcome == SEND_EDITED else None
    return replace(review, outcome=NONE, proposal=review.outcome, text=text)


def is_decisive(review: Review, proposals: Sequence[Review], required: int) -> bool:
    """Return whether a choice is the last one that its answer needs: of enough people, or of a lead.

    Where people differ nobody but a lead gets the answer.
    """
    if review.outcome == NONE or len(chosen(proposals)) > 1:
        return True
    together = [*proposals, proposal_of(review)]
    return len(chosen(together)) == 1 and len({each.person for each in together}) >= required


def chosen(proposals: Iterable[Review]) -> set[tuple[str | None, str | None]]:
    """Return the different choices, an edited text included."""
    return {(each.proposal, each.text) for each in proposals}


def expired_review(verdict: Verdict, now: float) -> Review:
    """Return what is published if nobody decides; a repeat, of another desk too, has the same id."""
    return Review(
        review_id=str(uuid.uuid5(_EXPIRED_IDS, verdict.verdict_id)),
        **_of(verdict),
        outcome=EXPIRED,
        reviewer="truthgate",
        reviewed_at=datetime.fromtimestamp(now, UTC),
        source="desk",
    )


def _of(verdict: Verdict) -> dict[str, Any]:
    return {
        name: getattr(verdict, name) for name in ("verdict_id", "answer_id", "conversation_id", "produced_at")
    }


def is_empty(review: Review, *, needs_rating: bool) -> bool:
    """Return whether a review says nothing, or would send nothing."""
    if review.outcome == NONE:
        is_rated = bool(review.rating or review.label)
        return not (is_rated or (not needs_rating and (review.wrong_spans or review.comment)))
    return review.outcome in SENDING_OUTCOMES and not is_visible(review.text or "")


def is_visible(text: str) -> bool:
    """Return whether a text has a character that is seen: spaces and characters of width zero are not."""
    return any(each.isprintable() and not each.isspace() for each in text)
