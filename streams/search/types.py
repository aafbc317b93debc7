"""What retrieval finds for a question, and how it ranked it."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk of a document, and why it was found.

    ``start`` and ``end`` are character offsets into the document's text; ``version`` is the document's
    version. ``keyword_rank`` and ``vector_rank`` count from 1, None where that search did not find the chunk.
    ``keyword_score`` is BM25's, ``similarity`` the cosine of question and chunk in [-1, 1], ``score`` the
    fused one. ``relevance``, in [-1, 1], is what the floor is compared with; ``names`` are the rare names of
    the question that the chunk has, any of which makes it 1.
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

    ``sufficient`` says whether they reach the relevance floor, ``relevance`` what they reach: that of the
    most relevant hit, None where there is none. ``floor`` is that floor, None where nothing was compared with
    it. ``behind`` says that some documents are known to be missing
    from what was searched, or to be there in an older version.
    """

    hits: tuple[Hit, ...]
    is_sufficient: bool
    relevance: float | None = None
    floor: float | None = None
    is_outdated: bool = False


class RetrievalUnavailable(Exception):
    """The documents cannot be searched now; the message is a stable code, such as ``index_incomplete``."""


class Retriever(Protocol):
    """Whoever finds documents for a question."""

    async def retrieve(self, question: str, language: str | None, seconds: float) -> RetrievalResult:
        """Find the passages for one question.

        Args:
            question: as the customer asked it.
            language: ISO 639-1, None where it is not known.
            seconds: how long it may take at most, the wait for other questions included.

        Raises:
            RetrievalUnavailable: there is no index (yet), or it cannot be read, or time is up.
        """
