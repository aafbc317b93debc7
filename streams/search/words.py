"""The words of a text as the search compares them: their stems."""

from collections.abc import Iterator
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Final

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from scoring.lexicon import load_shipped
from streams.search.chunks import replace_surrogates

#: The stemmer and the stop words of a language, by its ISO 639-1 code.
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

_CACHED = 200_000


def stemmed_terms(text: str, language: str) -> Iterator[str]:
    """Yield the stem of each word, in order, but of words that a language has in any text.

    Args:
        text: of any kind.
        language: ISO 639-1; of one without a stemmer the words count as they are.
    """
    return iter(_analyzer(language).analyze(replace_surrogates(text)))


def terms_with_spans(text: str, language: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield what :func:`terms_of` does, each with the character offsets of its word."""
    for token in _analyzer(language).pre_tokenize(replace_surrogates(text)).tokens:
        yield token.text, (token.char_offset_from, token.char_offset_to)


def matching_spans(question: str, passage: str, language: str) -> tuple[tuple[int, int], ...]:
    """Return the character offsets of the words of a passage that a question has too, as the search finds.

    >>> places("Hoe verstuur ik facturen?", "Een factuur versturen", "nl")
    ((4, 11), (12, 21))
    """
    asked = set(stemmed_terms(question, language))
    return tuple(place for term, place in terms_with_spans(passage, language) if term in asked)


@lru_cache(_CACHED)
def rarity(word: str, language: str | None) -> float:
    """Return how rare a word is in a language at large: powers of ten below one word in a hundred.

    It is in [0, UNLISTED], by wordfreq's list of words with a frequency of one in a million or more; the same
    for all words of a language without a list.
    """
    from wordfreq import available_languages, zipf_frequency  # noqa: PLC0415 - it takes most of a second

    if language not in available_languages("small"):
        return 1.0
    return max(0.0, UNLISTED - zipf_frequency(word, language, "small"))


@cache
def _analyzer(language: str) -> TextAnalyzer:
    builder = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.lowercase())
    if lexicon := load_shipped().get(language):
        # Tantivy's own list for English has 33 words.
        builder = builder.filter(Filter.custom_stopword(sorted(lexicon.function_words)))
    if name := STEMMERS.get(language):
        builder = builder.filter(Filter.stopword(name)).filter(Filter.stemmer(name))
    return builder.filter(Filter.ascii_fold()).build()
