"""The state of the desk: a function of the verdict topics and of ``reviews``, in a local SQLite file."""

import sqlite3
from collections.abc import Collection, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aiokafka import TopicPartition

from schemas import Codec, Review, Verdict
from streams.desk.database import connect, open_database
from streams.documents.store_file import transaction
from streams.kafka.topic_identity import TopicIdentity
from streams.kafka.topic_reader import Offsets, TopicSnapshot
from streams.rates.verdict_counts import to_epoch_ms

DATABASE_NAME: Final = "state.sqlite3"
_LAYOUT: Final = 1  # raise it with every change of the schema: files with another layout are rebuilt
_SCHEMA: Final = """
CREATE TABLE held (
    verdict_id TEXT NOT NULL PRIMARY KEY,
    blocked INTEGER NOT NULL,
    partition INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,
    produced_at INTEGER NOT NULL,
    verdict BLOB NOT NULL
) STRICT;
CREATE INDEX held_by_age ON held (blocked, produced_at, verdict_id);
CREATE TABLE outcomes (
    verdict_id TEXT NOT NULL PRIMARY KEY,
    partition INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    review_id TEXT NOT NULL
) STRICT;
CREATE TABLE next_offsets (
    topic TEXT NOT NULL,
    partition INTEGER NOT NULL,
    next_offset INTEGER NOT NULL,
    PRIMARY KEY (topic, partition)
) STRICT;
CREATE TABLE origins (
    topic TEXT NOT NULL PRIMARY KEY,
    cluster_id TEXT NOT NULL,
    topic_id TEXT NOT NULL,
    reader TEXT NOT NULL
) STRICT;
"""
_FINAL: Final = frozenset({"send", "reject", "expired"})
SEND_EDITED: Final = "send_edited"

# A repeat of a verdict has the same id. Which record is kept does not depend on the order in which topics
# and partitions are read: one on verdicts.review, then the first of its partition.
_HOLD: Final = """
INSERT INTO held SELECT :verdict_id, :blocked, :partition, :offset, :produced_at, :verdict
WHERE NOT EXISTS (SELECT 1 FROM outcomes WHERE verdict_id = :verdict_id)
ON CONFLICT (verdict_id) DO UPDATE SET blocked = excluded.blocked, partition = excluded.partition,
    "offset" = excluded."offset", produced_at = excluded.produced_at, verdict = excluded.verdict
WHERE (excluded.blocked, excluded.partition, excluded."offset") < (blocked, partition, "offset")
"""
_DECIDE: Final = """
INSERT INTO outcomes VALUES (?, ?, ?, ?, ?)
ON CONFLICT (verdict_id) DO UPDATE SET partition = excluded.partition, "offset" = excluded."offset",
    outcome = excluded.outcome, review_id = excluded.review_id
WHERE (excluded.partition, excluded."offset") < (partition, "offset")
"""

_IN_TIME: Final = (
    "SELECT verdict_id FROM held WHERE blocked = 0 AND produced_at >= ? ORDER BY produced_at, verdict_id"
)
_LATE: Final = _IN_TIME.replace(">=", "<")


def is_final(review: Review) -> bool:
    """Return whether a review decides about its verdict, rather than being a rating alone."""
    return review.outcome in _FINAL or (review.outcome == SEND_EDITED and bool(review.text))


@dataclass(frozen=True, slots=True)
class DeskRecord:
    """A verdict that is held or blocked, or a review, and its place in its topic."""

    partition: int
    offset: int
    value: Verdict | Review


