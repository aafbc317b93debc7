"""The desk: gives each reviewer an answer of his own, and takes decisions about it."""

import asyncio
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

import structlog

from schemas import Codec, Review, Verdict
from streams.desk.decisions import DecisionStatus, DecisionStore, StoredDecision
from streams.desk.desk_state import SEND_EDITED, DeskState
from streams.settings import DeskRole, Settings

log = structlog.get_logger(__name__)

SEND: Final = "send"
REJECT: Final = "reject"
_MAX_SKIPPED: Final = 1_000


@dataclass(frozen=True, slots=True)
class ReviewerSession:
    """One browser of a reviewer: ``id`` is secret enough not to be guessed."""

    id: str
    reviewer: str
    role: DeskRole = DeskRole.REVIEWER


@dataclass(frozen=True, slots=True)
class Choice:
    """What a reviewer chose: ``outcome`` is send, send_edited with a ``text``, or reject."""

    outcome: str
    text: str | None = None
    rating: int | None = None
    comment: str | None = None


class DecisionRefusal(StrEnum):
    """Why a decision is not taken; a code of the pages."""

    GONE = "gone"
    TAKEN = "taken"
    EMPTY = "empty"
    TOO_LARGE = "too_large"
    NOT_READY = "not_ready"


@dataclass(frozen=True, slots=True)
class DeskCounts:
    """How many answers wait, are blocked, and are decided without Kafka having it yet."""

    waiting: int
    blocked: int
    unpublished: int


class Changes:
    """Wakes open pages when something changed; for one event loop."""

    def __init__(self) -> None:
        self.next = asyncio.Event()

    def notify(self) -> None:
        """Wake everybody who waits for ``next``, as it was."""
        self.next.set()
        self.next = asyncio.Event()


