"""The interface of a verifier."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class VerifierInput:
    """One claim of an answer, its question, and a passage that may support it."""

    question: str
    claim: str
    passage: str


@dataclass(frozen=True, slots=True)
class VerifierPrediction:
    """The probabilities that the passage supports the claim, contradicts it, or does neither; in sum 1."""

    supported: float
    contradicted: float
    absent: float


@dataclass(frozen=True, slots=True)
class VerifierResult:
    """One prediction per input, in order; None for inputs that exceeded the timeout."""

    predictions: tuple[VerifierPrediction | None, ...]
    seconds: float

    @property
    def is_complete(self) -> bool:
        """Whether every input has a prediction."""
        return None not in self.predictions


class Verifier(Protocol):
    """A model that predicts support. Not thread-safe: each scoring process has its own."""

    def verify(
        self, inputs: Sequence[VerifierInput], language: str, timeout_seconds: float
    ) -> VerifierResult:
        """Return predictions for the claims of one answer; no batch starts after ``timeout_seconds``.

        Raises any Exception where the model fails.
        """


class VerifierUnavailable(RuntimeError):
    """The configured model cannot be used; ``reason`` is a stable code, the message one line.

    ``verifier_not_installed``: its packages are missing. ``verifier_unreadable``: a file is missing or
    invalid, or the files do not match.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
