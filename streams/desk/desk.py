"""The desk: gives each reviewer an answer of his own, and takes decisions about it."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Final

import structlog

from schemas import Codec, Review, Verdict
from schemas.records import SENDING_OUTCOMES, person_key
from streams.desk.decisions import (
    EXPIRED,
    FAILED,
    NONE,
    SEND,
    DecisionStatus,
    DecisionStore,
    Handover,
    StoredDecision,
)
from streams.desk.desk_state import ANY_HELD, DeskState, HeldFilter
from streams.desk.reviewer_choice import (
    Choice,
    DecisionRefusal,
    answer_digest,
    chosen,
    expired_review,
    is_decisive,
    is_edited,
    is_empty,
    make_review,
    proposal_of,
)
from streams.desk.sessions import ReviewerSession
from streams.settings import DeskRole, Settings

log = structlog.get_logger(__name__)

_MAX_SKIPPED: Final = 1_000
#: So many expired answers at most are on their way to Kafka.
_MAX_EXPIRING: Final = 1_000


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
        clock: of the times that are published and of time limits, in seconds since 1970.

    Attributes:
        caught_up: whether ``state`` had everything once; nothing is given out before.
        stands_by: whether another desk gives answers out; what was decided here is published all the same.
        problem: what is wrong with Kafka or the registry, named, or None.
        known_answers: whether a decision counts for the same answer later.
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
        self.stands_by = False
        self.problem: str | None = None
        self.known_answers = settings.policy.known_answers
        self.changes = Changes()
        self._state = state
        self._decisions = decisions
        self._settings = settings.desk
        self._required = {str(each): number for each, number in settings.desk.reviews_required.items()}
        self._max_bytes = settings.encoding.max_value_bytes
        self._clock = clock
        self._codec = Codec()
        self._lock = threading.Lock()
        own = settings.desk
        decisions.shorten_waits(own.undo_seconds, own.lease_seconds, own.assignment_seconds)
        self._skipped: dict[str, set[str]] = {}

    @property
    def is_ready(self) -> bool:
        """Whether it gives answers out."""
        return self.caught_up and not self.stands_by

    def current(self, session: ReviewerSession, wanted: HeldFilter = ANY_HELD) -> Verdict | None:
        """Return the answer that a session has, else the next one, which it has from now on; or None."""
        with self._lock:
            if not self.is_ready:
                return None
            leased = self._decisions.leased_to(session.id)
            if leased and (found := self._state.held(leased)):
                return found
            chosen = self._next(session, wanted)
            if chosen is None or not self._lease(chosen, session):
                return None
            return self._state.held(chosen)

    def has_next(self, session: ReviewerSession, wanted: HeldFilter) -> bool:
        """Return whether an answer is there that a session would get."""
        with self._lock:
            return self.is_ready and self._next(session, wanted) is not None

    def _next(self, session: ReviewerSession, wanted: HeldFilter) -> str | None:
        assigned, not_for_session = self._reserved(session)
        unavailable = self._decisions.unavailable() | not_for_session | self._closed(session)
        skipped = self._skipped.get(session.id, set())
        for each in assigned:
            if each in unavailable | skipped or self._is_foreign(each, session):
                continue
            if self._state.is_held(each):
                return each
        if later := skipped | self._decisions.passed_on(session.person):
            if chosen := self._next_of(session, wanted, unavailable | later):
                return chosen
            skipped.clear()
        return self._next_of(session, wanted, unavailable)

    def _next_of(self, session: ReviewerSession, wanted: HeldFilter, excluded: set[str]) -> str | None:
        """Return the next answer that waits, which has a customer, else one of the audit sample."""
        now = round(1000 * self._clock())
        return self._state.next_held(wanted, excluded) or self._state.next_audit(
            wanted, excluded, session.person, now
        )

    def peek(
        self, verdict_id: str | None, session: ReviewerSession, wanted: HeldFilter = ANY_HELD
    ) -> Verdict | None:
        """Return this answer, or the next one, without giving it to the session."""
        with self._lock:
            chosen = verdict_id or self._next(session, wanted)
            if not (chosen and self.caught_up) or self._is_foreign(chosen, session):
                return None
            return self._state.held(chosen)

    def open(self, verdict_id: str, session: ReviewerSession) -> Verdict | DecisionRefusal:
        """Give a session this answer, if nobody else has it."""
        with self._lock:
            if self.stands_by:
                return DecisionRefusal.NOT_READY
            if refusal := self._refusal(verdict_id, session):
                return refusal
            verdict = self._state.held(verdict_id)
            if verdict is None or not self._lease(verdict_id, session):
                return DecisionRefusal.GONE
            return verdict

    def decide(self, verdict_id: str, session: ReviewerSession, choice: Choice) -> DecisionRefusal | None:
        """Store a decision; it is published when it can no longer be undone. Returns why not, or None."""
        with self._lock:
            refusal, verdict = self._refusal(verdict_id, session), self._state.held(verdict_id)
        if refusal or verdict is None:
            return refusal or DecisionRefusal.GONE
        if choice.seen not in ("", answer_digest(verdict)):
            return DecisionRefusal.CHANGED
        edited = is_edited(choice, verdict)
        if choice.outcome == SEND and edited:
            return DecisionRefusal.EDITED  # else a correction would be lost, and the mistake sent
        if choice.outcome in SENDING_OUTCOMES and not edited and choice.calls_it_untrue:
            return DecisionRefusal.RATED_UNTRUE
        weight = self._state.sample.weight if self.is_audited(verdict) else 1.0
        # Before anybody has to wait: to find many wrong words in a long answer takes a second.
        review = make_review(verdict, session, choice, self._clock(), weight)
        with self._lock:
            refusal = self._refusal(verdict_id, session) or self._store(review, verdict, session)
        if refusal is None:
            log.info(
                "review_decided",
                review_id=review.review_id,
                verdict_id=verdict_id,
                outcome=review.outcome,
                reviewer=session.reviewer,
            )
        return refusal

    def _store(self, review: Review, verdict: Verdict, session: ReviewerSession) -> DecisionRefusal | None:
        if self._state.held(verdict.verdict_id) != verdict:
            return DecisionRefusal.GONE
        if refusal := self._unfit(review, verdict):
            return refusal
        required = self._required.get(verdict.message_type, 1)
        if required > 1 and not is_decisive(review, self._state.proposals(verdict.verdict_id), required):
            review = proposal_of(review)
        is_stored = self._decisions.store(review, session.id, self._settings.undo_seconds)
        return None if is_stored else DecisionRefusal.GONE

    def _unfit(self, review: Review, verdict: Verdict) -> DecisionRefusal | None:
        if verdict.decision == "auto_send" and review.outcome != NONE:
            return DecisionRefusal.GONE
        if is_empty(review, needs_rating=self.is_audited(verdict)):
            return DecisionRefusal.EMPTY
        return DecisionRefusal.TOO_LARGE if len(self._codec.encode(review)) > self._max_bytes else None

    def is_audited(self, verdict: Verdict) -> bool:
        """Return whether a verdict that was sent or blocked without a person is in the audit sample."""
        return verdict.decision != "review" and self._state.sample.raters(verdict.verdict_id) > 0

    def disagreement(self, verdict_id: str, session: ReviewerSession) -> list[Review]:
        """Return what reviewers chose, if they differ and the session is of a lead, who decides then."""
        if session.role is not DeskRole.LEAD:
            return []
        found = self._state.proposals(verdict_id)
        return found if len(chosen(found)) > 1 else []

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
            if not self._state.is_held(verdict_id):
                return
            skipped = self._skipped.setdefault(session.id, set())
            if len(skipped) >= _MAX_SKIPPED:
                skipped.clear()
            skipped.add(verdict_id)
            self._decisions.release(session.id)
        log.info("review_skipped", verdict_id=verdict_id, reviewer=session.reviewer)

    def pass_on(
        self, verdict_id: str, session: ReviewerSession, reason: str, receiver: str = "", *, for_lead: bool
    ) -> DecisionRefusal | None:
        """Give an answer to somebody else: a named receiver, a lead or anyone; a lead needs no reason.

        For ``assignment_seconds`` nobody else gets it, nor does this reviewer, who gets it last after that.
        Returns why not, or None.
        """
        is_lead = session.role is DeskRole.LEAD
        if not (reason or is_lead):
            return DecisionRefusal.NO_REASON
        with self._lock:
            if refusal := self._refusal(verdict_id, session):
                return refusal
            if not self._state.is_held(verdict_id):
                return DecisionRefusal.GONE
            to_self = person_key(receiver) == session.person and not is_lead
            handover = Handover(session.reviewer, "" if to_self else receiver, for_lead, reason)
            self._decisions.hand_over(verdict_id, handover, self._settings.assignment_seconds)
        log.info(
            "review_passed_on",
            verdict_id=verdict_id,
            reviewer=session.reviewer,
            to=handover.receiver or ("a lead" if for_lead else "anyone"),
        )
        return None

    def handovers(self, verdict_id: str) -> list[Handover]:
        """Return who passed an answer on and why, the first one first."""
        with self._lock:
            return self._decisions.handovers(verdict_id)

    def release(self, session: ReviewerSession) -> None:
        """Give the answer of a session back; it may get another one."""
        with self._lock:
            self._decisions.release(session.id)

    def leave(self, session: ReviewerSession) -> None:
        """Give back what a session has; it has ended."""
        with self._lock:
            self._decisions.leave(session.id)
            self._skipped.pop(session.id, None)

    def is_open(self, verdict_id: str, session: ReviewerSession) -> bool:
        """Return whether a session may still decide about an answer."""
        with self._lock:
            return self._refusal(verdict_id, session) is None and self._state.is_held(verdict_id)

    def counts(self, tenant: str = "") -> DeskCounts:
        """Count the answers, or those of a tenant, without those that were decided here."""
        with self._lock:
            stored = [
                each
                for each in self._decisions.all()
                if each.status is not DecisionStatus.REFUSED
                and (not tenant or self._state.tenant(each.verdict_id) == tenant)
            ]
            decided = [self._state.is_blocked(each.verdict_id) for each in stored]
            return DeskCounts(
                self._state.count(tenant, blocked=False) - decided.count(False),
                self._state.count(tenant, blocked=True) - decided.count(True),
                sum(each.status in {DecisionStatus.UNDOABLE, DecisionStatus.PUBLISHING} for each in stored),
            )

    def blocked(self, wanted: HeldFilter, most: int) -> list[Verdict]:
        """Return the newest blocked answers without an outcome or a rating."""
        with self._lock:
            decided = self._decisions.decided()
            return [each for each in self._state.blocked(wanted, most) if each.verdict_id not in decided]

    def choices(self, tenant: str = "") -> dict[str, Counter[str]]:
        """Count the answers without an outcome, or those of a tenant, by each value of a filter."""
        return self._state.choices(tenant)

    def deadline(self, verdict: Verdict) -> datetime | None:
        """Return when an answer expires; None for one that nobody waits for."""
        if verdict.decision != "review":
            return None
        return datetime.fromtimestamp(self._state.deadline(verdict) / 1000, UTC)

    def decisions_of(self, session: ReviewerSession) -> list[StoredDecision]:
        """Return the decisions of a session that Kafka lacks or that did not count, the newest first."""
        with self._lock:
            return [
                replace(each, first=self._first(each), question=self._question(each))
                for each in self._decisions.all(session.id)
            ]

    def _question(self, decision: StoredDecision) -> str:
        if decision.status not in {DecisionStatus.UNDOABLE, DecisionStatus.REFUSED}:
            return ""
        verdict = self._state.held(decision.verdict_id)
        return verdict.question if verdict else ""

    def _first(self, decision: StoredDecision) -> str | None:
        if decision.status is not DecisionStatus.SUPERSEDED:
            return None
        outcome = self._state.outcome(decision.verdict_id)
        return outcome[0] if outcome else None

    def waiting_by_type(self) -> dict[tuple[str, ...], float]:
        """Count the answers without an outcome by message type."""
        return {(each,): counts[0] for each, counts in self._state.waiting_by_age(0, ()).items()}

    def time_used(self) -> float:
        """Return the largest share of its time limit that an answer without an outcome has waited."""
        return self._state.time_used(round(1000 * self._clock()))

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
            passed_on = self._decisions.passed_on()
            self._decisions.forget_handovers([each for each in passed_on if not self._state.is_held(each)])
            if not self.stands_by:
                self._expire()
            return self._decisions.take_due(at_once=at_once)

    def _expire(self) -> None:
        """Decide about the answers whose time limit has passed, be they on a screen or not."""
        decided = self._decisions.decided()
        if len(decided) < _MAX_EXPIRING and (
            overdue := self._state.overdue(round(1000 * self._clock()), 2 * _MAX_EXPIRING)
        ):
            verdicts = (self._state.held(each) for each in overdue if each not in decided)
            found = list(islice(filter(None, verdicts), _MAX_EXPIRING))
            self._decisions.store_all((expired_review(each, self._clock()) for each in found), "", 0)

    def acknowledge(self, review_id: str) -> None:
        """Note that Kafka has a decision."""
        with self._lock:
            self._decisions.acknowledge(review_id)

    def withdraw(self, review_id: str) -> None:
        """Let the answer of a decision that Kafka refuses wait again, and tell its reviewer."""
        with self._lock:
            self._decisions.set_failed(review_id, DecisionStatus.REFUSED)

    def settle(self) -> None:
        """Forget the decisions whose verdict has an outcome now, be it theirs or an earlier one."""
        with self._lock:
            self._settle()

    def restart(self, reviews: str, *, rebuilt: bool) -> None:
        """Note that the topics are read from here on; if ``rebuilt``, they may lack what they had.

        ``reviews`` names cluster and topic of what is decided.
        """
        with self._lock:
            self._decisions.bind(reviews)
            if rebuilt:
                self._decisions.publish_again()

    def _settle(self) -> None:
        for each in self._decisions.all():
            if each.status in FAILED:
                continue
            if each.outcome == NONE:
                if each.status is DecisionStatus.ACKNOWLEDGED and self._state.has_review(
                    each.verdict_id, each.review_id
                ):
                    self._decisions.remove(each.review_id)
                continue
            outcome = self._state.outcome(each.verdict_id)
            if outcome is None:
                continue
            if each.outcome == EXPIRED or outcome[1] == each.review_id:
                self._decisions.remove(each.review_id)
            else:
                self._decisions.set_failed(each.review_id, DecisionStatus.SUPERSEDED)
                log.warning("review_superseded", review_id=each.review_id, verdict_id=each.verdict_id)

    def _refusal(self, verdict_id: str, session: ReviewerSession) -> DecisionRefusal | None:
        if not self.caught_up:
            return DecisionRefusal.NOT_READY
        if self._is_foreign(verdict_id, session):
            return DecisionRefusal.GONE  # as if there were none
        holder = self._decisions.holder(verdict_id)
        if holder not in (None, session.id):
            return DecisionRefusal.TAKEN
        if holder is None and verdict_id in self._decisions.unavailable():
            return DecisionRefusal.GONE
        if verdict_id in self._closed(session):
            return DecisionRefusal.NOT_YOURS
        is_free = holder or session.role is DeskRole.LEAD or verdict_id not in self._reserved(session)[1]
        return None if is_free else DecisionRefusal.NOT_YOURS

    def _is_foreign(self, verdict_id: str, session: ReviewerSession) -> bool:
        """Return whether an answer is of another tenant than the session."""
        return bool(session.tenant) and self._state.tenant(verdict_id) not in (None, session.tenant)

    def _closed(self, session: ReviewerSession) -> set[str]:
        return self._state.closed_to(session.person, is_lead=session.role is DeskRole.LEAD)

    def _reserved(self, session: ReviewerSession) -> tuple[list[str], set[str]]:
        return self._decisions.reserved(session.person, is_lead=session.role is DeskRole.LEAD)

    def _lease(self, verdict_id: str, session: ReviewerSession) -> bool:
        return self._decisions.lease(verdict_id, session.id, self._settings.lease_seconds)
