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
    """Read the chat log, in its order."""
    return [
        line
        for _, line in read_jsonl(_path("answers", language), ChatbotAnswer)
        if not isinstance(line, BadLine)
    ]


def _path(name: str, language: Language) -> Path:
    return Path(str(files("streams") / "sample" / f"{name}.{language}.jsonl"))
