"""Answers that the checks leave in doubt, and a judge that finds in each what it is to say of it."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final

from schemas.records import ChatbotAnswer, ContextPassage
from streams.settings import Settings
from tests.support.workers import changed

#: What the judge says of an answer, by a word in it: label, confidence, score.
SAYS: Final = {
    "zeker": ("TRUE", 0.97, 5),
    "onjuist": ("FALSE", 0.96, 1),
    "misschien": ("TRUE", 0.55, 4),
    "ontwijkend": ("NOT_GIVEN", 0.95, 3),
}
WRONG: Final = "dikke map"
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_TEXT = "Een dossier is een dikke map met de stukken van een klant. Dat is {word}, zegt {name}."
_DOCUMENT = "Een dossier is een map. Daarin staan de stukken van een klant."
_ANSWER = re.compile(r"^\[answer (\w+)\]\n(.*?)\n\[/answer \1\]$", re.DOTALL | re.MULTILINE)
_ON = re.compile(rf"\b({'|'.join(SAYS)})\b")


def doubtful_answers(
    count: int, run: str, conversation_length: int = 1, words: tuple[str, ...] = tuple(SAYS)
) -> list[ChatbotAnswer]:
    """Give answers of a type that is not scored, no two alike, with one of the words each in turn."""
    return [
        ChatbotAnswer(
            answer_id=f"{run}-{number}",
            conversation_id=f"{run}-c{number // conversation_length}",
            question="Wat is een dossier?",
            answer=_TEXT.format(word=words[number % len(words)], name=_name(run, number)),
            produced_at=datetime(2026, 3, 2, 9, 15, tzinfo=UTC),
            context=(ContextPassage("dossiers", _DOCUMENT, "Dossiers"),),
            language="nl",
        )
        for number in range(count)
    ]


def word_of(answer: str) -> str | None:
    """Give the word that tells what the judge says of an answer, None where there is none."""
    found = _ON.search(answer)
    return found and found[1]


def judge(asked: Mapping[str, Any]) -> str:
    """Reply to a request of method ``single`` with what the answer in it is marked with, or unsure."""
    label, confidence, score = SAYS[word_of(judged_answer(asked)) or "misschien"]
    wrong = [{"words": WRONG, "kind": "hallucination"}] if label == "FALSE" else []
    return json.dumps({"label": label, "confidence": confidence, "score": score, "wrong": wrong})


def judged_answer(asked: Mapping[str, Any]) -> str:
    """Give the answer that a request asks about, as the model sees it."""
    found = _ANSWER.search(asked["messages"][-1]["content"])
    assert found is not None
    return found[2]


def _name(run: str, number: int) -> str:
    """Give a name of letters, since numbers that no document has are held against an answer."""
    letters = "".join(chr(ord("a") + int(digit)) for digit in str(number))
    return "".join(filter(str.isalpha, run)).title() + letters


def with_judge(
    settings: Settings, url: str, endpoint: Mapping[str, Any] = _NOTHING, **judges: Any
) -> Settings:
    """Give settings of a worker with one scoring process that asks the model ``gpt-small`` at an address.

    It is the only one of its group: its successor takes over at once.
    """
    small = {"base_url": url, "model": "gpt-small", **endpoint}
    return changed(
        settings,
        kafka={"group_instance_id": "only"},
        flow={"session_timeout_seconds": 6},
        scoring={"processes": 1},
        judges={"endpoints": {"small": small}, **judges},
    )
