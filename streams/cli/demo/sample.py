"""The sample knowledge base and chat log that come with the package."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Literal

from schemas import BadLine, ChatbotAnswer, KnowledgeDocument, read_jsonl

Language = Literal["nl", "en"]


def sample_documents(language: Language) -> list[KnowledgeDocument]:
    """Read the help documents."""
    return [
        line
        for _, line in read_jsonl(_path("documents", language), KnowledgeDocument)
        if not isinstance(line, BadLine)
    ]


def sample_answers(language: Language) -> list[ChatbotAnswer]:
    """Read the chat log in its order, with answers that quote a guide word for word in between."""
    answers = _answers("answers", language)
    guides = _answers("guides", language)
    distance = len(answers) // len(guides)
    for number, guide in enumerate(guides):
        answers.insert(number * (distance + 1) + distance // 2, guide)
    return answers


def _answers(name: str, language: Language) -> list[ChatbotAnswer]:
    lines = read_jsonl(_path(name, language), ChatbotAnswer)
    return [line for _, line in lines if not isinstance(line, BadLine)]


def _path(name: str, language: Language) -> Path:
    return Path(str(files("streams") / "sample" / f"{name}.{language}.jsonl"))
