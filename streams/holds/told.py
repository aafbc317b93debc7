"""The words for what is held: for labels, tables and sentences."""

from __future__ import annotations

from typing import Final

from scoring.policy import Scope

#: In a label, any message type or language.
ALL: Final = "all"


def parts_of(scope: Scope) -> tuple[str, str]:
    """Give message type and language of a scope as labels."""
    return scope.message_type or ALL, scope.language or ALL


def in_words(scope: Scope) -> str:
    """Name the answers that a scope covers, such as ``instruction answers in nl``."""
    kind = scope.message_type or ALL
    return f"{kind} answers in {scope.language}" if scope.language else f"{kind} answers"
