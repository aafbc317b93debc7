"""The case that a judge is asked about: question, answer, and what the answer is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from scoring.values.types import Exchange, Passage


@dataclass(frozen=True, slots=True)
class Documents:
    """The help documents that an answer rests on: everything it says must be in them."""

    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Expected:
    """The answer that a test set expects (paper 002, section 3.1): the answer must mean the same."""

    text: str


@dataclass(frozen=True, slots=True)
class Case:
    """One question with the chatbot's answer, and the reference to judge it by."""

    question: str
    answer: str
    reference: Documents | Expected

    @classmethod
    def of(cls, exchange: Exchange) -> Self:
        """Return the case of an exchange, judged by the documents of its context, untranslated."""
        return cls(exchange.question, exchange.answer, Documents(exchange.context))
