"""The rule for what is text, and its refusal of what is not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scoring.values.types import Exchange

_HALF = re.compile("[\ud800-\udfff]")


class NoText(ValueError):
    """A text holds half of a character (a lone surrogate); the message names the text and quotes nothing."""


def is_text(text: str) -> bool:
    """Say whether all characters are whole: half of one (a lone surrogate) cannot be encoded."""
    return not _HALF.search(text)


def check_readable(exchange: Exchange) -> None:
    """Raise NoText where a text of the exchange cannot be encoded, and so not be parsed either."""
    for name, text in _texts(exchange):
        if not is_text(text):
            raise NoText(f"the {name} holds half of a character (a lone surrogate)")


def _texts(exchange: Exchange) -> Iterator[tuple[str, str]]:
    yield "question", exchange.question
    yield "answer", exchange.answer
    for passage in exchange.context:
        yield "context", passage.text
        yield "title of a passage", passage.title or ""
    if translation := exchange.translation:
        yield "translated question", translation.question.text
        yield "translated answer", translation.answer.text
        for each in translation.context:
            yield "translated context", each.text
