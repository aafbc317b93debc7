"""The key of a known answer: which answers a person's decision about one of them counts for."""

import hashlib
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from schemas import ChatbotAnswer
from scoring.values.exchange import Passage

#: Part of every key: another way of making them must give others.
_VERSION: Final = "known-answer-1"


def answer_key(answer: ChatbotAnswer, passages: Iterable[Passage], tenant_key: str | None) -> str:
    """Return the key of an answer, a SHA-256 in hexadecimal digits.

    Two answers have one key if question and answer are the same characters in Unicode's NFC, the documents
    that they were scored against have the same ids, versions, titles and texts, in any order, and the value
    of ``tenant_key`` in their metadata is the same, or missing in both.
    """
    documents = {_digest([each.document_id, each.version, each.title, each.text]) for each in passages}
    tenant = answer.metadata.get(tenant_key) if tenant_key else None
    texts = (unicodedata.normalize("NFC", text) for text in (answer.question, answer.answer))
    return _digest([_VERSION, tenant_key, tenant, *texts, *sorted(documents)])


def _digest(parts: Iterable[str | None]) -> str:
    return hashlib.sha256(b"".join(_delimit(parts))).hexdigest()


def _delimit(parts: Iterable[str | None]) -> Iterator[bytes]:
    """Yield the parts so that no two lists give the same bytes, and None is not an empty text."""
    for part in parts:
        encoded = b"" if part is None else b"t" + part.encode("utf-8", "surrogatepass")
        yield len(encoded).to_bytes(8) + encoded
