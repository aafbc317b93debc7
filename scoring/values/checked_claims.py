"""Claims of an answer, each with what the documents say of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class ClaimStatus(StrEnum):
    """What became of a claim when it was checked against the documents."""

    #: One sentence, list item or table row has all of its words that matter, its numbers and its "not".
    SUPPORTED = "supported"
    #: A passage speaks of it, in other words or in part: whether it says it, nothing here can tell.
    SIMILAR = "similar"
    #: The documents say something else.
    CONTRADICTED = "contradicted"
    #: No passage says it.
    NOT_FOUND = "not_found"
    #: It says nothing that documents could: a courtesy, a question, that there is no answer.
    NOT_CHECKABLE = "not_checkable"


class DecidedBy(StrEnum):
    """Who gave a claim its status: comparing words and figures, a verifier, or a language model."""

    WORDS = "words"
    VERIFIER = "verifier"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class ClaimSource:
    """The passage that a claim was compared with: ``text`` is ``[start, end)`` of the document's text.

    Offsets are in characters (code points); ``version`` is that of the document where it came from the
    store of documents, else None.
    """

    document_id: str
    version: str | None
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A clause or list step of an answer, ``answer[start:end] == text``, and what was found of it.

    ``support`` is the share of its content, by weight, that its passage and the question have, in [0, 1];
    None where there was nothing to check. ``mistake`` is the kind of the mistake, a stable code, None where
    there is none. ``derivation``: how the figure that it is about follows from those of the passage, such as
    ``25 - 10 = 15``; None where none was computed. ``lacking``: the places in the answer of those of its
    words and numbers that the passage of a similar claim lacks, or that a judge calls wrong.
    """

    text: str
    start: int
    end: int
    status: ClaimStatus
    mistake: str | None = None
    support: float | None = None
    source: ClaimSource | None = None
    derivation: str | None = None
    lacking: tuple[tuple[int, int], ...] = ()
    decided_by: DecidedBy = DecidedBy.WORDS


def faithfulness(claims: Iterable[CheckedClaim]) -> float | None:
    """Return supported claims / checkable claims, in [0, 1]; None where nothing could be checked.

    Es et al., "Ragas: Automated Evaluation of Retrieval Augmented Generation", section 3.
    """
    checked = [each.status for each in claims if each.status is not ClaimStatus.NOT_CHECKABLE]
    return checked.count(ClaimStatus.SUPPORTED) / len(checked) if checked else None
