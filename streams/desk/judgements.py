"""What persons decided about answers that are equal: from verdicts and reviews to known answers."""

import hashlib
import json
import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

from schemas import KnownAnswer, Review, Verdict
from schemas.records import person_key
from scoring.values.exchange import MAX_UNTRUE_RATING, MIN_TRUE_RATING
from streams.known_answers.known_state import KnownAnswerState
from streams.rates.verdict_counts import to_epoch_ms

#: Of verdicts the keys, of reviews what they say, of `known-answers` the last record of each key.
SCHEMA: Final = """
CREATE TABLE answer_keys (
    verdict_id TEXT NOT NULL,
    key TEXT NOT NULL,
    answer TEXT NOT NULL,  -- the hash of its text
    PRIMARY KEY (verdict_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_keys_by_key ON answer_keys (key);
CREATE TABLE judgements (
    verdict_id TEXT NOT NULL,
    review_id TEXT NOT NULL,
    says TEXT NOT NULL,
    sent TEXT NOT NULL,  -- the hash of the text that was sent as the answer, or empty
    reviewer TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (verdict_id, review_id, says)
) STRICT, WITHOUT ROWID;
CREATE TABLE known_answers (
    key TEXT NOT NULL PRIMARY KEY,
    state TEXT NOT NULL,  -- of the last record, or ended if any record says so
    on_topic TEXT NOT NULL,  -- of the last record
    verdict_id TEXT,
    reviewers TEXT NOT NULL,  -- as JSON
    at INTEGER NOT NULL
) STRICT;
CREATE INDEX known_answers_by_time ON known_answers (at);
CREATE TABLE due_keys (key TEXT NOT NULL PRIMARY KEY) STRICT;
"""
TABLES: Final = ("answer_keys", "judgements", "known_answers", "due_keys")
#: A verdict that was published twice, with other documents, does not tell which of them its reviewer saw, and
#: who sends another text as the answer does not say that the answer is true.
_JUDGEMENTS: Final = """
SELECT verdict_id, review_id, reviewer, at,
    iif((SELECT count(*) FROM answer_keys WHERE verdict_id = judgements.verdict_id) > 1
        OR (says = 'true' AND sent NOT IN ('', answer)), 'unsure', says)
FROM answer_keys JOIN judgements USING (verdict_id) WHERE key = ? ORDER BY at DESC, review_id
"""
#: What is ended stays so, with who ended it.
_READ_KNOWN: Final = """
INSERT INTO known_answers VALUES (:key, :state, :state, :verdict_id, :reviewers, :at)
ON CONFLICT (key) DO UPDATE SET on_topic = excluded.on_topic,
    state = iif(state = 'ended', state, excluded.state),
    verdict_id = iif(state = 'ended', verdict_id, excluded.verdict_id),
    reviewers = iif(state = 'ended', reviewers, excluded.reviewers),
    at = iif(state = 'ended', at, excluded.at)
"""
_FIND: Final = """
SELECT key, state, verdict_id, reviewers, at FROM known_answers
WHERE key = ? OR key IN (SELECT key FROM answer_keys WHERE verdict_id = ?) ORDER BY at DESC LIMIT ?
"""
_ENDED: Final = "SELECT verdict_id, reviewers, at FROM known_answers WHERE key = ? AND state = 'ended'"
#: A key that is not due has on the topic what its judgements say: without them it has the same.
FORGET_JUDGEMENTS: Final = """
DELETE FROM judgements WHERE at <= ?
AND NOT EXISTS (SELECT 1 FROM verdicts WHERE verdict_id = judgements.verdict_id)
AND NOT EXISTS (SELECT 1 FROM answer_keys JOIN due_keys USING (key) WHERE verdict_id = judgements.verdict_id)
"""
FORGET_KEYS: Final = """
DELETE FROM answer_keys WHERE NOT EXISTS (SELECT 1 FROM verdicts WHERE verdict_id = answer_keys.verdict_id)
AND key NOT IN (SELECT key FROM due_keys)
"""
_MAX_REVIEWS: Final = 20


class PersonsJudgement(StrEnum):
    """What a review says of the chatbot's answer."""

    TRUE = "true"
    UNTRUE = "untrue"
    #: Neither, so that with this review the answer cannot be known as true.
    UNSURE = "unsure"


def judgement(review: Review) -> PersonsJudgement | None:
    """Return what a review says of the chatbot's answer, whether its outcome counts or came second.

    - ``untrue``: the outcome ``reject``, the label FALSE or a rating of 1 or 2;
    - ``true``: the outcome ``send`` (of the answer, which is compared later) or the label TRUE, if nothing
      else objects;
    - ``unsure``: both of these, or anything that objects less: an edited text, which says that another one
      is better, but not what is wrong with this one, a rating of 3, the label NOT_GIVEN, wrong words, or a
      proposal to reject or edit, which may be outvoted;
    - None: nothing, such as the outcome ``expired``, a comment, or what no person decided.
    """
    if review.source == "known_answer":
        return None
    rating = review.rating or MIN_TRUE_RATING
    is_true = (review.outcome == "send" and bool(review.text)) or review.label == "TRUE"
    is_untrue = review.outcome == "reject" or review.label == "FALSE" or rating <= MAX_UNTRUE_RATING
    objects = (
        review.outcome == "send_edited"
        or review.label not in {None, "TRUE"}
        or rating < MIN_TRUE_RATING
        or bool(review.wrong_spans)
        or review.proposal in {"send_edited", "reject"}
    )
    if is_untrue:
        return PersonsJudgement.UNSURE if is_true else PersonsJudgement.UNTRUE
    if objects:
        return PersonsJudgement.UNSURE
    return PersonsJudgement.TRUE if is_true else None


