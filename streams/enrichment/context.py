"""What an answer is judged against: the passages it came with, or the documents it names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from schemas import ChatbotAnswer, ContextPassage, KnowledgeDocument
from scoring.reasons import Reason
from scoring.types import Passage


class Documents(Protocol):
    """Where documents are looked up by id."""

    @property
    def stale(self) -> bool:
        """Whether what is found may be out of date."""
        ...

    async def wait_for(
        self, document_ids: Collection[str], seconds: float
    ) -> Mapping[str, KnowledgeDocument]:
        """Return those of the documents that are there within that many ``seconds``, by id."""
        ...


@dataclass(frozen=True, slots=True)
class GivenDocuments:
    """Documents that are all there from the start, such as those of a file."""

    by_id: Mapping[str, KnowledgeDocument]

    @property
    def stale(self) -> bool:
        """Never: what is given is what counts."""
        return False

    async def wait_for(
        self,
        document_ids: Collection[str],
        seconds: float,  # noqa: ARG002 - all there is, is there already
    ) -> Mapping[str, KnowledgeDocument]:
        """Return those of the documents that are there; nothing is waited for."""
        return {key: self.by_id[key] for key in document_ids if key in self.by_id}


@dataclass(frozen=True, slots=True)
class ResolvedContext:
    """The passages to judge against, the ids that did not resolve, and what that degrades."""

    passages: tuple[Passage, ...]
    missing: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()


async def resolve_context(answer: ChatbotAnswer, documents: Documents, wait: float) -> ResolvedContext:
    """Find the context of one answer.

    Passages that come with the answer are what the chatbot had before it: they are used as they
    are, and document ids beside them are not looked up. Without them (blank ones count as none)
    the documents that the answer names are looked up, each once, in the answer's order.

    Args:
        answer: the answer to be judged.
        documents: where to look ids up.
        wait: seconds that all of the ids together may take to resolve.

    Returns:
        The passages; degraded holds ``context_missing`` when an id did not resolve in time or
        there is no passage at all, and ``documents_stale`` when ids were looked up in a copy that
        may be out of date.
    """
    inline = tuple(map(_inline, answer.context))
    if _say_something(inline):
        return ResolvedContext(inline)
    wanted = tuple(dict.fromkeys(answer.document_ids))
    found = await documents.wait_for(wanted, wait) if wanted else {}
    passages = tuple(_whole(found[document_id]) for document_id in wanted if document_id in found)
    missing = tuple(document_id for document_id in wanted if document_id not in found)
    complete = _say_something(passages) and not missing
    gaps = {Reason.CONTEXT_MISSING: not complete, Reason.DOCUMENTS_STALE: bool(wanted) and documents.stale}
    return ResolvedContext(passages, missing, tuple(gap for gap, there in gaps.items() if there))


def _say_something(passages: Collection[Passage]) -> bool:
    return any(passage.text and not passage.text.isspace() for passage in passages)


def _inline(passage: ContextPassage) -> Passage:
    return Passage(passage.document_id, passage.text, passage.title, passage.score)


def _whole(document: KnowledgeDocument) -> Passage:
    return Passage(document.document_id, document.text, document.title)