class Desk:
    """What reviewers do, from any thread, one after the other.

    Args:
        state: the verdicts without an outcome.
        decisions: what was decided here, and who looks at what.
        settings: section ``desk``, and the largest value that is published.
        clock: seconds since 1970.

    Attributes:
        caught_up: whether ``state`` had everything once; nothing is given out before.
        problem: why Kafka does not have or give everything now, or None.
        changes: notified by whoever changes something, in the event loop.
    """

    def __init__(
        self,
        state: DeskState,
        decisions: DecisionStore,
        settings: Settings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.caught_up = False
        self.problem: str | None = None
        self.changes = Changes()
        self._state = state
        self._decisions = decisions
        self._settings = settings.desk
        self._max_bytes = settings.encoding.max_value_bytes
        self._clock = clock
        self._codec = Codec()
        self._lock = threading.Lock()
        self._skipped: dict[str, set[str]] = {}

    def current(self, session: ReviewerSession) -> Verdict | None:
        """Return the answer that a session has, else the next one, which it has from now on; or None."""
        with self._lock:
            if not self.caught_up:
                return None
            leased = self._decisions.leased_to(session.id)
            if leased and (found := self._state.held(leased)):
                return found
            chosen = self._next(session)
            if chosen is None or not self._lease(chosen, session):
                return None
            return self._state.held(chosen)

    def has_next(self, session: ReviewerSession) -> bool:
        """Return whether an answer is there that a session would get."""
        with self._lock:
            return self.caught_up and self._next(session) is not None

    def _next(self, session: ReviewerSession) -> str | None:
        unavailable = self._decisions.unavailable()
        since = round((self._clock() - self._settings.in_time_seconds) * 1000)
        if skipped := self._skipped.get(session.id):
            if chosen := self._state.next_held(since, unavailable | skipped):
                return chosen
            skipped.clear()
        return self._state.next_held(since, unavailable)

    def peek(self, verdict_id: str | None, session: ReviewerSession) -> Verdict | None:
        """Return this answer, or the next one, without giving it to the session."""
        with self._lock:
            wanted = verdict_id or self._next(session)
            return self._state.held(wanted) if wanted and self.caught_up else None

    def open(self, verdict_id: str, session: ReviewerSession) -> Verdict | DecisionRefusal:
        """Give a session this answer, if nobody else has it."""
        with self._lock:
            if refusal := self._refusal(verdict_id, session):
                return refusal
            verdict = self._state.held(verdict_id)
            if verdict is None or not self._lease(verdict_id, session):
                return DecisionRefusal.GONE
            return verdict

    def decide(self, verdict_id: str, session: ReviewerSession, choice: Choice) -> DecisionRefusal | None:
        """Store a decision; it is published when it can no longer be undone. Returns why not, or None."""
        with self._lock:
            if refusal := self._refusal(verdict_id, session):
                return refusal
            verdict = self._state.held(verdict_id)
            if verdict is None:
                return DecisionRefusal.GONE
            review = _review(verdict, session, choice, self._clock())
            if review.outcome == SEND_EDITED and not (review.text or "").strip():
                return DecisionRefusal.EMPTY
            if len(self._codec.encode(review)) > self._max_bytes:
                return DecisionRefusal.TOO_LARGE
            if not self._decisions.store(review, session.id, self._settings.undo_seconds):
                return DecisionRefusal.GONE
        log.info(
            "review_decided",
            review_id=review.review_id,
            verdict_id=verdict_id,
            outcome=review.outcome,
            reviewer=session.reviewer,
        )
        return None

    def undo(self, review_id: str, session: ReviewerSession) -> str | None:
        """Undo a decision and give its answer back to the session; returns its verdict, or None: too late."""
        with self._lock:
            verdict_id = self._decisions.undo(review_id, session.id)
            if verdict_id:
                self._lease(verdict_id, session)
        if verdict_id:
            log.info("review_undone", review_id=review_id, verdict_id=verdict_id, reviewer=session.reviewer)
        return verdict_id

    def skip(self, verdict_id: str, session: ReviewerSession) -> None:
        """Give an answer back; the session gets it again after all others."""
        with self._lock:
            skipped = self._skipped.setdefault(session.id, set())
            if len(skipped) >= _MAX_SKIPPED:
                skipped.clear()
            skipped.add(verdict_id)
            self._decisions.release(session.id)

    def leave(self, session: ReviewerSession) -> None:
        """Give back what a session has; it has ended."""
        with self._lock:
            self._decisions.release(session.id)
            self._skipped.pop(session.id, None)

    def is_open(self, verdict_id: str, session: ReviewerSession) -> bool:
        """Return whether a session may still decide about an answer."""
        with self._lock:
            return self._refusal(verdict_id, session) is None and self._state.held(verdict_id) is not None

    def counts(self) -> DeskCounts:
        """Count the answers, without those that were decided here."""
        with self._lock:
            stored = self._decisions.all()
            decided = [self._state.is_blocked(each.verdict_id) for each in stored]
            return DeskCounts(
                self._state.count(blocked=False) - decided.count(False),
                self._state.count(blocked=True) - decided.count(True),
                sum(each.status is not DecisionStatus.ACKNOWLEDGED for each in stored),
            )

    def blocked(self, most: int) -> list[Verdict]:
        """Return the newest blocked answers without an outcome."""
        with self._lock:
            decided = {each.verdict_id for each in self._decisions.all()}
            return [each for each in self._state.blocked(most) if each.verdict_id not in decided]

    def decisions_of(self, session: ReviewerSession) -> list[StoredDecision]:
        """Return the decisions of a session that were not read back yet, the newest first."""
        with self._lock:
            return self._decisions.all(session.id)

    def oldest_seconds(self) -> float | None:
        """Return the age of the oldest answer without an outcome, or None."""
        produced_at = self._state.oldest()
        return None if produced_at is None else self._clock() - produced_at / 1000

    def take_due(self, *, at_once: bool = False) -> list[Review]:
        """Return what is to be published now, without decisions that another one came before.

        Nothing before the reviews are read once: what a killed desk published may be among them.
        """
        with self._lock:
            if not self.caught_up:
                return []
            self._settle()
            return self._decisions.take_due(at_once=at_once)

    def acknowledge(self, review_id: str) -> None:
        """Note that Kafka has a decision."""
        with self._lock:
            self._decisions.acknowledge(review_id)

    def withdraw(self, review_id: str) -> None:
        """Forget a decision that Kafka refuses: its answer waits again."""
        with self._lock:
            self._decisions.remove(review_id)

    def settle(self) -> None:
        """Forget the decisions whose verdict has an outcome now, be it theirs or an earlier one."""
        with self._lock:
            self._settle()

    def restart(self, cluster_id: str, *, rebuilt: bool) -> None:
        """Note that the topics are read from here on; if ``rebuilt``, they may lack what they had."""
        with self._lock:
            self._decisions.bind(cluster_id)
            if rebuilt:
                self._decisions.publish_again()

    def _settle(self) -> None:
        for each in self._decisions.all():
            if outcome := self._state.outcome(each.verdict_id):
                self._decisions.remove(each.review_id)
                if outcome[1] != each.review_id:
                    log.warning("review_superseded", review_id=each.review_id, verdict_id=each.verdict_id)

    def _refusal(self, verdict_id: str, session: ReviewerSession) -> DecisionRefusal | None:
        if not self.caught_up:
            return DecisionRefusal.NOT_READY
        holder = self._decisions.holder(verdict_id)
        if holder not in (None, session.id):
            return DecisionRefusal.TAKEN
        is_decided = holder is None and verdict_id in self._decisions.unavailable()
        return DecisionRefusal.GONE if is_decided else None

    def _lease(self, verdict_id: str, session: ReviewerSession) -> bool:
        return self._decisions.lease(verdict_id, session.id, self._settings.lease_seconds)


def _review(verdict: Verdict, session: ReviewerSession, choice: Choice, now: float) -> Review:
    outcome, text = choice.outcome, None
    if outcome == SEND_EDITED:
        # Browsers write every line end in one way.
        same = choice.text == verdict.answer.replace("\r\n", "\n").replace("\r", "\n")
        outcome, text = (SEND, None) if same else (SEND_EDITED, choice.text)
    return Review(
        review_id=str(uuid.uuid4()),
        verdict_id=verdict.verdict_id,
        answer_id=verdict.answer_id,
        conversation_id=verdict.conversation_id,
        outcome=outcome,
        text=text,
        rating=choice.rating,
        comment=choice.comment or None,
        reviewer=session.reviewer,
        reviewed_at=datetime.fromtimestamp(now, UTC),
        source="desk",
    )
