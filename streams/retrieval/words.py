"""The words of a text as the search compares them: their stems, as numbers."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from types import MappingProxyType
from typing import Final
from zlib import crc32

from snowballstemmer import stemmer

#: The Snowball stemmer of a language, by its ISO 639-1 code.
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

#: The rarity of a word that is not in the language's list; one in a hundred words has Zipf frequency 7.
UNLISTED: Final = 7.0

_REMEMBERED = 200_000
_WORD = re.compile(r"[^\W_]+")
# The library's stemmers keep the word that they are at.
_stemming = threading.Lock()


def terms_of(text: str, language: str) -> Iterator[int]:
    """Yield the number of each word's stem, in order, but of words that a language has in any text.

    Args:
        text: of any kind.
        language: ISO 639-1; of one without a stemmer the words count as they are.
    """
    return (term for term, _ in located(text, language))


def places(question: str, passage: str, language: str) -> tuple[tuple[int, int], ...]:
    """Return the character offsets of the words of a passage that a question has too, as the search finds.

    >>> places("Hoe verstuur ik facturen?", "Een factuur versturen", "nl")
    ((4, 11), (12, 21))
    """
    asked = set(terms_of(question, language))
    return tuple(place for term, place in located(passage, language) if term in asked)


@lru_cache(_REMEMBERED)
def rarity(word: str, language: str | None) -> float:
    """Return how rare a word is in a language at large: powers of ten below one word in a hundred.

    It is in [0, UNLISTED], by wordfreq's list of words with a frequency of one in a million or more; the same
    for all words of a language without a list.
    """
    from wordfreq import available_languages, zipf_frequency  # noqa: PLC0415 - it takes most of a second

    if language not in available_languages("small"):
        return 1.0
    return max(0.0, UNLISTED - zipf_frequency(word, language, "small"))


def located(text: str, language: str) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield what :func:`terms_of` does, each with the character offsets of its word."""
    name = STEMMERS.get(language)
    usual = _usual(name)
    for found in _WORD.finditer(text):
        word = found[0].lower()
        if word not in usual:
            yield _term(word, name), found.span()


@lru_cache(_REMEMBERED)
def _term(word: str, name: str | None) -> int:
    with _stemming:
        stem = _stemmer(name)(word) if name else word
    # Of a million stems some hundred share a number with another, and are taken for one word.
    return crc32(_without_marks(stem).encode("utf-8", "surrogatepass"))


def _without_marks(word: str) -> str:
    if word.isascii():
        return word
    return "".join(
        letter for letter in unicodedata.normalize("NFKD", word) if not unicodedata.combining(letter)
    )


@cache
def _stop_words() -> Mapping[str, Sequence[str]]:
    # The package itself imports SciPy, where there is one, and other things that take their time.
    package = find_spec("bm25s")
    assert package
    assert package.origin
    return run_path(str(Path(package.origin).with_name("stopwords.py")))


@cache
def _usual(name: str | None) -> frozenset[str]:
    listed = "EN_PLUS" if name == "english" else str(name).upper()
    return frozenset(_stop_words().get(f"STOPWORDS_{listed}", ()))


@cache
def _stemmer(name: str) -> Callable[[str], str]:
    stem: Callable[[str], str] = stemmer(name).stemWord
    return stem
