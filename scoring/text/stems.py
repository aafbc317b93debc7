"""The words of a text by their stems, for comparing without plural endings."""

from __future__ import annotations

from scoring.text.prepared import PreparedText


def content_stems(text: PreparedText) -> frozenset[str]:
    """Return the stems of the words that carry content."""
    lexicon = text.lexicon
    return frozenset(lexicon.stem(word) for word in text.word_texts if word not in lexicon.function_words)


def first_places(text: PreparedText) -> dict[str, tuple[int, int]]:
    """Return the first place of every stem of a text, as character offsets."""
    places: dict[str, tuple[int, int]] = {}
    for word in text.words:
        places.setdefault(text.lexicon.stem(word.text), (word.start, word.end))
    return places
