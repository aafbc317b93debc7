"""The tables of the desk's state, and the statements that change and read them.

Every record is stored together with its place. Whatever the order in which topics and partitions are read,
the tables are the same at the end.
"""

from typing import Final

from streams.desk import judgements
from streams.desk.decisions import desk_format
from streams.storage import topic_positions

SCHEMA: Final = """
CREATE TABLE held (
    verdict_id TEXT NOT NULL PRIMARY KEY,
    list INTEGER NOT NULL,  -- 0: waits, 1: blocked, 2: blocked and rated, 3: sent
    raters INTEGER NOT NULL,  -- so many people shall rate it for the audit
    partition INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,
    since INTEGER NOT NULL,
    risk REAL NOT NULL,  -- that the answer is untrue
    message_type TEXT NOT NULL,
    language TEXT NOT NULL,
    tenant TEXT NOT NULL,
    reasons TEXT NOT NULL,
    verdict BLOB NOT NULL
) STRICT;
CREATE INDEX held_by_age ON held (list, message_type, since, verdict_id, language, tenant, reasons);
CREATE TABLE proposals (
    verdict_id TEXT NOT NULL,
    review_id TEXT NOT NULL,
    partition INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,
    reviewer TEXT NOT NULL,  -- as person_key writes the name
    choice TEXT NOT NULL,
    review BLOB NOT NULL,
    PRIMARY KEY (verdict_id, review_id)
) STRICT;
CREATE INDEX held_audit ON held (verdict_id) WHERE raters > 0;
CREATE TABLE verdicts (  -- what the figures need when the text is gone
    verdict_id TEXT NOT NULL PRIMARY KEY,
    list INTEGER NOT NULL,
    partition INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,
    scored_at INTEGER NOT NULL,
    message_type TEXT NOT NULL,
    reason TEXT NOT NULL,
    judged TEXT NOT NULL
) STRICT;
CREATE TABLE reviews (  -- the first of its id on its partition
    verdict_id TEXT NOT NULL,
    review_id TEXT NOT NULL,
    partition INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,
    final INTEGER NOT NULL,  -- an outcome or a proposal of one, not a rating alone
    reviewer TEXT NOT NULL,  -- as person_key writes the name
    rating INTEGER,
    label TEXT,
    reviewed_at INTEGER NOT NULL,
    PRIMARY KEY (verdict_id, review_id, partition)
) STRICT;
CREATE TABLE outcomes (
    verdict_id TEXT NOT NULL PRIMARY KEY,
    partition INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    review_id TEXT NOT NULL,
    reviewed_at INTEGER NOT NULL
) STRICT;
"""
#: Of a desk that has read its topics: to keep them up meanwhile costs much more than to build them then.
INDEXES: Final = {
    "held_by_list": "held (list, tenant)",
    "held_by_risk": "held (list, risk DESC, since, verdict_id, message_type, language, tenant, reasons)",
    "verdicts_by_time": "verdicts (scored_at)",
    "verdicts_by_place": 'verdicts (list, partition, "offset")',
    "reviews_by_time": "reviews (reviewed_at)",
    "outcomes_by_time": "outcomes (reviewed_at)",
}
TABLES: Final = ("held", "verdicts", "reviews", "proposals", "outcomes")
FORMAT: Final = desk_format(11, SCHEMA + judgements.SCHEMA + topic_positions.SCHEMA)
# A repeat of a verdict has the same id. Which record is kept does not depend on the order in which topics
# and partitions are read: one on verdicts.review, then the first of its partition.
HOLD: Final = """
INSERT INTO held SELECT :verdict_id,
    iif(:list = 1, 1 + EXISTS (SELECT 1 FROM reviews WHERE verdict_id = :verdict_id AND NOT final), :list),
    :raters, :partition, :offset, :since, :risk, :message_type, :language, :tenant, :reasons, :verdict
WHERE NOT EXISTS (SELECT 1 FROM outcomes WHERE verdict_id = :verdict_id)
ON CONFLICT (verdict_id) DO UPDATE SET list = excluded.list, raters = excluded.raters,
    partition = excluded.partition, "offset" = excluded."offset", since = excluded.since,
    risk = excluded.risk, message_type = excluded.message_type, language = excluded.language,
    tenant = excluded.tenant, reasons = excluded.reasons, verdict = excluded.verdict
WHERE (excluded.list, excluded.partition, excluded."offset") < (list, partition, "offset")
"""
NOTE: Final = """
INSERT INTO verdicts
VALUES (:verdict_id, :list, :partition, :offset, :scored_at, :message_type, :reason, :judged)
ON CONFLICT (verdict_id) DO UPDATE SET list = excluded.list, partition = excluded.partition,
    "offset" = excluded."offset", scored_at = excluded.scored_at, message_type = excluded.message_type,
    reason = excluded.reason, judged = excluded.judged
WHERE (excluded.list, excluded.partition, excluded."offset") < (list, partition, "offset")
"""
REVIEW: Final = "INSERT INTO reviews VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"

