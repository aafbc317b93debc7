"""What a verifier is asked, and what it says."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class VerifierInput:
    """One claim of an answer, the question that was answered, and a passage that may decide it."""

    question: str
    claim: str
    passage: str


@dataclass(frozen=True, slots=True)
class VerifierPrediction:
    """How probable it is that the passage says so, says otherwise, or does not say; in sum 1."""

    supported: float
    contradicted: float
    absent: float


@dataclass(frozen=True, slots=True)
class VerifierResult:
    """One opinion for each claim asked about, in their order; None where time did not suffice."""

    predictions: tuple[VerifierPrediction | None, ...]
    seconds: float

    @property
    def is_complete(self) -> bool:
        """Whether time sufficed for all."""
        return None not in self.predictions


class Verifier(Protocol):
    """A model that gives opinions. Not safe for several threads: each scoring process has its own."""

    def verify(
        self, inputs: Sequence[VerifierInput], language: str, timeout_seconds: float
    ) -> VerifierResult:
        """Return opinions on claims of one answer; no batch begins when ``seconds`` are over.

        Raises any Exception where the model fails on them.
        """


class VerifierUnavailable(RuntimeError):
    """The model that is named cannot be used; ``reason`` is a stable code, the message one line.

    ``verifier_not_installed``: its packages are missing. ``verifier_unreadable``: a file of it is missing,
    is none of its kind, or they do not fit each other.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
