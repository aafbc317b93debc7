"""Stable codes that carry their meaning."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class Code(StrEnum):
    """A stable code; ``description`` says in one sentence, or a few words, what it means."""

    description: str

    def __new__(cls, code: str, description: str) -> Self:
        """Make a member whose value is the code and that carries its description."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.description = description
        return member
