"""The sample knowledge base and chat log that come with the package."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Literal, TypeVar

from schemas import BadLine, ChatbotAnswer, KnowledgeDocument, read_jsonl

Language = Literal["nl", "en"]
T = TypeVar("T")


def sample_documents(language: Language) -> list[KnowledgeDocument]:
    """Read the help documents."""
    return _lines("documents", language, KnowledgeDocument)


def sample_answers(language: Language) -> list[ChatbotAnswer]:
    """Read the chat log in its order, with answers that quote a guide in between."""
    answers = _lines("answers", language, ChatbotAnswer)
    guides = _lines("guides", language, ChatbotAnswer)
    distance = len(answers) // len(guides)
    for number, guide in enumerate(guides):
        answers.insert(number * (distance + 1) + distance // 2, guide)
    return answers


def _lines(name: str, language: Language, record_type: type[T]) -> list[T]:
    path = Path(str(files("streams") / "sample" / f"{name}.{language}.jsonl"))
    return [line for _, line in read_jsonl(path, record_type) if not isinstance(line, BadLine)]
