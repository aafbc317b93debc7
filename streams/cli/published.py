"""The documents that a deployment has: what its documents topic holds now, each in its newest version."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from operator import itemgetter

from schemas import Codec, KnowledgeDocument
from streams.cli.output import plural, say
from streams.cli.reading import open_topics
from streams.documents.changes import read_change
from streams.documents.versions import Change
from streams.kafka.topics import Topics
from streams.settings import Settings

_JSON = "json_not_accepted"

#: Of one document: by partition the time that counts, and what the newest record of it there says.
_Newest = dict[int, tuple[int, Change]]


@dataclass(frozen=True, slots=True)
class Published:
    """The documents by their ids, in the order of these, and how many records hold none that can be read.

    ``json_refused`` of these are JSON, which is not read unless it is asked for; ``unreadable_ids`` are the
    ids of those that have one.
    """

    documents: Mapping[str, KnowledgeDocument]
    unreadable: int
    json_refused: int = 0
    unreadable_ids: frozenset[str] = frozenset()

    def tell(self) -> None:
        """Say on standard error what is not among the documents, if anything."""
        if self.json_refused:
            say(
                f"{plural(self.json_refused, 'document')} of the topic in JSON, which is not read here: "
                "encoding.json_input is off"
            )
        if others := self.unreadable - self.json_refused:
            say(
                f"{plural(others, 'document')} of the topic cannot be read: see `truthgate dead-letters list`"
            )


async def read_published(settings: Settings) -> Published:
    """Read the documents topic to its end.

    As in the store of a worker, within a partition the later record is newer, and between partitions the one
    with the later time.

    Raises:
        WrongUsage: the topic is not there.
        KafkaError: it may not be read.
        ServiceUnreachable: no broker answers.
        RegistryUnreachable: nor does the schema registry.
    """
    encoding = settings.encoding
    codec = Codec(encoding.schema_registry_url, encoding.json_input)
    newest: dict[str, _Newest] = {}
    unreadable = 0
    json_refused: set[tuple[int, int]] = set()
    async with (
        open_topics(settings.kafka, Topics(settings.kafka.topic_prefix).documents) as (reader, log),
        aclosing(reader.between(log.begins, log.ends)) as batches,
    ):
        async for records in batches:
            for record in records:
                await codec.lookup(record.value)
                change, bad = read_change(record, codec)
                if bad and bad.reason.error_class == _JSON:
                    json_refused.add((record.partition, record.offset))
                if change:
                    _note(newest.setdefault(change.document_id, {}), change)
                else:
                    unreadable += 1
    changes = [max(each.values(), key=itemgetter(0))[1] for _, each in sorted(newest.items())]
    documents = {change.document_id: change.document for change in changes if change.document}
    there = [change for change in changes if change.unreadable]
    as_json = sum((change.partition, change.offset) in json_refused for change in there)
    ids = frozenset(change.document_id for change in there)
    return Published(documents, unreadable + len(there), as_json, ids)


def _note(newest: _Newest, change: Change) -> None:
    earlier, _ = newest.get(change.partition, (change.timestamp, None))
    newest[change.partition] = (max(earlier, change.timestamp), change)
