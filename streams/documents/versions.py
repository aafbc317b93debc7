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
    """A document as it was in one version, and that version's name (see :func:`document_version`).

    ``substitute`` says that the version which was asked for may have been another, that is not kept any more.
    """

    document: KnowledgeDocument
    version: str
    is_substitute: bool = False


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """The record that a version came from; another version of the document has another.

    ``timestamp`` is in milliseconds since 1970, ``name`` that of :func:`document_version`.
    """

    partition: int
    offset: int
    timestamp: int
    name: str


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """One record of the topic: the new document of an id, or None when there is none any more.

    ``timestamp`` is the record's, in milliseconds since 1970. ``unreadable`` says that there is a
    document, but not one that this worker can read, and ``reader`` what it was tried with
    (see :attr:`schemas.Codec.reads`).
    """

    document_id: str
    document: KnowledgeDocument | None
    partition: int
    offset: int
    timestamp: int
    unreadable: bool = False
    reader_id: str = ""


def version_name(document: KnowledgeDocument) -> str:
    """Name a version by its content: 16 hexadecimal digits of a SHA-256.

    It is of language, title, text, and the mark to be sent where there is one. The same content has the same
    name in every worker and after every restart, wherever it was read from. What is no part of what answers
    are judged by (the address, the time) does not change it.
    """
    digest = hashlib.sha256()
    mark = ("auto_send",) if document.auto_send else ()
    for part in (document.language, document.title, document.text, *mark):
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8) + encoded)
    return digest.hexdigest()[:_LENGTH]


_FAULT_TEXTS = {
    "invalid_key": "the key is empty or no UTF-8",
    "key_mismatch": "the key is another than the document's id",
    "invalid_text": "a text cannot be encoded as UTF-8",
}


@dataclass(frozen=True, slots=True)
class BadDocument:
    """A record that holds no document that can be used, and why it belongs in the dead letters."""

    received: ReceivedRecord
    reason: BadAnswer


def read_changes(
    records: Iterable[ConsumerRecord], codec: Codec
) -> tuple[list[DocumentChange], list[BadDocument]]:
    """Read records: the changes they make, in order, and those that hold no usable document."""
    read = [read_change(record, codec) for record in records]
    return [change for change, _ in read if change], [bad for _, bad in read if bad]


def read_change(record: ConsumerRecord, codec: Codec) -> tuple[DocumentChange | None, BadDocument | None]:
    """Read one record: what it does to the store, and what is wrong with it, if anything.

    A value that cannot be read takes the older version away. That version is out of date, and no
    answer may be judged against it; besides, compaction removes it from the topic, so a store
    that is built later would not have it either.
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
    place = (record.partition, record.offset, record.timestamp)
    if reason is None:
        return DocumentChange(document_id, document, *place), None
    return DocumentChange(document_id, None, *place, unreadable=True, reader_id=codec.reader_id), _bad(
        record, reason
    )


def _fault_of(document: KnowledgeDocument, document_id: str) -> BadAnswer | None:
    if document.document_id != document_id:
        # Compaction and deletion go by the key; under another id the document could not be deleted.
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
    place = (record.topic, record.partition, record.offset)
    return BadDocument(ReceivedRecord(*place, record.key, record.value, tuple(record.headers)), reason)
