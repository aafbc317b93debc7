"""Verdicts, also of shadows, and reviews, without texts, in a SQLite file: a function of the topics alone."""

import json
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from aiokafka import TopicPartition

from schemas import Codec, Review, Verdict
from scoring.guarantees.joined_ratings import (
    Joined,
    JoinedRating,
    PersonsReview,
    VerdictFacts,
    join,
    review_order,
    verdict_order,
)
from scoring.values.exchange import Decision
from streams.kafka.topic_identity import TopicIdentity
from streams.kafka.topic_reader import Offsets, TopicSnapshot
from streams.kafka.topics import Topics
from streams.reviews.audit_sample import AuditSample
from streams.reviews.rating_records import ShadowDecision, persons_review, verdict_facts
from streams.storage import topic_positions
from streams.storage.store_file import StoreFormat, connect, open_store_file, transaction

DATABASE_NAME: Final = "ratings.sqlite3"
_SCHEMA: Final = """
CREATE TABLE verdicts (
    place INTEGER PRIMARY KEY AUTOINCREMENT,  -- later for what replaces a row, and never used again
    verdict_id TEXT NOT NULL UNIQUE,
    scored_at INTEGER NOT NULL,
    certified_by TEXT NOT NULL,
    facts TEXT NOT NULL
) STRICT;
CREATE INDEX verdicts_by_time ON verdicts (scored_at);
CREATE INDEX verdicts_by_policy ON verdicts (certified_by) WHERE certified_by <> '';
CREATE TABLE reviews (
    review_id TEXT NOT NULL PRIMARY KEY,
    verdict_id TEXT NOT NULL,
    reviewed_at INTEGER NOT NULL,
    facts TEXT NOT NULL
) STRICT;
CREATE INDEX reviews_by_verdict ON reviews (verdict_id);
CREATE TABLE shadow_decisions (
    verdict_id TEXT NOT NULL,
    name TEXT NOT NULL,
    scored_at INTEGER NOT NULL,
    decision TEXT NOT NULL,
    PRIMARY KEY (verdict_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX shadow_decisions_by_time ON shadow_decisions (scored_at);
"""
# What is lost at a power failure is read again, since its offsets are lost with it.
FORMAT: Final = StoreFormat(
    setting="desk.store",
    application_id=0x74677261,  # "tgra"
    layout=3,
    schema=_SCHEMA + topic_positions.SCHEMA,
    pragmas=("synchronous = NORMAL",),
)


def rating_topics(topics: Topics) -> tuple[str, ...]:
    """Return the topics that ratings are a function of."""
    return (*topics.outputs, topics.shadow_verdicts, topics.reviews)


@dataclass(slots=True)
class _Drawn:
    """The verdicts of a version that the sample draws, up to a place of the table."""

    certified_by: str = ""
    since: int = 0
    sample: str = ""
    place: int = 0
    verdict_ids: set[str] = field(default_factory=set)


