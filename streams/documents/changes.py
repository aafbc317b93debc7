"""From a record of the documents topic to a change of the store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aiokafka import ConsumerRecord

from schemas import Codec, DecodeError, KnowledgeDocument
from scoring.values.readable import is_text
from streams.documents.versions import Change
from streams.failures import BadAnswer, Stage
from streams.kafka.received import Received

_FAULTS = {
    "invalid_key": "the key is empty or no UTF-8",
    "key_mismatch": "the key is another than the document's id",
    "invalid_text": "a text cannot be encoded as UTF-8",
}


@dataclass(frozen=True, slots=True)
class BadDocument:
    """A record that holds no document that can be used, and why it belongs in the dead letters."""

    received: Received
    reason: BadAnswer


def read_changes(records: Iterable[ConsumerRecord], codec: Codec) -> tuple[list[Change], list[BadDocument]]:
    """Read records: the changes they make, in order, and those that hold no usable document."""
    read = [read_change(record, codec) for record in records]
    return [change for change, _ in read if change], [bad for _, bad in read if bad]


def read_change(record: ConsumerRecord, codec: Codec) -> tuple[Change | None, BadDocument | None]:
    """Read one record: what it does to the store, and what is wrong with it, if anything.

    A value that cannot be read takes the older version away. That version is out of date, and no
    answer may be judged against it; besides, compaction removes it from the topic, so a store
    that is built later would not have it either.
    """
    document_id = _text(record.key)
    if document_id is None:
        return None, _bad(record, _fault("invalid_key"))
    document, reason = None, None
    try:
        document = None if record.value is None else codec.decode(record.value, KnowledgeDocument)
        reason = _fault_of(document, document_id) if document else None
    except DecodeError as error:
        reason = BadAnswer(Stage(error.stage), error.code, str(error))
    place = (record.partition, record.offset, record.timestamp)
    if reason is None:
        return Change(document_id, document, *place), None
    return Change(document_id, None, *place, unreadable=True, reader=codec.reads), _bad(record, reason)


def _fault_of(document: KnowledgeDocument, document_id: str) -> BadAnswer | None:
    if document.document_id != document_id:
        # Compaction and deletion go by the key; under another id the document could not be deleted.
        return _fault("key_mismatch")
    texts = (document.language, document.title, document.text, document.url or "")
    return None if all(map(is_text, texts)) else _fault("invalid_text")


def _fault(code: str) -> BadAnswer:
    return BadAnswer(Stage.VALIDATE, code, _FAULTS[code])


def _text(key: bytes | None) -> str | None:
    try:
        return key.decode("utf-8") if key else None
    except UnicodeDecodeError:
        return None


def _bad(record: ConsumerRecord, reason: BadAnswer) -> BadDocument:
    place = (record.topic, record.partition, record.offset)
    return BadDocument(Received(*place, record.key, record.value, tuple(record.headers)), reason)
