"""The state of the desk: a function of the verdict topics and of ``reviews``, in a local SQLite file."""

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from aiokafka import TopicPartition

from schemas import Codec, KnownAnswer, Review, Verdict
from scoring.policy.risk import SHIPPED_RISK, risk_inputs
from streams.desk import judgements
from streams.desk.desk_tables import (
    CLOSED,
    DECIDE,
    END_AUDIT,
    FACTS,
    FORGET,
    FORGET_VERDICT,
    FORMAT,
    HOLD,
    INDEXES,
    NEXT_AUDIT,
    NOTE,
    PROPOSE,
    RATE,
    RATINGS,
    REVIEW,
    TABLES,
)
from streams.desk.lead_figures import PersonsRating, ReviewedVerdict
from streams.kafka.topic_identity import TopicIdentity
from streams.kafka.topic_reader import Offsets, TopicSnapshot
from streams.rates.verdict_counts import to_epoch_ms
from streams.reviews.audit_sample import AuditSample
from streams.settings import DeskSettings
from streams.storage import topic_positions
from streams.storage.store_file import connect, open_store_file, transaction

DATABASE_NAME: Final = "state.sqlite3"
_SENT: Final = 3
#: Ids are random, so that each verdict changes other pages of the indexes: with the usual 2 MiB a long queue
#: is read a fifth slower.
_WRITER_CACHE_KIB: Final = 65_536
#: What figures need of a verdict is kept for so long.
FIGURES_DAYS: Final = 30
_LISTS: Final = {"review": 0, "blocked": 1, "auto_send": _SENT}
_DECISIONS: Final = {number: decision for decision, number in _LISTS.items()}


@dataclass(frozen=True, slots=True)
class HeldFilter:
    """The answers that a reviewer wants to see, and their order; empty: any, and that of the settings."""

    message_type: str = ""
    language: str = ""
    tenant: str = ""
    reason: str = ""
    order: str = ""

    def condition(self) -> tuple[str, list[str]]:
        """Return the SQL of the filter and its parameters."""
        wanted = [each for each in ("message_type", "language", "tenant") if getattr(self, each)]
        parts, values = [f" AND {each} = ?" for each in wanted], [getattr(self, each) for each in wanted]
        if self.reason:
            parts.append(" AND instr(reasons, ?)")
            values.append(f" {self.reason} ")
        return "".join(parts), values


ANY_HELD: Final = HeldFilter()
#: What can be chosen from what there is.
FILTERS: Final = ("message_type", "language", "tenant", "reason")
# One step in the index for each type, instead of one for each verdict.
_TYPES: Final = """
WITH RECURSIVE types(found) AS (
    SELECT min(message_type) FROM held WHERE list = :list UNION ALL
    SELECT (SELECT min(message_type) FROM held WHERE list = :list AND message_type > found)
    FROM types WHERE found IS NOT NULL
) SELECT found FROM types WHERE found IS NOT NULL
"""
_OLDEST: Final = f"""
SELECT found, (SELECT min(since) FROM held WHERE list = 0 AND message_type = found) AS oldest
FROM ({_TYPES}) WHERE oldest IS NOT NULL
"""  # noqa: S608 - of this file


@dataclass(frozen=True, slots=True)
class DeskRecord:
    """A verdict, a review or a known answer, its place in its topic, and its bytes there if known."""

    partition: int
    offset: int
    value: Verdict | Review | KnownAnswer
    encoded: bytes = b""