class RatingStore:
    """Every verdict and review once, whatever the order in which records come, and how often.

    One thread writes, any thread reads.

    Args:
        folder: has the file; the caller holds its lock.
        codec: decodes the records: what another release could not read is read again.
    """

    def __init__(self, folder: Path, codec: Codec) -> None:
        self._reader_id = codec.reader_id
        self._drawn = _Drawn()
        self._writer = open_store_file(folder / DATABASE_NAME, FORMAT)
        self._reader = connect(folder / DATABASE_NAME, FORMAT)

    def close(self) -> None:
        """Close the file."""
        with closing(self._writer), closing(self._reader):
            pass

    def rebuild_reason(self, log: TopicSnapshot) -> str | None:
        """Return a stable code for why the topics must be read from the beginning, or None to read on."""
        return topic_positions.rebuild_reason(self._reader, log, self._reader_id)

    def reset(self, identities: Iterable[TopicIdentity]) -> None:
        """Forget everything, and note which topics are read from now on."""
        self._drawn = _Drawn()
        with transaction(self._writer) as writer:
            topic_positions.reset(writer, _TABLES, identities, self._reader_id)

    def next_offsets(self) -> dict[TopicPartition, int]:
        """Return the next offset to read of each partition."""
        return topic_positions.next_offsets(self._reader)

    def apply(self, records: Iterable[Verdict | Review | ShadowDecision], offsets: Offsets) -> None:
        """Store records and the next offsets in one transaction; unknown decisions are left out."""
        with transaction(self._writer):
            for record in records:
                if isinstance(record, Review):
                    self._store_review(persons_review(record))
                elif record.decision not in _DECISIONS:
                    continue
                elif isinstance(record, ShadowDecision):
                    self._writer.execute(_STORE_SHADOW, asdict(record))
                else:
                    self._store_verdict(verdict_facts(record))
            topic_positions.note_offsets(self._writer, offsets)

    def prune(self, before: int) -> None:
        """Forget verdicts that were scored, and reviews that were written, before then (ms since 1970)."""
        with transaction(self._writer) as writer:
            writer.execute("DELETE FROM verdicts WHERE scored_at < ?", (before,))
            writer.execute("DELETE FROM reviews WHERE reviewed_at < ?", (before,))
            writer.execute("DELETE FROM shadow_decisions WHERE scored_at < ?", (before,))

    def joined(self, sample: AuditSample, since: int = 0, until: int = 2**62) -> Joined:
        """Join the verdicts that were scored from ``since`` on and before ``until`` with the reviews."""
        query = "SELECT facts FROM verdicts WHERE scored_at >= ? AND scored_at < ?"
        verdicts = [_to_facts(text) for (text,) in self._reader.execute(query, (since, until))]
        reviews = self._reader.execute("SELECT facts FROM reviews")
        return join(verdicts, [PersonsReview(**json.loads(text)) for (text,) in reviews], sample.draw)

    def newest(self, sample: AuditSample, since: int, limit: int) -> tuple[JoinedRating, ...]:
        """Return the newest ``limit`` verdicts that were scored from ``since`` on, with their reviews."""
        query = "FROM verdicts WHERE scored_at >= ? ORDER BY scored_at DESC LIMIT ?"
        rows = self._reader.execute(f"SELECT facts {query}", (since, limit))
        verdicts = [_to_facts(text) for (text,) in rows]
        rows = self._reader.execute(
            f"SELECT facts FROM reviews WHERE verdict_id IN (SELECT verdict_id {query})",  # noqa: S608
            (since, limit),
        )
        return join(verdicts, [PersonsReview(**json.loads(text)) for (text,) in rows], sample.draw).ratings

    def shadow_names(self, since: int) -> list[str]:
        """Return the shadows that judged answers from ``since`` on (ms since 1970), in alphabetical order."""
        query = "SELECT DISTINCT name FROM shadow_decisions WHERE scored_at >= ? ORDER BY name LIMIT ?"
        return [name for (name,) in self._reader.execute(query, (since, _MAX_SHADOWS))]

    def shadow_decisions(self, name: str, verdict_ids: Iterable[str]) -> dict[str, Decision]:
        """Return what a shadow decided of these, as far as it judged them; of repeats the first counts."""
        query = "SELECT decision FROM shadow_decisions WHERE verdict_id = ? AND name = ?"
        found = ((each, self._reader.execute(query, (each, name)).fetchone()) for each in verdict_ids)
        return {each: Decision(row[0]) for each, row in found if row}

    def audited(self, sample: AuditSample, certified_by: str, since: int) -> tuple[JoinedRating, ...]:
        """Return what a version of the policy has sent since then and the sample draws, rated or not."""
        drawn = self._drawn
        if (drawn.certified_by, drawn.since, drawn.sample) != (certified_by, since, sample.id):
            drawn = self._drawn = _Drawn(certified_by, since, sample.id)
        query = (
            "SELECT place, verdict_id FROM verdicts WHERE certified_by = ? AND certified_by <> '' "
            "AND place > ? AND scored_at >= ? ORDER BY place"
        )
        for place, verdict_id in self._reader.execute(query, (certified_by, drawn.place, since)):
            drawn.place = place
            if sample.raters(verdict_id):
                drawn.verdict_ids.add(verdict_id)
        facts, reviews = list[VerdictFacts](), list[PersonsReview]()
        query = "SELECT facts FROM verdicts WHERE verdict_id = ? AND certified_by = ? AND scored_at >= ?"
        for each in drawn.verdict_ids:
            facts += [_to_facts(text) for (text,) in self._reader.execute(query, (each, certified_by, since))]
        query = "SELECT facts FROM reviews WHERE verdict_id = ?"
        for verdict in facts:
            rows = self._reader.execute(query, (verdict.verdict_id,))
            reviews += [PersonsReview(**json.loads(text)) for (text,) in rows]
        return join(facts, reviews, sample.draw).ratings

    def inputs(self, since: int, until: int, limit: int) -> list[dict[str, float]]:
        """Return the inputs of the risk of the newest ``limit`` verdicts of this time (ms since 1970)."""
        query = (
            "SELECT facts ->> '$.inputs' FROM verdicts WHERE scored_at >= ? AND scored_at < ? "
            "ORDER BY scored_at DESC LIMIT ?"
        )
        return [json.loads(inputs) for (inputs,) in self._reader.execute(query, (since, until, limit))]

    def _store_verdict(self, facts: VerdictFacts) -> None:
        query = "SELECT facts FROM verdicts WHERE verdict_id = ?"
        stored = self._writer.execute(query, (facts.verdict_id,)).fetchone()
        if stored is None or verdict_order(facts) < verdict_order(_to_facts(stored[0])):
            text = json.dumps({**asdict(facts), "versions": sorted(facts.versions)})
            row = (facts.verdict_id, facts.scored_at, facts.certified_by, text)
            self._writer.execute(_REPLACE_VERDICT, row)

    def _store_review(self, review: PersonsReview) -> None:
        query = "SELECT facts FROM reviews WHERE review_id = ?"
        stored = self._writer.execute(query, (review.review_id,)).fetchone()
        if stored is None or review_order(review) < review_order(PersonsReview(**json.loads(stored[0]))):
            row = (review.review_id, review.verdict_id, review.reviewed_at, json.dumps(asdict(review)))
            self._writer.execute("INSERT OR REPLACE INTO reviews VALUES (?, ?, ?, ?)", row)


_DECISIONS: Final = frozenset(Decision)
_TABLES: Final = ("verdicts", "reviews", "shadow_decisions")
#: More are a mistake: each is compared with what was decided.
_MAX_SHADOWS: Final = 20
_STORE_SHADOW: Final = """
INSERT INTO shadow_decisions VALUES (:verdict_id, :name, :scored_at, :decision)
ON CONFLICT DO UPDATE SET scored_at = excluded.scored_at, decision = excluded.decision
WHERE (excluded.scored_at, excluded.decision) < (scored_at, decision)
"""
_REPLACE_VERDICT: Final = """
INSERT OR REPLACE INTO verdicts (verdict_id, scored_at, certified_by, facts) VALUES (?, ?, ?, ?)
"""


def _to_facts(text: str) -> VerdictFacts:
    values = json.loads(text)
    values["decision"] = Decision(values["decision"])
    return VerdictFacts(**{**values, "versions": frozenset(values["versions"])})
