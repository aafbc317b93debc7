"""A page of help as it was read from a file, whatever it is written in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """The text of a page in Markdown, and what the page says of itself; None where it does not."""

    text: str
    title: str | None = None
    language: str | None = None
    url: str | None = None