class DeskState:
    """The verdicts that people decide about or rate, and the first final outcome of each verdict.

    Texts of a verdict are deleted with its outcome, or when a sent one is rated. One thread applies records
    and prunes, any thread reads.

    Args:
        folder: has the file; the caller holds its lock.
        settings: section ``desk``: time limits, order and the key of tenants.
        sample: which sent and blocked verdicts are rated.
        known_answers: whether reviews make answers known (``policy.known_answers``).
    """

    def __init__(
        self, folder: Path, settings: DeskSettings, sample: AuditSample, *, known_answers: bool = False
    ) -> None:
        self.known_answers = known_answers
        self._codec = Codec()
        self.sample = sample
        self._tenant_key = settings.tenant_key or ""
        # What was read with other keys lacks the tenants, or the sample, of these.
        self._reader_id = f"{self._codec.reader_id} {sample.id} {self._tenant_key}"
        self._settings = settings
        self._limits = {str(each): limit for each, limit in settings.time_limits.items()}
        self._places = {str(each): place for place, each in enumerate(settings.first_types)}
        self._writer = open_store_file(folder / DATABASE_NAME, FORMAT)
        self._writer.execute(f"PRAGMA cache_size = -{_WRITER_CACHE_KIB}")
        self._reader = connect(folder / DATABASE_NAME, FORMAT)

    def close(self) -> None:
        """Close the file."""
        with closing(self._writer), closing(self._reader):
            pass

    def rebuild_reason(self, log: TopicSnapshot) -> str | None:
        """Return a stable code for why the state must be read from the beginning, or None to read on."""
        return topic_positions.rebuild_reason(self._reader, log, self._reader_id)

    def reset(self, identities: Iterable[TopicIdentity]) -> None:
        """Forget everything, and note which topics are read from now on."""
        with transaction(self._writer) as writer:
            for name in INDEXES:
                writer.execute(f"DROP INDEX IF EXISTS {name}")
            tables = (*TABLES, *judgements.TABLES)
            topic_positions.reset(writer, tables, identities, self._reader_id)

    def build_indexes(self) -> None:
        """Build the indexes of a desk that has read its topics, if they are not there; the content stays."""
        with transaction(self._writer) as writer:
            for name, columns in INDEXES.items():
                writer.execute(f"CREATE INDEX IF NOT EXISTS {name} ON {columns}")

    def next_offsets(self) -> dict[TopicPartition, int]:
        """Return the next offset to read of each partition."""
        return topic_positions.next_offsets(self._reader)

    def apply(self, records: Iterable[DeskRecord], offsets: Offsets) -> None:
        """Store what records change, together with the next offsets, in one transaction."""
        with transaction(self._writer) as writer:
            for record in records:
                if self.known_answers:
                    judgements.apply_judgement(writer, record.value)
                if isinstance(record.value, Verdict):
                    self._hold(writer, record, record.value)
                elif isinstance(record.value, Review):
                    self._review(writer, record, record.value)
            topic_positions.note_offsets(writer, offsets)

    def _review(self, writer: sqlite3.Connection, record: DeskRecord, review: Review) -> None:
        verdict_id, place = review.verdict_id, (record.partition, record.offset)
        is_rating = not (review.is_final or review.is_proposal)
        rated = (review.person, review.rating, review.label, to_epoch_ms(review.reviewed_at))
        writer.execute(REVIEW, (verdict_id, review.review_id, *place, int(not is_rating), *rated))
        if review.is_final:
            writer.execute(DECIDE, (verdict_id, *place, review.outcome, review.review_id, rated[-1]))
            writer.execute("DELETE FROM held WHERE verdict_id = ?", (verdict_id,))
            writer.execute("DELETE FROM proposals WHERE verdict_id = ?", (verdict_id,))
        elif review.is_proposal:
            self._propose(writer, record, review)
        else:
            writer.execute(RATE, (verdict_id,))
            writer.execute(END_AUDIT, (verdict_id,))

    def _hold(self, writer: sqlite3.Connection, record: DeskRecord, verdict: Verdict) -> None:
        of_list = _LISTS.get(verdict.decision, 0)
        raters = self.sample.raters(verdict.verdict_id) if of_list else 0
        if of_list == _SENT and not raters:
            return
        # Encoding costs as much as decoding, and most records are as this release writes them.
        is_encoded = self._codec.is_as_encoded(record.encoded, Verdict)
        row = {
            "verdict_id": verdict.verdict_id,
            "list": of_list,
            "raters": raters,
            "partition": record.partition,
            "offset": record.offset,
            "since": _since(verdict),
            "risk": SHIPPED_RISK.risk(risk_inputs(verdict, verdict.opinions, len(verdict.answer))),
            "message_type": verdict.message_type,
            "language": verdict.language or "",
            "tenant": verdict.metadata.get(self._tenant_key, ""),
            "reasons": f" {' '.join(verdict.reasons)} ",
            "verdict": record.encoded if is_encoded else self._codec.encode(verdict),
            "scored_at": to_epoch_ms(verdict.scored_at),
            "reason": verdict.reasons[0] if verdict.reasons else "",
            "judged": (verdict.opinions[-1].label or "") if verdict.opinions else "",
        }
        writer.execute(HOLD, row)
        writer.execute(NOTE, row)
        if of_list == _SENT:
            writer.execute(END_AUDIT, (verdict.verdict_id,))

    def reviewed(self, since: int) -> list[ReviewedVerdict]:
        """Return the verdicts scored since then (ms since 1970) that are decided about or rated."""
        ratings: dict[str, dict[str, PersonsRating]] = {}
        for verdict_id, person, *rating in self._reader.execute(RATINGS, (since,)):
            ratings.setdefault(verdict_id, {})[person] = PersonsRating(person, *rating)  # the last word
        found, rows = [], self._reader.execute(FACTS, (since,))
        for verdict_id, of_list, message_type, reason, at, judged, outcome, decided_at in rows:
            decision, given = _DECISIONS[of_list], tuple(ratings.get(verdict_id, {}).values())
            if outcome or given:
                reviewed = (judged or None, outcome, decided_at, given)
                drawn = of_list > 0 and self.sample.raters(verdict_id) > 0
                found.append(ReviewedVerdict(decision, message_type, reason, at, *reviewed, drawn=drawn))
        return found

    def waiting_by_age(self, now: int, ages: Sequence[float]) -> dict[str, list[int]]:
        """Count the answers that wait by type and age: up to each of ``ages`` in seconds, then older ones."""
        sums = "".join(", sum(since > ?)" for _ in ages)
        query = f"SELECT message_type{sums}, count(*) FROM held WHERE list = 0 GROUP BY message_type"  # noqa: S608
        rows = self._reader.execute(query, [now - round(1000 * age) for age in ages])
        return {each: [high - low for low, high in pairwise([0, *counts])] for each, *counts in rows}

    def time_used(self, now: int) -> float:
        """Return the largest share of its time limit that an answer has waited at ``now`` (ms since 1970)."""
        oldest = self._oldest_by_type()
        return max(((now - since) / self._limit(each) for each, since in oldest), default=0.0)

    def prune(self, now: int, begins: Mapping[tuple[str, int], int]) -> None:
        """Forget at ``now`` (ms since 1970) sent verdicts that nobody rated, and what nothing needs any more.

        All topics must have been read. ``begins`` has the first offset that Kafka has of each decision and
        partition: what is said of a verdict is kept as long as Kafka has it, and the days of the figures.
        """
        with transaction(self._writer) as writer:
            unrated = (_SENT, now - round(1000 * self._settings.blocked_time_limit_seconds))
            writer.execute("DELETE FROM held WHERE list = ? AND since <= ?", unrated)
            old = now - FIGURES_DAYS * 86_400_000
            for (decision, partition), begin in begins.items():
                writer.execute(FORGET_VERDICT, (_LISTS[decision], partition, begin, old))
            for each in FORGET:
                writer.execute(each, (old,))
            writer.execute(judgements.FORGET_KEYS)

    def _propose(self, writer: sqlite3.Connection, record: DeskRecord, review: Review) -> None:
        choice = hashlib.sha256(f"{review.proposal} {review.text or ''}".encode("utf-8", "surrogatepass"))
        row = (review.verdict_id, review.review_id, record.partition, record.offset, review.person)
        writer.execute(PROPOSE, (*row, choice.hexdigest(), self._codec.encode(review)))

    def proposals(self, verdict_id: str) -> list[Review]:
        """Return what reviewers chose for a verdict that more than one has to decide about."""
        query = 'SELECT review FROM proposals WHERE verdict_id = ? ORDER BY partition, "offset"'
        rows = self._reader.execute(query, (verdict_id,))
        return [self._codec.decode(review, Review) for (review,) in rows]

    def closed_to(self, person: str, *, is_lead: bool) -> set[str]:
        """Return the verdicts that a person may not choose for: he did, or only a lead may."""
        return {verdict_id for (verdict_id,) in self._reader.execute(CLOSED, (is_lead, person))}

    def held(self, verdict_id: str) -> Verdict | None:
        """Return a verdict without a final outcome, or None."""
        row = self._reader.execute("SELECT verdict FROM held WHERE verdict_id = ?", (verdict_id,)).fetchone()
        return self._codec.decode(row[0], Verdict) if row else None

    def is_held(self, verdict_id: str) -> bool:
        """Return whether a verdict is on a list: without a final outcome, or to be rated."""
        query = "SELECT EXISTS (SELECT 1 FROM held WHERE verdict_id = ?)"
        return bool(self._reader.execute(query, (verdict_id,)).fetchone()[0])

    def tenant(self, verdict_id: str) -> str | None:
        """Return the tenant of a verdict on a list, empty if it names none; None: it is on no list."""
        row = self._reader.execute("SELECT tenant FROM held WHERE verdict_id = ?", (verdict_id,)).fetchone()
        return row[0] if row else None

    def is_blocked(self, verdict_id: str) -> bool | None:
        """Return whether a verdict is blocked and without an outcome or a rating; None: it is on no list."""
        query = "SELECT list FROM held WHERE verdict_id = ? AND list < 2"
        row = self._reader.execute(query, (verdict_id,)).fetchone()
        return row[0] > 0 if row else None

    def has_review(self, verdict_id: str, review_id: str) -> bool:
        """Return whether a review was read."""
        query = "SELECT EXISTS (SELECT 1 FROM reviews WHERE verdict_id = ? AND review_id = ?)"
        return bool(self._reader.execute(query, (verdict_id, review_id)).fetchone()[0])

    def outcome(self, verdict_id: str) -> tuple[str, str] | None:
        """Return the final outcome of a verdict and the id of its review, or None."""
        query = "SELECT outcome, review_id FROM outcomes WHERE verdict_id = ?"
        row = self._reader.execute(query, (verdict_id,)).fetchone()
        return (row[0], row[1]) if row else None

    def next_held(self, wanted: HeldFilter, excluded: Collection[str]) -> str | None:
        """Return the id of the next verdict to review in the wanted order, or None."""
        condition, values = wanted.condition()
        order = wanted.order or self._settings.order
        if order == "expected_error":
            order_by = "ORDER BY risk DESC, since, verdict_id"
            query = f"SELECT verdict_id FROM held WHERE list = 0{condition} {order_by}"  # noqa: S608
            with closing(self._reader.execute(query, values)) as rows:
                return next((verdict_id for (verdict_id,) in rows if verdict_id not in excluded), None)
        query = (
            f"SELECT since, verdict_id FROM held WHERE list = 0 AND message_type = ?{condition} "  # noqa: S608
            "ORDER BY since, verdict_id LIMIT ?"
        )
        found = []
        for each in self._types(0):
            with closing(self._reader.execute(query, (each, *values, len(excluded) + 1))) as rows:
                first = next(
                    ((since, verdict_id) for since, verdict_id in rows if verdict_id not in excluded), None
                )
            if first:
                found.append((self._rank(order, each, first[0]), *first))
        return min(found)[-1] if found else None

    def next_audit(self, wanted: HeldFilter, excluded: Collection[str], person: str, now: int) -> str | None:
        """Return the id of a drawn verdict that this person may rate at ``now`` (ms), or None."""
        condition, values = wanted.condition()
        since = now - round(1000 * self._settings.blocked_time_limit_seconds)
        query = NEXT_AUDIT.format(condition)
        rows = self._reader.execute(query, (since, person, *values, len(excluded) + 1))
        return next((verdict_id for (verdict_id,) in rows if verdict_id not in excluded), None)

    def _rank(self, order: str, message_type: str, since: int) -> int:
        """Return what is least for the first of several types, whose oldest verdict waits since then."""
        match order:
            case "deadline":
                return since + self._limit(message_type)
            case "type":
                return self._places.get(message_type, len(self._places))
            case _:
                return since

    def _limit(self, message_type: str) -> int:
        return round(1000 * self._limits.get(message_type, self._settings.time_limit_seconds))

    def _types(self, of_list: int) -> list[str]:
        return [each for (each,) in self._reader.execute(_TYPES, {"list": of_list})]

    def overdue(self, now: int, most: int) -> list[str]:
        """Return the verdicts whose time limit has passed at ``now`` (milliseconds since 1970)."""
        query = "SELECT verdict_id FROM held WHERE list = ? AND message_type = ? AND since <= ? LIMIT ?"
        blocked_limit = round(1000 * self._settings.blocked_time_limit_seconds)
        found: list[str] = []
        for of_list in range(3):
            for each in self._types(of_list):
                since = now - (blocked_limit if of_list else self._limit(each))
                rows = self._reader.execute(query, (of_list, each, since, most - len(found)))
                found += [verdict_id for (verdict_id,) in rows]
        return found

    def deadline(self, verdict: Verdict) -> int:
        """Return when an answer that waits expires, in milliseconds since 1970."""
        return _since(verdict) + self._limit(verdict.message_type)

    def blocked(self, wanted: HeldFilter, most: int) -> list[Verdict]:
        """Return blocked verdicts without a final outcome or a rating, the newest first."""
        condition, values = wanted.condition()
        query = (
            "SELECT verdict FROM held WHERE verdict_id IN (SELECT verdict_id FROM held "  # noqa: S608
            f"WHERE list = 1{condition} ORDER BY since DESC LIMIT ?) ORDER BY since DESC, verdict_id"
        )
        rows = self._reader.execute(query, (*values, most))
        return [self._codec.decode(value, Verdict) for (value,) in rows]

    def choices(self, tenant: str) -> dict[str, Counter[str]]:
        """Count the answers without an outcome or a rating by each value that a filter can choose.

        With a ``tenant``, only its own.
        """
        found: dict[str, Counter[str]] = {each: Counter() for each in FILTERS}
        # SQLite counts: Python gives up its lock at each row, and gets it back slowly beside a batch.
        rows = self._reader.execute(
            "SELECT message_type, language, tenant, reasons, count(*) FROM held "
            "WHERE list < 2 AND (?1 = '' OR tenant = ?1) GROUP BY 1, 2, 3, 4",
            (tenant,),
        )
        for *values, reasons, count in rows:
            for counter, value in zip(found.values(), values, strict=False):
                counter[value] += count
            for reason in set(reasons.split()):
                found["reason"][reason] += count
        return found

    def count(self, tenant: str = "", *, blocked: bool) -> int:
        """Return how many verdicts, or those of a tenant, have no final outcome; no rating if blocked."""
        query = "SELECT count(*) FROM held WHERE list = ?1 AND (?2 = '' OR tenant = ?2)"
        return int(self._reader.execute(query, (int(blocked), tenant)).fetchone()[0])

    def due_answers(self, most: int) -> list[KnownAnswer]:
        """Return known answers that the topic does not have so."""
        return judgements.due_answers(self._reader, most)

    def listed_answers(self, wanted: str, most: int) -> list[judgements.ListedAnswer]:
        """Return known answers, the latest first, or those of one key or verdict."""
        return judgements.listed_answers(self._reader, wanted, most)

    def oldest(self) -> int | None:
        """Return since when the oldest answer waits, in milliseconds since 1970, or None."""
        return min((since for _, since in self._oldest_by_type()), default=None)

    def _oldest_by_type(self) -> list[tuple[str, int]]:
        return self._reader.execute(_OLDEST, {"list": 0}).fetchall()


def _since(verdict: Verdict) -> int:
    # A chatbot whose clock is ahead does not extend its time limits.
    return to_epoch_ms(min(verdict.produced_at, verdict.scored_at))
