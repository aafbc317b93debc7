"""How far a store has read its topics, in its own file: noted in one transaction with what was read."""

import sqlite3
from collections.abc import Iterable
from typing import Final

from aiokafka import TopicPartition

from streams.kafka.topic_identity import TopicIdentity
from streams.kafka.topic_reader import Offsets, TopicSnapshot

#: Part of the schema of the file.
SCHEMA: Final = """
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


def rebuild_reason(connection: sqlite3.Connection, log: TopicSnapshot, reader_id: str) -> str | None:
    """Return a stable code for why a store must be read from the beginning, or None to read on.

    ``reader_id`` names all but the topics that the content depends on, such as the release.
    """
    rows = connection.execute("SELECT cluster_id, topic, topic_id, reader FROM origins").fetchall()
    origins = {topic: TopicIdentity(cluster, topic, topic_id) for cluster, topic, topic_id, _ in rows}
    if not origins:
        return "new"
    if origins.keys() != {each.topic for each in log.identities} or not all(
        each.is_same(origins[each.topic]) for each in log.identities
    ):
        return "another_topic"
    if any(reader != reader_id for *_, reader in rows):
        return "another_release"
    for at, offset in next_offsets(connection).items():
        # Beyond the end: another log was read. Before the beginning: records were never read.
        if not log.beginning_offsets.get(at, 0) <= offset <= log.end_offsets.get(at, -1):
            return "offset_out_of_range"
    return None


def reset(
    writer: sqlite3.Connection, tables: Iterable[str], identities: Iterable[TopicIdentity], reader_id: str
) -> None:
    """Empty the tables, and note which topics are read from now on; within a transaction."""
    for table in (*tables, "next_offsets", "origins"):
        writer.execute(f"DELETE FROM {table}")  # noqa: S608 - of the stores
    rows = [(each.topic, each.cluster_id, each.topic_id, reader_id) for each in identities]
    writer.executemany("INSERT INTO origins VALUES (?, ?, ?, ?)", rows)


def next_offsets(connection: sqlite3.Connection) -> dict[TopicPartition, int]:
    """Return the next offset to read of each partition."""
    rows = connection.execute("SELECT topic, partition, next_offset FROM next_offsets")
    return {TopicPartition(topic, partition): offset for topic, partition, offset in rows}


def note_offsets(writer: sqlite3.Connection, offsets: Offsets) -> None:
    """Store the next offsets; within the transaction that stores what was read up to them."""
    rows = [(at.topic, at.partition, offset) for at, offset in offsets.items()]
    writer.executemany("INSERT OR REPLACE INTO next_offsets VALUES (?, ?, ?)", rows)
