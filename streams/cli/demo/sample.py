"""The sample that the demo runs: help documents, a chat log, its ratings, and recorded opinions."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeVar

from schemas import ChatbotAnswer, KnowledgeDocument
from schemas.jsonl import BadLine, read_jsonl

Language = Literal["nl", "en"]
T = TypeVar("T")


def sample_documents(language: Language) -> list[KnowledgeDocument]:
    """Read the help documents of the sample."""
    return _read("documents", language, KnowledgeDocument)


def sample_answers(language: Language) -> list[ChatbotAnswer]:
    """Read the chat log of the sample, with answers that quote a guide interspersed."""
    answers = _read("answers", language, ChatbotAnswer)
    guides = _read("guides", language, ChatbotAnswer)
    distance = len(answers) // len(guides)
    for number, guide in enumerate(guides):
        answers.insert(number * (distance + 1) + distance // 2, guide)
    return answers


def sample_ratings(language: Language) -> dict[str, int]:
    """Read the rating of each answer, from 1 (untrue) to 5 (true), by answer id."""
    rated = {line["answer_id"]: int(line["rating"]) for line in sample_lines("answers", language)}
    # Guides are the words of their documents.
    return rated | {line["answer_id"]: 5 for line in sample_lines("guides", language)}


def sample_lines(name: str, language: Language) -> list[dict[str, Any]]:
    """Read all fields of a file of the sample, also those that no record has."""
    return [json.loads(line) for line in _path(name, language).read_text("utf-8").splitlines()]


def _read(name: str, language: Language, record_type: type[T]) -> list[T]:
    path = _path(name, language)
    return [line for _, line in read_jsonl(path, record_type) if not isinstance(line, BadLine)]


def _path(name: str, language: Language) -> Path:
    return Path(str(files("streams") / "sample" / f"{name}.{language}.jsonl"))