# Only until there is an outcome. A repeat has the same id, and the first one is kept.
PROPOSE: Final = """
INSERT INTO proposals SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7
WHERE NOT EXISTS (SELECT 1 FROM outcomes WHERE verdict_id = ?1)
ON CONFLICT (verdict_id, review_id) DO UPDATE SET partition = excluded.partition,
    "offset" = excluded."offset", reviewer = excluded.reviewer, choice = excluded.choice,
    review = excluded.review
WHERE (excluded.partition, excluded."offset") < (partition, "offset")
"""
#: Those who chose differ: only a lead may choose. Else: whoever did not.
CLOSED: Final = """
SELECT verdict_id FROM proposals GROUP BY verdict_id
HAVING iif(count(DISTINCT choice) > 1, NOT ?, max(reviewer = ?))
"""
RATE: Final = "UPDATE held SET list = 2 WHERE verdict_id = ? AND list = 1"
RATERS: Final = (
    "(SELECT count(DISTINCT reviewer) FROM reviews WHERE verdict_id = held.verdict_id AND NOT final)"
)
# A sent verdict is there to be rated alone.
END_AUDIT: Final = f"DELETE FROM held WHERE verdict_id = ? AND list = 3 AND raters <= {RATERS}"  # noqa: S608
# By id, which says nothing: of a sample that nobody has the time for, what is rated must not be the oldest.
NEXT_AUDIT: Final = f"""
SELECT verdict_id FROM held WHERE raters > 0 AND raters > {RATERS} AND list > 0 AND since > ?
AND NOT EXISTS (SELECT 1 FROM reviews WHERE verdict_id = held.verdict_id AND reviewer = ?) {{}}
ORDER BY verdict_id LIMIT ?
"""  # noqa: S608 - the condition is that of a filter
DECIDE: Final = """
INSERT INTO outcomes VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (verdict_id) DO UPDATE SET partition = excluded.partition, "offset" = excluded."offset",
    outcome = excluded.outcome, review_id = excluded.review_id, reviewed_at = excluded.reviewed_at
WHERE (excluded.partition, excluded."offset") < (partition, "offset")
"""
#: A verdict whose record Kafka has deleted; a list and a partition are places in one topic.
FORGET_VERDICT: Final = """
DELETE FROM verdicts WHERE list = ? AND partition = ? AND "offset" < ? AND scored_at <= ?
"""
#: What was said of verdicts that are forgotten, or were never there. Reading all topics again ends with the
#: same: their verdicts are not among what Kafka has.
FORGET: Final = (
    """
DELETE FROM reviews WHERE reviewed_at <= ?
AND NOT EXISTS (SELECT 1 FROM held WHERE verdict_id = reviews.verdict_id)
""",
    """
DELETE FROM proposals WHERE NOT EXISTS (SELECT 1 FROM held WHERE verdict_id = proposals.verdict_id)
AND NOT EXISTS (SELECT 1 FROM reviews WHERE verdict_id = proposals.verdict_id AND reviewed_at > ?)
""",
    """
DELETE FROM outcomes WHERE reviewed_at <= ?
AND NOT EXISTS (SELECT 1 FROM verdicts WHERE verdict_id = outcomes.verdict_id)
""",
    judgements.FORGET_JUDGEMENTS,
)


RATINGS: Final = """
SELECT verdict_id, reviewer, rating, label FROM reviews JOIN verdicts USING (verdict_id)
WHERE scored_at >= ? AND (rating IS NOT NULL OR label IS NOT NULL)
ORDER BY reviews.partition, reviews."offset"
"""
FACTS: Final = """
SELECT verdict_id, list, message_type, reason, scored_at, judged, outcome,
    (SELECT reviewed_at FROM reviews WHERE verdict_id = outcomes.verdict_id
     AND review_id = outcomes.review_id AND partition = outcomes.partition)
FROM verdicts LEFT JOIN outcomes USING (verdict_id) WHERE scored_at >= ?
AND EXISTS (SELECT 1 FROM reviews WHERE verdict_id = verdicts.verdict_id)
"""
