"""Passages of documents: how a text is split, and the terms by which the keyword search compares texts."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from scoring.lexicon import load_shipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semantic_text_splitter import MarkdownSplitter

#: The name of a language's stemmer and of its stop words, by its ISO 639-1 code.
STEMMERS: Final = MappingProxyType(
    {
        "da": "danish",
        "de": "german",
        "en": "english",
        "es": "spanish",
        "fi": "finnish",
        "fr": "french",
        "it": "italian",
        "nl": "dutch",
        "no": "norwegian",
        "pt": "portuguese",
        "sv": "swedish",
    }
)
# Neither the embedders nor tantivy take half of a UTF-16 character.
_SURROGATES = re.compile("[\ud800-\udfff]")


class Chunk(NamedTuple):
    """A part of a text: ``text[start:end]``."""

    text: str
    start: int
    end: int


def replace_surrogates(text: str) -> str:
    """Return the text with U+FFFD for each lone surrogate."""
    return _SURROGATES.sub("\ufffd", text)


def split_into_chunks(text: str, max_characters: int, overlap: int) -> tuple[Chunk, ...]:
    """Split a text (Markdown or plain) into at least one chunk, each of up to ``max_characters``.

    A chunk begins and ends with sections and blocks of Markdown where these are short enough, else with
    emphasised words or sentences; so it may be shorter, and its ``overlap`` with the one before it too, down
    to none between two sections. Lone surrogates come out as U+FFFD.
    """
    text = replace_surrogates(text)
    if len(text) <= max_characters:
        return (Chunk(text, 0, len(text)),)
    chunks, covered = [], 0
    for start, chunk in _splitter(max_characters, overlap).chunk_indices(text):
        if (end := start + len(chunk)) > covered:  # else it lies within the one before it
            covered = end
            chunks.append(Chunk(chunk, start, end))
    return tuple(chunks) or (Chunk("", 0, 0),)


@lru_cache(4)
def _splitter(max_characters: int, overlap: int) -> MarkdownSplitter:
    from semantic_text_splitter import MarkdownSplitter  # noqa: PLC0415 - not needed where all is indexed

    return MarkdownSplitter(max_characters, overlap)


def stemmed_terms(text: str, language: str) -> list[str]:
    """Return the stem of each word in order, without stop words; the word where there is no stemmer."""
    return _analyzer(language).analyze(replace_surrogates(text))


def terms_with_spans(text: str, language: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the terms of :func:`stemmed_terms`, each with the span of its word."""
    for token in _analyzer(language).pre_tokenize(replace_surrogates(text)).tokens:
        yield token.text, (token.char_offset_from, token.char_offset_to)


def matching_spans(question: str, passage: str, language: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of the passage's words that the question has too, as the keyword search compares them.

    >>> matching_spans("Hoe verstuur ik facturen?", "Een factuur versturen", "nl")
    ((4, 11), (12, 21))
    """
    asked = set(stemmed_terms(question, language))
    return tuple(span for term, span in terms_with_spans(passage, language) if term in asked)


@cache
def _analyzer(language: str) -> TextAnalyzer:
    builder = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.lowercase())
    if lexicon := load_shipped().get(language):
        # Tantivy's own list for English has 33 words.
        builder = builder.filter(Filter.custom_stopword(sorted(lexicon.function_words)))
    if name := STEMMERS.get(language):
        builder = builder.filter(Filter.stopword(name)).filter(Filter.stemmer(name))
    return builder.filter(Filter.ascii_fold()).build()
