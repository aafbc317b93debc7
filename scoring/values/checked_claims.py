"""Claims of an answer with their status against the documents."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class ClaimStatus(StrEnum):
    """The result of checking a claim against the documents."""

    #: One sentence, list item or table row has all of its significant words, numbers and negations.
    SUPPORTED = "supported"
    #: A passage has much of its wording; words do not show whether it means the same.
    SIMILAR = "similar"
    #: The documents say something else.
    CONTRADICTED = "contradicted"
    #: No passage says it.
    NOT_FOUND = "not_found"
    #: Nothing that documents could confirm: a courtesy, a question, a refusal.
    NOT_CHECKABLE = "not_checkable"


class DecidedBy(StrEnum):
    """What decided a claim's status: comparing words and figures, a verifier, or a language model."""

    WORDS = "words"
    VERIFIER = "verifier"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class ClaimSource:
    """The passage that a claim was compared with: ``text`` is ``[start, end)`` of the document's text.

    Offsets are in characters (code points). ``version`` is None for a document that did not come from the
    store.
    """

    document_id: str
    version: str | None
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A sentence or list step of an answer, ``answer[start:end] == text``, and its status.

    ``support``: the weighted share of its content words that its passage and the question have, in [0, 1];
    None where nothing was checked. ``mistake``: the kind of mistake, a stable code. ``derivation``: the
    computation that gives its figure, such as ``25 - 10 = 15``. ``lacking``: spans of the answer, of a
    similar claim or one that is not found, with numbers and names that the documents lack and negations that
    the passage lacks, or with words that a judge calls wrong.
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
    """Return supported claims / checkable claims, in [0, 1]; None without checkable claims.

    Es et al., "Ragas: Automated Evaluation of Retrieval Augmented Generation", section 3.
    """
    checked = [claim.status for claim in claims if claim.status is not ClaimStatus.NOT_CHECKABLE]
    return checked.count(ClaimStatus.SUPPORTED) / len(checked) if checked else None
