"""Questions to search for, one JSON object a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field

from schemas.records import Label


@dataclass
class Question:
    """A question, the language it states, if any, and whatever ids its line has."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="allow")

    question: Annotated[str, Field(min_length=1)]
    language: Label | None = None

    @property
    def ids(self) -> Mapping[str, Any]:
        """The fields that tell this line's result from others': ``id``, ``answer_id`` and the like."""
        return {name: value for name, value in vars(self).items() if name.endswith("id")}
