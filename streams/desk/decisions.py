"""Decisions until Kafka has them, leases of answers and who passed them on, in a local SQLite file."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import structlog

from schemas import Review, to_json
from schemas.records import person_key
from schemas.validation import from_json
from streams.desk.steady_clock import steady_time
from streams.storage.store_file import StoreFormat, move_store_file, open_store_file, transaction

log = structlog.get_logger(__name__)

SEND: Final = "send"
SEND_EDITED: Final = "send_edited"
REJECT: Final = "reject"
EXPIRED: Final = "expired"
#: A rating alone.
NONE: Final = "none"
DATABASE_NAME: Final = "decisions.sqlite3"
#: A reviewer is told for so long that another decision came first, or that Kafka refused it.
_TOLD_SECONDS: Final = 12 * 3_600
_SCHEMA: Final = """
CREATE TABLE decisions (
    review_id TEXT NOT NULL PRIMARY KEY,
    verdict_id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    outcome TEXT NOT NULL,
    publish_at REAL NOT NULL,
    status TEXT NOT NULL,
    proposal TEXT,
    review TEXT NOT NULL  -- JSON, which every release can read
) STRICT;
CREATE TABLE handovers (
    verdict_id TEXT NOT NULL,
    person TEXT NOT NULL,  -- as person_key writes the name of the reviewer
    reviewer TEXT NOT NULL,
    receiver TEXT NOT NULL,
    for_lead INTEGER NOT NULL,
    reason TEXT NOT NULL,
    until REAL NOT NULL,
    PRIMARY KEY (verdict_id, person)
) STRICT;
CREATE TABLE leases (
    verdict_id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL UNIQUE,
    until REAL NOT NULL
) STRICT;
CREATE TABLE origin (
    only_row INTEGER NOT NULL PRIMARY KEY CHECK (only_row = 0),
    reviews TEXT NOT NULL  -- the cluster and topic on which decisions are published
) STRICT;
"""


def desk_format(layout: int, schema: str) -> StoreFormat:
    """Return the format of a file of the desk: every committed transaction survives a power failure."""
    return StoreFormat(
        setting="desk.store",
        application_id=0x74676473,  # "tgds"
        layout=layout,
        schema=schema,
        pragmas=("synchronous = FULL", "secure_delete = ON"),
    )


_FORMAT: Final = desk_format(4, _SCHEMA)


class DecisionStatus(StrEnum):
    """How far a decision has got."""

    #: It can be undone.
    UNDOABLE = "undoable"
    #: It may have been sent to Kafka, and is sent again until Kafka has it.
    PUBLISHING = "publishing"
    #: Kafka has it; it has not been read back yet.
    ACKNOWLEDGED = "acknowledged"
    #: Another decision about its verdict came first, and counts.
    SUPERSEDED = "superseded"
    #: Kafka does not take it, such as for its size: its answer waits again.
    REFUSED = "refused"


FAILED: Final = frozenset({DecisionStatus.SUPERSEDED, DecisionStatus.REFUSED})
_DELETE_FAILED: Final = "DELETE FROM decisions WHERE status IN ('superseded', 'refused')"
_DECIDED: Final = "SELECT verdict_id FROM decisions WHERE status != 'refused'"


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """A decision as a reviewer sees it."""

    review_id: str
    verdict_id: str
    outcome: str
    status: DecisionStatus
    #: What was chosen, if others have to choose too.
    proposal: str | None = None
    #: The outcome that came first, if another one did.
    first: str | None = None
    #: The question, as long as the desk has it.
    question: str = ""


@dataclass(frozen=True, slots=True)
class Handover:
    """An answer that ``reviewer`` passed on or assigned: to a named receiver, to a lead, or to anyone."""

    reviewer: str
    receiver: str = ""
    for_lead: bool = False
    reason: str = ""


class DecisionStore:
    """Stores each decision before anything else happens with it, and who looks at which answer.

    The methods are called by one thread at a time.

    Args:
        folder: has the file; the caller holds its lock.
        clock: of the waits, in seconds since 1970.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = steady_time) -> None:
        self._path = folder / DATABASE_NAME
        self._clock = clock
        self._connection = open_store_file(self._path, _FORMAT)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def bind(self, reviews: str) -> None:
        """Set decisions for another topic or cluster aside, and take up those for this one if they were.

        They must not be published on another one.
        """
        row = self._connection.execute("SELECT reviews FROM origin").fetchone()
        if row and row[0] != reviews:
            self._connection.close()
            move_store_file(self._path, self._aside(row[0]))
            log.warning("store_set_aside", path=str(self._path), reason="another_topic")
            move_store_file(self._aside(reviews), self._path)
            self._connection = open_store_file(self._path, _FORMAT)
        self._connection.execute("INSERT OR REPLACE INTO origin VALUES (0, ?)", (reviews,))

    def _aside(self, reviews: str) -> Path:
        """Return the file of decisions for a topic while the desk publishes on another one."""
        return self._path.with_stem(f"{self._path.stem}-{hashlib.sha256(reviews.encode()).hexdigest()[:16]}")

    def shorten_waits(self, undo_seconds: float, lease_seconds: float, assignment_seconds: float) -> None:
        """Let nothing wait longer than from now on: before a restart the clock may have been ahead."""
        now = self._clock()
        with transaction(self._connection) as connection:
            for table, column, seconds in (
                ("decisions", "publish_at", undo_seconds),
                ("leases", "until", lease_seconds),
                ("handovers", "until", assignment_seconds),
            ):
                query = f"UPDATE {table} SET {column} = min({column}, ?)"  # noqa: S608 - the names are above
                connection.execute(query, (now + seconds,))

    def store(self, review: Review, session: str, undo_seconds: float) -> bool:
        """Store a decision and end the lease; False if there is one about this verdict already."""
        return self.store_all([review], session, undo_seconds) == 1

    def store_all(self, reviews: Iterable[Review], session: str, undo_seconds: float) -> int:
        """Store decisions together, as ``store`` does; returns how many were new."""
        stored = 0
        publish_at = self._clock() + undo_seconds
        with transaction(self._connection) as connection:
            for each in reviews:
                connection.execute(
                    "DELETE FROM decisions WHERE verdict_id = ? AND status = ?",
                    (each.verdict_id, DecisionStatus.REFUSED),
                )
                row = (each.review_id, each.verdict_id, session, each.outcome, publish_at)
                stored += connection.execute(
                    "INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    (*row, DecisionStatus.UNDOABLE, each.proposal, json.dumps(to_json(each))),
                ).rowcount
                connection.execute("DELETE FROM leases WHERE verdict_id = ?", (each.verdict_id,))
        return stored

    def undo(self, review_id: str, session: str) -> str | None:
        """Remove a decision of this session that may not have been sent yet; returns its verdict's id."""
        row = self._connection.execute(
            "DELETE FROM decisions WHERE review_id = ? AND session = ? AND status = ? AND publish_at > ? "
            "RETURNING verdict_id",
            (review_id, session, DecisionStatus.UNDOABLE, self._clock()),
        ).fetchone()
        return row[0] if row else None

    def take_due(self, *, at_once: bool = False) -> list[Review]:
        """Return what is to be published now, oldest first; from here on it cannot be undone.

        ``at_once`` includes what could still be undone.
        """
        now = float("inf") if at_once else self._clock()
        with transaction(self._connection) as connection:
            connection.execute(
                "UPDATE decisions SET status = ? WHERE status = ? AND publish_at <= ?",
                (DecisionStatus.PUBLISHING, DecisionStatus.UNDOABLE, now),
            )
            rows = connection.execute(
                "SELECT review FROM decisions WHERE status = ? ORDER BY publish_at",
                (DecisionStatus.PUBLISHING,),
            ).fetchall()
        return [from_json(review.encode(), Review) for (review,) in rows]

    def acknowledge(self, review_id: str) -> None:
        """Note that Kafka has a decision."""
        self._connection.execute(
            "UPDATE decisions SET status = ? WHERE review_id = ?", (DecisionStatus.ACKNOWLEDGED, review_id)
        )

    def publish_again(self) -> None:
        """Publish what Kafka had before: the topic may have been created anew. A repeat is ignored."""
        change = (DecisionStatus.PUBLISHING, DecisionStatus.ACKNOWLEDGED)
        with transaction(self._connection) as connection:
            connection.execute("UPDATE decisions SET status = ? WHERE status = ?", change)
            connection.execute(_DELETE_FAILED)

    def set_failed(self, review_id: str, status: DecisionStatus) -> None:
        """Keep a decision that is superseded or refused, without its texts, for its reviewer to see."""
        with transaction(self._connection) as connection:
            connection.execute(
                "UPDATE decisions SET status = ?, review = '' WHERE review_id = ?", (status, review_id)
            )
            connection.execute(
                f"{_DELETE_FAILED} AND publish_at < ?",
                (self._clock() - _TOLD_SECONDS,),
            )

    def remove(self, review_id: str) -> None:
        """Forget a decision: it was read back."""
        self._connection.execute("DELETE FROM decisions WHERE review_id = ?", (review_id,))

    def all(self, session: str | None = None) -> list[StoredDecision]:
        """Return the stored decisions, or those of one session, the newest first."""
        rows = self._connection.execute(
            "SELECT review_id, verdict_id, outcome, status, publish_at, proposal FROM decisions "
            "WHERE ? IS NULL OR session = ? ORDER BY publish_at DESC",
            (session, session),
        )
        return [
            StoredDecision(review_id, verdict_id, outcome, self._status(status, publish_at), proposal)
            for review_id, verdict_id, outcome, status, publish_at, proposal in rows
        ]

    def _status(self, status: str, publish_at: float) -> DecisionStatus:
        due = status == DecisionStatus.UNDOABLE and publish_at <= self._clock()
        return DecisionStatus.PUBLISHING if due else DecisionStatus(status)

    def lease(self, verdict_id: str, session: str, seconds: float) -> bool:
        """Give an answer to a session, and take its former one back; False if another session has it."""
        if self.holder(verdict_id) not in (None, session):
            return False
        with transaction(self._connection) as connection:
            connection.execute(
                "DELETE FROM leases WHERE verdict_id = ? OR session = ?", (verdict_id, session)
            )
            row = (verdict_id, session, self._clock() + seconds)
            connection.execute("INSERT INTO leases VALUES (?, ?, ?)", row)
        return True

    def release(self, session: str) -> None:
        """Take the answer of a session back."""
        self._connection.execute("DELETE FROM leases WHERE session = ?", (session,))

    def leave(self, session: str) -> None:
        """Forget what only this session needs: its lease, and which of its decisions failed."""
        self.release(session)
        self._connection.execute(f"{_DELETE_FAILED} AND session = ?", (session,))

    def holder(self, verdict_id: str) -> str | None:
        """Return the session that has an answer, or None."""
        row = self._connection.execute(
            "SELECT session FROM leases WHERE verdict_id = ? AND until > ?", (verdict_id, self._clock())
        ).fetchone()
        return row[0] if row else None

    def leased_to(self, session: str) -> str | None:
        """Return the answer that a session has, or None."""
        row = self._connection.execute(
            "SELECT verdict_id FROM leases WHERE session = ? AND until > ?", (session, self._clock())
        ).fetchone()
        return row[0] if row else None

    def decided(self) -> set[str]:
        """Return the verdicts that were decided."""
        return {verdict_id for (verdict_id,) in self._connection.execute(_DECIDED)}

    def unavailable(self) -> set[str]:
        """Return the verdicts that are leased or decided."""
        rows = self._connection.execute("SELECT verdict_id FROM leases WHERE until > ?", (self._clock(),))
        return self.decided() | {verdict_id for (verdict_id,) in rows}

    def hand_over(self, verdict_id: str, handover: Handover, seconds: float) -> None:
        """Store that an answer was passed on, for so long to nobody else, and end its lease."""
        passed = (handover.reviewer, handover.receiver, handover.for_lead, handover.reason)
        row = (verdict_id, person_key(handover.reviewer), *passed, self._clock() + seconds)
        with transaction(self._connection) as connection:
            connection.execute("INSERT OR REPLACE INTO handovers VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            connection.execute("DELETE FROM leases WHERE verdict_id = ?", (verdict_id,))

    def handovers(self, verdict_id: str) -> list[Handover]:
        """Return who passed an answer on, the first one first."""
        query = (
            "SELECT reviewer, receiver, for_lead, reason FROM handovers WHERE verdict_id = ? ORDER BY rowid"
        )
        rows = self._connection.execute(query, (verdict_id,))
        return [Handover(reviewer, to, bool(lead), reason) for reviewer, to, lead, reason in rows]

    def reserved(self, person: str, *, is_lead: bool) -> tuple[list[str], set[str]]:
        """Return the answers that a person gets first by name, and those that are not for him by now.

        The last who passed an answer on says to whom it goes. Nobody gets what he passed on himself.
        """
        rows = self._connection.execute(
            "SELECT verdict_id, person, receiver, for_lead FROM handovers WHERE until > ? ORDER BY rowid",
            (self._clock(),),
        ).fetchall()
        own = {verdict_id for verdict_id, by, *_ in rows if by == person}
        last = {verdict_id: (receiver, for_lead) for verdict_id, _, receiver, for_lead in rows}
        first, others = [], set()
        for verdict_id, (receiver, for_lead) in last.items():
            if person_key(receiver) == person:
                first.append(verdict_id)
            elif receiver or verdict_id in own or (for_lead and not is_lead):
                others.add(verdict_id)
        return first, others

    def passed_on(self, person: str | None = None) -> set[str]:
        """Return the answers that were passed on, or those that this person passed on."""
        query = "SELECT verdict_id FROM handovers WHERE ? IS NULL OR person = ?"
        return {verdict_id for (verdict_id,) in self._connection.execute(query, (person, person))}

    def forget_handovers(self, verdict_ids: Collection[str]) -> None:
        """Forget who passed these answers on: they have an outcome."""
        rows = [(each,) for each in verdict_ids]
        self._connection.executemany("DELETE FROM handovers WHERE verdict_id = ?", rows)
