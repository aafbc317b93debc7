"""Answers that a worker with the right policy sends by itself, in Dutch and English."""

from datetime import UTC, datetime

from schemas.records import ChatbotAnswer, ContextPassage
from scoring.policy import Policy
from streams.settings import Settings

#: What would be sent with :func:`sending`, and why.
WOULD_BE = "high_score"
_TEXTS = {
    "nl": ("Wat is een dossier?", "Een dossier is een map met stukken.", "Een dossier is een map."),
    "en": ("What is a file?", "A file is a folder of papers.", "A file is a folder."),
}


def sending(settings: Settings) -> Settings:
    """Give settings with which these answers are sent: the documents have most of what they say."""
    return settings.model_copy(update={"policy": Policy(auto_send_at=3.0)})


def sendable_answers(count: int, run: str, languages: tuple[str, ...] = ("nl",)) -> list[ChatbotAnswer]:
    """Give answers in these languages in turn, each in a conversation of its own."""
    return [_answer(f"{run}-{number}", languages[number % len(languages)]) for number in range(count)]


def _answer(answer_id: str, language: str) -> ChatbotAnswer:
    question, answer, document = _TEXTS[language]
    when = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
    context = (ContextPassage("files", document),)
    return ChatbotAnswer(answer_id, answer_id, question, answer, when, context, language=language)
