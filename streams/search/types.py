"""The results of retrieval, its errors, and its interface."""

from dataclasses import dataclass
from typing import Protocol

from streams.observability.failures import InfrastructureFailure, loggable_reason


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage of a document, and why it was found.

    ``start`` and ``end`` are character offsets into the document's text; ``version`` is the document's
    version. ``keyword_rank`` and ``vector_rank`` count from 1, None where that search did not find the
    passage. ``keyword_score`` is the BM25 score, ``similarity`` the cosine of question and passage in
    [-1, 1], ``score`` the fused one. ``relevance``, in [-1, 1], is compared with the floor; ``names`` are the
    rare names of the question that the passage has, any of which makes it 1.
    """

    document_id: str
    version: str
    language: str
    title: str
    text: str
    start: int
    end: int
    score: float
    similarity: float
    keyword_rank: int | None = None
    keyword_score: float | None = None
    vector_rank: int | None = None
    relevance: float = 0.0
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """The hits for one question, the best first.

    ``relevance`` is that of the most relevant hit, ``is_sufficient`` whether it reaches ``floor``; both are
    None where nothing was compared. ``is_outdated``: some documents are known to be missing from the index,
    or to be in it in an older version.
    """

    hits: tuple[Hit, ...]
    is_sufficient: bool
    relevance: float | None = None
    floor: float | None = None
    is_outdated: bool = False


class RetrievalUnavailable(Exception):
    """The documents cannot be searched now; the message is a stable code, such as ``index_incomplete``."""


class EmbeddingFailed(Exception):
    """No vectors can be had now; the message is a stable code and never quotes a text."""


class IndexFailed(Exception):
    """The index cannot be read or written; the message says why and never quotes a text."""


def failure_reason(error: Exception) -> str:
    """Return why retrieval failed, in one line that quotes no text."""
    is_loggable = isinstance(error, EmbeddingFailed | IndexFailed | InfrastructureFailure)
    return str(error) if is_loggable else loggable_reason(error)


class Retriever(Protocol):
    """Finds passages for questions."""

    async def retrieve(self, question: str, language: str | None, seconds: float) -> RetrievalResult:
        """Find the passages for one question.

        Args:
            question: as the customer asked it.
            language: ISO 639-1, None where it is not known.
            seconds: the timeout, which includes the wait for other questions.

        Raises:
            RetrievalUnavailable: there is no index (yet), it cannot be read, or the time is up.
        """