class DeskState:
    """The verdicts without a final outcome, and the first final outcome of each verdict.

    Texts of a verdict are deleted with its outcome. One thread applies records, any thread reads.

    Args:
        folder: has the file; the caller holds its lock.
    """

    def __init__(self, folder: Path) -> None:
        self._codec = Codec()
        self._writer = open_database(folder / DATABASE_NAME, _SCHEMA, _LAYOUT)
        self._reader = connect(folder / DATABASE_NAME)

    def close(self) -> None:
        """Close the file."""
        with closing(self._writer), closing(self._reader):
            pass

    def rebuild_reason(self, log: TopicSnapshot) -> str | None:
        """Return a stable code for why the state must be read from the beginning, or None to read on."""
        rows = self._reader.execute("SELECT cluster_id, topic, topic_id, reader FROM origins").fetchall()
        origins = {topic: TopicIdentity(cluster, topic, topic_id) for cluster, topic, topic_id, _ in rows}
        if not origins:
            return "new"
        if origins.keys() != {each.topic for each in log.identities} or not all(
            each.is_same(origins[each.topic]) for each in log.identities
        ):
            return "another_topic"
        if any(reader != self._codec.reader_id for *_, reader in rows):
            return "another_release"
        for at, offset in self.next_offsets().items():
            # Beyond the end: another log was read. Before the beginning: records were never read.
            if not log.beginning_offsets.get(at, 0) <= offset <= log.end_offsets.get(at, -1):
                return "offset_out_of_range"
        return None

    def reset(self, identities: Iterable[TopicIdentity]) -> None:
        """Forget everything, and note which topics are read from now on."""
        with transaction(self._writer) as writer:
            for table in ("held", "outcomes", "next_offsets", "origins"):
                writer.execute(f"DELETE FROM {table}")  # noqa: S608 - the names are above
            for each in identities:
                row = (each.topic, each.cluster_id, each.topic_id, self._codec.reader_id)
                writer.execute("INSERT INTO origins VALUES (?, ?, ?, ?)", row)

    def next_offsets(self) -> dict[TopicPartition, int]:
        """Return the next offset to read of each partition."""
        rows = self._reader.execute("SELECT topic, partition, next_offset FROM next_offsets")
        return {TopicPartition(topic, partition): offset for topic, partition, offset in rows}

    def apply(self, records: Iterable[DeskRecord], offsets: Offsets) -> None:
        """Store what records change, together with the next offsets, in one transaction."""
        with transaction(self._writer) as writer:
            for record in records:
                if isinstance(record.value, Verdict):
                    self._hold(writer, record, record.value)
                elif is_final(record.value):
                    review = record.value
                    place = (record.partition, record.offset)
                    row = (review.verdict_id, *place, review.outcome, review.review_id)
                    writer.execute(_DECIDE, row)
                    writer.execute("DELETE FROM held WHERE verdict_id = ?", (review.verdict_id,))
            writer.executemany(
                "INSERT OR REPLACE INTO next_offsets VALUES (?, ?, ?)",
                [(at.topic, at.partition, offset) for at, offset in offsets.items()],
            )

    def _hold(self, writer: sqlite3.Connection, record: DeskRecord, verdict: Verdict) -> None:
        row = {
            "verdict_id": verdict.verdict_id,
            "blocked": int(verdict.decision == "blocked"),
            "partition": record.partition,
            "offset": record.offset,
            "produced_at": to_epoch_ms(verdict.produced_at),
            "verdict": self._codec.encode(verdict),
        }
        writer.execute(_HOLD, row)

    def held(self, verdict_id: str) -> Verdict | None:
        """Return a verdict without a final outcome, or None."""
        row = self._reader.execute("SELECT verdict FROM held WHERE verdict_id = ?", (verdict_id,)).fetchone()
        return self._codec.decode(row[0], Verdict) if row else None

    def is_blocked(self, verdict_id: str) -> bool | None:
        """Return whether a verdict without a final outcome is blocked; None if there is no such verdict."""
        query = "SELECT blocked FROM held WHERE verdict_id = ?"
        row = self._reader.execute(query, (verdict_id,)).fetchone()
        return bool(row[0]) if row else None

    def outcome(self, verdict_id: str) -> tuple[str, str] | None:
        """Return the final outcome of a verdict and the id of its review, or None."""
        query = "SELECT outcome, review_id FROM outcomes WHERE verdict_id = ?"
        row = self._reader.execute(query, (verdict_id,)).fetchone()
        return (row[0], row[1]) if row else None

    def next_held(self, in_time_since: int, excluded: Collection[str]) -> str | None:
        """Return the id of the next verdict to review, or None.

        It is the oldest of those that were produced at ``in_time_since`` (milliseconds since 1970) or later,
        else the oldest of all.
        """
        for query in (_IN_TIME, _LATE):
            with closing(self._reader.execute(query, (in_time_since,))) as rows:
                if found := next((each for (each,) in rows if each not in excluded), None):
                    return str(found)
        return None

    def blocked(self, most: int) -> list[Verdict]:
        """Return blocked verdicts without a final outcome, the newest first."""
        query = "SELECT verdict FROM held WHERE blocked = 1 ORDER BY produced_at DESC, verdict_id LIMIT ?"
        return [self._codec.decode(value, Verdict) for (value,) in self._reader.execute(query, (most,))]

    def count(self, *, blocked: bool) -> int:
        """Return how many verdicts have no final outcome."""
        query = "SELECT count(*) FROM held WHERE blocked = ?"
        return int(self._reader.execute(query, (int(blocked),)).fetchone()[0])

    def oldest(self) -> int | None:
        """Return when the oldest waiting answer was produced, in milliseconds since 1970, or None."""
        row = self._reader.execute("SELECT min(produced_at) FROM held WHERE blocked = 0").fetchone()
        return None if row[0] is None else int(row[0])
