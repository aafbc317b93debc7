"""The versions of a document: their names, and the records of the topic that they come from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from schemas import KnowledgeDocument

_LENGTH = 16


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """A document as it was in one version, and that version's name (see :func:`document_version`).

    ``substitute`` says that the version which was asked for may have been another, that is not kept any more.
    """

    document: KnowledgeDocument
    version: str
    substitute: bool = False


@dataclass(frozen=True, slots=True)
class Version:
    """The record that a version came from; another version of the document has another.

    ``timestamp`` is in milliseconds since 1970, ``name`` that of :func:`document_version`.
    """

    partition: int
    offset: int
    timestamp: int
    name: str


@dataclass(frozen=True, slots=True)
class Change:
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
    reader: str = ""


def document_version(document: KnowledgeDocument) -> str:
    """Name a version by its content: 16 hexadecimal digits of the SHA-256 of language, title and text.

    The same content has the same name in every worker and after every restart, wherever it was read
    from. What is no part of what answers are judged against (the address, the time) does not change it.
    """
    digest = hashlib.sha256()
    for part in (document.language, document.title, document.text):
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8) + encoded)
    return digest.hexdigest()[:_LENGTH]
