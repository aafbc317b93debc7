"""The context of an answer: its own passages, the documents that it cites, or search results."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Protocol, Self

from schemas import ChatbotAnswer, ContextPassage, KnowledgeDocument
from scoring.text.language_detection import language_code
from scoring.values.exchange import Passage, PublishedDocument
from scoring.values.rules import Reason
from streams.documents.versions import VersionedDocument, version_name
from streams.search.types import Hit, RetrievalResult, RetrievalUnavailable, Retriever


class ContextSource(StrEnum):
    """The source of the passages that an answer was scored against."""

    INLINE = "inline"
    BY_ID = "by_id"
    RETRIEVED = "retrieved"
    NONE = "none"


class DocumentLookup(Protocol):
    """Looks documents up by id."""

    @property
    def is_stale(self) -> bool:
        """Whether the documents may be out of date."""
        ...

    async def wait_for(
        self, document_ids: Collection[str], produced_at: datetime, seconds: float
    ) -> Mapping[str, VersionedDocument]:
        """Return the documents that are available within ``seconds``, by id.

        Each is the version that was current at ``produced_at`` (aware), or else the oldest stored one, which
        is a substitute if older versions were removed. A document that was deleted by then is left out.
        """
        ...

    def get_version(self, document_id: str, version: str, produced_at: datetime) -> KnowledgeDocument | None:
        """Return this version of a document if it is current, or was at ``produced_at``."""
        ...

    def current(self, document_id: str) -> VersionedDocument | None:
        """Return the current version of a document, or None if there is none."""
        ...


@dataclass(frozen=True, slots=True)
class StaticDocuments:
    """Documents that do not change, such as those of a file.

    ``others`` share their id with a document of ``by_id``, such as the same page in another language. Only a
    search finds them.
    """

    by_id: Mapping[str, KnowledgeDocument]
    others: Mapping[tuple[str, str], KnowledgeDocument] = field(default_factory=dict)

    @classmethod
    def of(cls, documents: Iterable[KnowledgeDocument]) -> Self:
        """Create it from documents; the last one with an id counts, as in the topic."""
        given = tuple(documents)
        by_id = {document.document_id: document for document in given}
        others = (document for document in given if by_id[document.document_id] is not document)
        return cls(by_id, {(each.document_id, version_name(each)): each for each in others})

    @property
    def is_stale(self) -> bool:
        """Never: the documents do not change."""
        return False

    async def wait_for(
        self,
        document_ids: Collection[str],
        produced_at: datetime,  # noqa: ARG002 - there is one version
        seconds: float,  # noqa: ARG002 - nothing arrives later
    ) -> Mapping[str, VersionedDocument]:
        """Return the documents with these ids, without waiting."""
        return {key: found for key in document_ids if (found := self.current(key))}

    def get_version(
        self,
        document_id: str,
        version: str,
        produced_at: datetime,  # noqa: ARG002 - all versions count
    ) -> KnowledgeDocument | None:
        """Return this version of a document, or None if it is unknown."""
        found = self.current(document_id)
        return (
            found.document if found and found.version == version else self.others.get((document_id, version))
        )

    def current(self, document_id: str) -> VersionedDocument | None:
        """Return the document with this id."""
        document = self.by_id.get(document_id)
        return VersionedDocument(document, version_name(document)) if document else None


@dataclass(frozen=True, slots=True)
class PassageSpan:
    """The character offsets of a retrieved passage in its document, and its relevance.

    ``floor`` is the relevance that the best passage needs.
    """

    start: int
    end: int
    relevance: float | None = None
    floor: float | None = None


@dataclass(frozen=True, slots=True)
class ResolvedContext:
    """The passages of an answer, the ids that were not found, and the degraded codes.

    ``source`` is ``NONE`` if and only if there are no passages. ``spans`` are those of retrieved passages, in
    their order; whole documents and the chatbot's own passages have none. ``whole_documents`` are the
    documents of retrieved passages, each once. ``published_documents``: see :class:`scoring.Exchange`.
    """

    passages: tuple[Passage, ...]
    missing_ids: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    source: ContextSource = ContextSource.NONE
    spans: tuple[PassageSpan, ...] = ()
    whole_documents: tuple[Passage, ...] = ()
    published_documents: tuple[PublishedDocument, ...] = ()

    @property
    def scoring_passages(self) -> tuple[Passage, ...]:
        """The passages that the answer is scored against.

        For retrieved passages these are their whole documents, since what an answer says may be just outside
        the passage that was found.
        """
        return self.whole_documents or self.passages


async def resolve_context(
    answer: ChatbotAnswer,
    documents: DocumentLookup,
    document_timeout_seconds: float,
    retriever: Retriever | None = None,
    search_timeout_seconds: float | None = None,
) -> ResolvedContext:
    """Return the context of one answer.

    If the answer has passages that are not blank, the chatbot used these: they are taken as they are, and
    its document ids are not looked up. Otherwise the documents that it cites are looked up, each once,
    in its order, in the version that was current when the answer was produced; one that is missing is not
    searched for. If the answer has neither, passages are retrieved for its question from the current
    documents, and it is scored against their whole documents.

    Args:
        answer: the answer to be scored.
        documents: looks up ids.
        document_timeout_seconds: the longest that all ids together may take.
        retriever: finds passages for answers without context; None if there is no search.
        search_timeout_seconds: the longest that a search may take; ``document_timeout_seconds`` if None.

    Returns:
        The passages, the published documents that may be sent word for word, and the degraded codes; each
        code sends the answer to review:

        - ``context_missing``: an id was not found in time, or the answer has no context and there is no
          retriever.
        - ``context_insufficient``: what was retrieved is below the relevance floor.
        - ``retrieval_unavailable``: nothing could be retrieved.
        - ``documents_stale``: the copy of the documents may be out of date, a passage was found in an
          outdated version since the index lags behind, or a later version replaces the one of that time.
    """
    if _has_passages(answer):
        context = ResolvedContext(tuple(map(_inline_passage, answer.context)), source=ContextSource.INLINE)
    elif answer.document_ids:
        context = await _context_by_id(answer, documents, document_timeout_seconds)
    elif retriever is None:
        return ResolvedContext((), degraded=(Reason.CONTEXT_MISSING,))
    else:
        context = await _retrieve_context(
            answer,
            documents,
            retriever,
            document_timeout_seconds if search_timeout_seconds is None else search_timeout_seconds,
        )
    return replace(context, published_documents=_published_documents(context, documents))


def _published_documents(
    context: ResolvedContext, documents: DocumentLookup
) -> tuple[PublishedDocument, ...]:
    """Return the current documents of the context that are marked to be sent.

    There are none if the context is degraded, or if a passage is of an outdated version or of a document that
    the store does not have.
    """
    if documents.is_stale or context.degraded:
        return ()
    versions = {passage.document_id: passage.version for passage in context.scoring_passages}
    found = {key: named for key in versions if (named := documents.current(key))}
    if len(found) < len(versions) or any(
        versions[key] not in (None, named.version) for key, named in found.items()
    ):
        return ()
    return tuple(as_published(named.document) for named in found.values() if named.document.auto_send)


def as_published(document: KnowledgeDocument) -> PublishedDocument:
    """Return a document as the scorer reads it."""
    return PublishedDocument(
        document.document_id, document.language, document.title, document.text, document.auto_send
    )


async def _context_by_id(
    answer: ChatbotAnswer, documents: DocumentLookup, timeout_seconds: float
) -> ResolvedContext:
    wanted = tuple(dict.fromkeys(answer.document_ids))
    found = await documents.wait_for(wanted, answer.produced_at, timeout_seconds)
    passages = tuple(_document_passage(found[document_id]) for document_id in wanted if document_id in found)
    missing = tuple(document_id for document_id in wanted if document_id not in found)
    complete = _have_text(passages) and not missing
    degraded = () if complete else (Reason.CONTEXT_MISSING,)
    source = ContextSource.BY_ID if passages else ContextSource.NONE
    substituted = any(each.is_substitute for each in found.values())
    return _with_staleness(
        ResolvedContext(passages, missing, degraded, source), documents, outdated=substituted
    )


async def _retrieve_context(
    answer: ChatbotAnswer, documents: DocumentLookup, retriever: Retriever, timeout_seconds: float
) -> ResolvedContext:
    try:
        # The retriever has a timeout of its own; this one is for a retriever that does not keep it.
        async with asyncio.timeout(timeout_seconds):
            found = await retriever.retrieve(answer.question, language_code(answer.language), timeout_seconds)
    # A search that hangs or an unreadable index does not end the worker.
    except (RetrievalUnavailable, TimeoutError, OSError):
        return _with_staleness(ResolvedContext((), degraded=(Reason.RETRIEVAL_UNAVAILABLE,)), documents)
    documents_of = [
        documents.get_version(hit.document_id, hit.version, answer.produced_at) for hit in found.hits
    ]
    return _with_staleness(
        _context_of_hits(found, documents_of), documents, outdated=found.is_outdated or None in documents_of
    )


def _context_of_hits(
    found: RetrievalResult, documents: Sequence[KnowledgeDocument | None]
) -> ResolvedContext:
    passages = tuple(map(_hit_passage, found.hits, documents))
    sufficient = found.is_sufficient and _have_text(passages)
    judged = [
        replace(passage, text=document.text, score=None, offset=0) if document else passage
        for passage, document in zip(passages, documents, strict=True)
    ]
    return ResolvedContext(
        passages,
        degraded=() if sufficient else (Reason.CONTEXT_INSUFFICIENT,),
        source=ContextSource.RETRIEVED if passages else ContextSource.NONE,
        spans=tuple(PassageSpan(hit.start, hit.end, hit.relevance, found.floor) for hit in found.hits),
        whole_documents=tuple(dict.fromkeys(judged)),
    )


def _with_staleness(
    context: ResolvedContext, documents: DocumentLookup, *, outdated: bool = False
) -> ResolvedContext:
    if not (documents.is_stale or outdated):
        return context
    return replace(context, degraded=(*context.degraded, Reason.DOCUMENTS_STALE))


def _has_passages(answer: ChatbotAnswer) -> bool:
    return _have_text(tuple(map(_inline_passage, answer.context)))


def _have_text(passages: Collection[Passage]) -> bool:
    return any(passage.text and not passage.text.isspace() for passage in passages)


def _inline_passage(passage: ContextPassage) -> Passage:
    return Passage(passage.document_id, passage.text, passage.title, passage.score)


def _document_passage(found: VersionedDocument) -> Passage:
    document = found.document
    return Passage(
        document.document_id, document.text, document.title, version=found.version, url=document.url
    )


def _hit_passage(hit: Hit, document: KnowledgeDocument | None) -> Passage:
    url = document.url if document else None
    return Passage(hit.document_id, hit.text, hit.title, hit.score, hit.version, hit.start, url)
