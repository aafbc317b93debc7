"""What an answer is judged against: the passages it came with, the documents it names, or what is found."""

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
    """Where the passages came from that an answer was judged against."""

    INLINE = "inline"
    BY_ID = "by_id"
    RETRIEVED = "retrieved"
    NONE = "none"


class DocumentLookup(Protocol):
    """Where documents are looked up by id."""

    @property
    def is_stale(self) -> bool:
        """Whether what is found may be out of date."""
        ...

    async def wait_for(
        self, document_ids: Collection[str], produced_at: datetime, seconds: float
    ) -> Mapping[str, VersionedDocument]:
        """Return those of the documents that are there within that many ``seconds``, by id.

        Each in the version that was in force at ``produced_at`` (aware), or the oldest one that is kept
        where none that old is, a ``substitute`` where an older one was forgotten; one that was deleted then
        is not there.
        """
        ...

    def get_version(self, document_id: str, version: str, produced_at: datetime) -> KnowledgeDocument | None:
        """Return this version of a document if it is the current one, or was in force at ``produced_at``."""
        ...

    def current(self, document_id: str) -> VersionedDocument | None:
        """Return the current version of a document, or None where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class StaticDocuments:
    """Documents that are all there from the start, such as those of a file.

    ``others`` have an id that another one of ``by_id`` has as well, such as the same page in another
    language. They are found by searching, not by their id.
    """

    by_id: Mapping[str, KnowledgeDocument]
    others: Mapping[tuple[str, str], KnowledgeDocument] = field(default_factory=dict)

    @classmethod
    def of(cls, documents: Iterable[KnowledgeDocument]) -> Self:
        """Take documents in; by an id the last one is found that has it, as in the topic."""
        given = tuple(documents)
        by_id = {document.document_id: document for document in given}
        others = (document for document in given if by_id[document.document_id] is not document)
        return cls(by_id, {(each.document_id, version_name(each)): each for each in others})

    @property
    def is_stale(self) -> bool:
        """Never: what is given is what counts."""
        return False

    async def wait_for(
        self,
        document_ids: Collection[str],
        produced_at: datetime,  # noqa: ARG002 - there is but one version
        seconds: float,  # noqa: ARG002 - all there is, is there already
    ) -> Mapping[str, VersionedDocument]:
        """Return those of the documents that are there; nothing is waited for."""
        return {key: found for key in document_ids if (found := self.current(key))}

    def get_version(
        self,
        document_id: str,
        version: str,
        produced_at: datetime,  # noqa: ARG002 - all versions that are given count
    ) -> KnowledgeDocument | None:
        """Return this version of a document, or None where it was not given."""
        found = self.current(document_id)
        return (
            found.document if found and found.version == version else self.others.get((document_id, version))
        )

    def current(self, document_id: str) -> VersionedDocument | None:
        """Return the document of that id."""
        document = self.by_id.get(document_id)
        return VersionedDocument(document, version_name(document)) if document else None


@dataclass(frozen=True, slots=True)
class PassageSpan:
    """Where a retrieved passage stands in its document's text, as character offsets, and how relevant it is.

    ``floor`` is the relevance that the best passage needs.
    """

    start: int
    end: int
    relevance: float | None = None
    floor: float | None = None


@dataclass(frozen=True, slots=True)
class ResolvedContext:
    """The passages, the ids that did not resolve, and what that degrades.

    ``source`` is ``NONE`` exactly where there are no passages. ``spans`` are those of retrieved passages, in
    their order; whole documents and the chatbot's own passages have none. ``whole`` are the documents
    that retrieved passages stand in, each once. ``published_documents`` are those that
    :class:`scoring.Exchange` says.
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
        """What the answer is judged against.

        Of what was retrieved, these are the whole documents: what an answer says may stand right beside
        the passage that was found, and would seem to be in no document.
        """
        return self.whole_documents or self.passages


async def resolve_context(
    answer: ChatbotAnswer,
    documents: DocumentLookup,
    document_timeout_seconds: float,
    retriever: Retriever | None = None,
    search_timeout_seconds: float | None = None,
) -> ResolvedContext:
    """Find the context of one answer.

    Passages that come with the answer are what the chatbot had before it: they are used as they
    are, and document ids beside them are not looked up. Without them (blank ones count as none)
    the documents that the answer names are looked up, each once, in the answer's order, in the
    version that was in force when the answer was produced. What is named and not there is missing:
    nothing is searched for in its place. Only where the answer brings neither, passages are
    retrieved for its question, from the documents as they are now; it is judged against the whole
    documents that these stand in.

    Args:
        answer: the answer to be judged.
        documents: where to look ids up.
        document_timeout_seconds: seconds that all of the ids together may take to resolve.
        retriever: finds passages for answers that bring no context; None where nobody does.
        search_timeout_seconds: seconds that this may take; ``document_timeout_seconds`` if None.

    Returns:
        The passages, and the published documents that may prove an answer; degraded holds
        ``context_missing`` when an id did not resolve in time, or the answer brings nothing and there is no
        retriever; ``context_insufficient`` when what was retrieved is below the relevance floor, and
        ``retrieval_unavailable`` when nothing could be retrieved; and
        ``documents_stale`` when the copy of the documents may be out of date, or a passage was found in a
        version that is not, as when the index lags behind a change, or the version that was in force is
        forgotten by now and a later one stands in for it. Each of them sends the answer to review, whatever
        its score.
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
    """Return the documents of the context that are marked to be sent, each as it is now.

    None where the context is degraded, or a passage is of another version than the current one or of a
    document that the store does not have.
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
        # The retriever keeps its time by itself; nobody waits for one that does not.
        async with asyncio.timeout(timeout_seconds):
            found = await retriever.retrieve(answer.question, language_code(answer.language), timeout_seconds)
    # Neither a search without end nor an index that cannot be read is a reason to end the worker.
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
