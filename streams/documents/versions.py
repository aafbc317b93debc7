"""Versions of documents, and the changes that records of the topic make."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from aiokafka import ConsumerRecord

from schemas import Codec, DecodeError, KnowledgeDocument
from scoring.values.exchange import is_encodable
from streams.kafka.kafka_records import ReceivedRecord
from streams.observability.failures import BadAnswer, Stage

_LENGTH = 16


@dataclass(frozen=True, slots=True)
class VersionedDocument:
    """A document in one version, with the version's name (see :func:`version_name`).

    ``is_substitute``: the version that was requested may have been another one that has been pruned.
    """

    document: KnowledgeDocument
    version: str
    is_substitute: bool = False


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """The record that a version came from; each version of a document has another one.

    ``timestamp`` is in milliseconds since 1970, ``name`` is that of :func:`version_name`.
    """

    partition: int
    offset: int
    timestamp: int
    name: str


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """One record of the topic: the new document of an id, or None for a deletion.

    ``timestamp`` is the record's, in milliseconds since 1970. ``unreadable``: there is a document, but this
    worker cannot read it; ``reader_id`` is what it was tried with (see :attr:`schemas.Codec.reader_id`).
    """

    document_id: str
    document: KnowledgeDocument | None
    partition: int
    offset: int
    timestamp: int
    unreadable: bool = False
    reader_id: str = ""


def version_name(document: KnowledgeDocument) -> str:
    """Return the name of a version: 16 hexadecimal digits of a SHA-256 of its content.

    The content is language, title, text, and the mark for automatic sending if there is one. Equal content
    has the same name in every worker and after every restart. The URL and the time, which answers are not
    judged by, do not change it.
    """
    digest = hashlib.sha256()
    mark = ("auto_send",) if document.auto_send else ()
    for part in (document.language, document.title, document.text, *mark):
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8) + encoded)
    return digest.hexdigest()[:_LENGTH]


_FAULT_TEXTS = {
    "invalid_key": "the key is empty or not UTF-8",
    "key_mismatch": "the key differs from the document's id",
    "invalid_text": "a text cannot be encoded as UTF-8",
}


@dataclass(frozen=True, slots=True)
class BadDocument:
    """A record without a usable document, and the reason for its dead letter."""

    received: ReceivedRecord
    reason: BadAnswer


def read_changes(
    records: Iterable[ConsumerRecord], codec: Codec
) -> tuple[list[DocumentChange], list[BadDocument]]:
    """Return the changes that records make, in order, and the records without a usable document."""
    read = [read_change(record, codec) for record in records]
    return [change for change, _ in read if change], [bad for _, bad in read if bad]


def read_change(record: ConsumerRecord, codec: Codec) -> tuple[DocumentChange | None, BadDocument | None]:
    """Return the change that one record makes, and its fault, if any.

    An unreadable value removes the older version: that is out of date, and no answer may be judged against
    it. Besides, compaction removes it from the topic, so a store that is built later would not have it
    either.
    """
    document_id = _decode_key(record.key)
    if document_id is None:
        return None, _bad(record, _fault("invalid_key"))
    document, reason = None, None
    try:
        document = None if record.value is None else codec.decode(record.value, KnowledgeDocument)
        reason = _fault_of(document, document_id) if document else None
    except DecodeError as error:
        reason = BadAnswer(Stage(error.stage), error.code, str(error))
    position = (record.partition, record.offset, record.timestamp)
    if reason is None:
        return DocumentChange(document_id, document, *position), None
    return DocumentChange(document_id, None, *position, unreadable=True, reader_id=codec.reader_id), _bad(
        record, reason
    )


def _fault_of(document: KnowledgeDocument, document_id: str) -> BadAnswer | None:
    if document.document_id != document_id:
        # Compaction and deletion use the key; under another id the document could not be deleted.
        return _fault("key_mismatch")
    texts = (document.language, document.title, document.text, document.url or "")
    return None if all(map(is_encodable, texts)) else _fault("invalid_text")


def _fault(code: str) -> BadAnswer:
    return BadAnswer(Stage.VALIDATE, code, _FAULT_TEXTS[code])


def _decode_key(key: bytes | None) -> str | None:
    try:
        return key.decode("utf-8") if key else None
    except UnicodeDecodeError:
        return None


def _bad(record: ConsumerRecord, reason: BadAnswer) -> BadDocument:
    position = (record.topic, record.partition, record.offset)
    return BadDocument(ReceivedRecord(*position, record.key, record.value, tuple(record.headers)), reason)
