"""A rated answer as a line of a file; no topic carries it."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.records import ChatbotAnswer, Label, Rating


@dataclass(frozen=True, slots=True)
class RatedAnswer:
    """A chatbot's answer and what people say of it: ratings of its truthfulness, the question's type."""

    answer: ChatbotAnswer
    rating: Rating | None = None
    rating_second: Rating | None = None
    message_type: Label | None = None