def combine(judgements: Collection[str], published: str | None) -> KnownAnswerState | None:
    """Return the state of a key, None if nothing is to be published of it.

    ``published`` is the state on the topic. It counts as one judgement, since the verdicts and reviews that
    it was made from may be deleted by now. So a state can only end.
    """
    found = {*judgements, *filter(None, [published])}
    if found <= {PersonsJudgement.UNSURE}:
        return None
    return KnownAnswerState(found.pop()) if len(found) == 1 else KnownAnswerState.ENDED


@dataclass(frozen=True, slots=True)
class ListedAnswer:
    """A known answer as a lead sees it."""

    key: str
    state: str
    verdict_id: str | None
    reviewers: str
    at: datetime


def apply_judgement(writer: sqlite3.Connection, value: Verdict | Review | KnownAnswer) -> None:
    """Store what a record says, in the transaction of the caller, in whatever order records come."""
    match value:
        case Verdict(known_answer_key=str(key)):
            row = (value.verdict_id, key, text_hash(value.answer))
            writer.execute("INSERT OR IGNORE INTO answer_keys VALUES (?, ?, ?)", row)
            _update_due(writer, _keys_of(writer, value.verdict_id))
        case Review() if says := judgement(value):
            sent = text_hash(value.text) if value.outcome == "send" and value.text else ""
            said = (value.verdict_id, value.review_id, says, sent, value.reviewer)
            at = to_epoch_ms(value.reviewed_at)
            writer.execute("INSERT OR IGNORE INTO judgements VALUES (?, ?, ?, ?, ?, ?)", (*said, at))
            _update_due(writer, _keys_of(writer, value.verdict_id))
        case KnownAnswer():
            reviewers = json.dumps(value.reviewers)
            known = {"key": value.key, "state": value.state, "verdict_id": value.verdict_id}
            writer.execute(_READ_KNOWN, {**known, "reviewers": reviewers, "at": to_epoch_ms(value.at)})
            _update_due(writer, [value.key])


def text_hash(text: str) -> str:
    """Return what texts share that differ in how their lines end: spreadsheets have a way of their own."""
    lines = "\n".join(text.splitlines())
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()


def _keys_of(writer: sqlite3.Connection, verdict_id: str) -> list[str]:
    query = "SELECT key FROM answer_keys WHERE verdict_id = ?"
    return [key for (key,) in writer.execute(query, (verdict_id,))]


def _update_due(writer: sqlite3.Connection, keys: Iterable[str]) -> None:
    """Note which keys have another state than the topic says."""
    for key in keys:
        says = {row[-1] for row in writer.execute(_JUDGEMENTS, (key,))}
        state, on_topic = _topic_states(writer, key)
        if combine(says, state) == on_topic:
            writer.execute("DELETE FROM due_keys WHERE key = ?", (key,))
        else:
            writer.execute("INSERT OR IGNORE INTO due_keys VALUES (?)", (key,))


def _topic_states(reader: sqlite3.Connection, key: str) -> tuple[str | None, str | None]:
    """Return what the topic says of a key, and what its last record says; None if it has none."""
    row = reader.execute("SELECT state, on_topic FROM known_answers WHERE key = ?", (key,)).fetchone()
    return (_of_this_release(row[0]), _of_this_release(row[1])) if row else (None, None)


def _of_this_release(state: str) -> str:
    # A state of a later release is none that this one may change.
    return state if state in set(KnownAnswerState) else KnownAnswerState.ENDED


def due_answers(reader: sqlite3.Connection, most: int) -> list[KnownAnswer]:
    """Return records of keys whose state differs from the one on the topic."""
    keys = [key for (key,) in reader.execute("SELECT key FROM due_keys LIMIT ?", (most,))]
    return [found for key in keys if (found := _known_answer(reader, key))]


def _known_answer(reader: sqlite3.Connection, key: str) -> KnownAnswer | None:
    if (ended := reader.execute(_ENDED, (key,)).fetchone()) is not None:
        verdict_id, reviewers, at = ended
        names = tuple(json.loads(reviewers))
        return KnownAnswer(key, KnownAnswerState.ENDED, verdict_id, (), names, _time(at))
    rows = reader.execute(_JUDGEMENTS, (key,)).fetchall()
    state = combine({row[-1] for row in rows}, _topic_states(reader, key)[0])
    if state is None or not rows:
        return None
    latest = rows[:_MAX_REVIEWS]
    reviews, reviewers = tuple(row[1] for row in latest), tuple(row[2] for row in latest)
    return KnownAnswer(key, state, rows[0][0], reviews, reviewers, _time(rows[0][3]))


def listed_answers(reader: sqlite3.Connection, wanted: str, most: int) -> list[ListedAnswer]:
    """Return known answers, the latest first; ``wanted`` is a key, the id of a verdict with it, or empty."""
    query = "SELECT key, state, verdict_id, reviewers, at FROM known_answers ORDER BY at DESC, key LIMIT ?"
    rows = reader.execute(query, (most,)) if not wanted else reader.execute(_FIND, (wanted, wanted, most))
    return [
        ListedAnswer(key, _of_this_release(state), verdict_id, _names(json.loads(reviewers)), _time(at))
        for key, state, verdict_id, reviewers, at in rows
    ]


def _names(reviewers: list[str]) -> str:
    """Return each person once, by the latest name."""
    names: dict[str, str] = {}
    for each in reviewers:
        names.setdefault(person_key(each), each)
    return ", ".join(names.values())


def _time(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
