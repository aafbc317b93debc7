"""Documents cut into chunks: the pieces that are indexed and found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from semantic_text_splitter import MarkdownSplitter

# Half of a character of UTF-16 alone; neither the embedders nor tantivy take it.
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document: ``document.text[start:end] == text``."""

    text: str
    start: int
    end: int


def split_into_chunks(text: str, max_characters: int, overlap: int) -> tuple[Chunk, ...]:
    """Cut a text (Markdown or plain) into overlapping chunks.

    A chunk begins and ends with sections and blocks of Markdown
    where these are short enough, else with emphasised words or sentences; so it may be shorter, and the
    overlap too, down to none between two sections.

    Args:
        text: the document's. Lone surrogates come out as U+FFFD.
        max_characters: the most that a chunk has.
        overlap: the most that a chunk repeats of the one before it; less than ``max_characters``.

    Returns:
        The chunks in the text's order, one at least; a text that is no longer than ``max_characters`` is one.
    """
    text = replace_surrogates(text)
    if len(text) <= max_characters:
        return (Chunk(text, 0, len(text)),)
    return tuple(_without_contained(_splitter(max_characters, overlap).chunk_indices(text))) or (
        Chunk("", 0, 0),
    )


def replace_surrogates(text: str) -> str:
    """Return the text with U+FFFD in the place of each lone surrogate."""
    return _SURROGATES.sub("\ufffd", text)


def _without_contained(found: list[tuple[int, str]]) -> Iterator[Chunk]:
    reached = 0
    for start, chunk in found:
        # One that ends within the former says nothing new.
        if start + len(chunk) > reached:
            reached = start + len(chunk)
            yield Chunk(chunk, start, reached)


@lru_cache(4)
def _splitter(characters: int, overlap: int) -> MarkdownSplitter:
    from semantic_text_splitter import MarkdownSplitter  # noqa: PLC0415 - workers without retrieval need none

    return MarkdownSplitter(characters, overlap)
