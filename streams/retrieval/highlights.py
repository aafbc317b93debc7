"""The words of a passage that the question asks about."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from snowballstemmer import stemmer

from scoring.lexicon import Lexicon
from scoring.text.prepared import words_of
from streams.retrieval.languages import STEMMERS

_SHORTEST = 3  # letters of a word that counts where no lexicon says which words carry content


class Highlighter:
    """Finds words of a question in a passage, by their stems in the passage's language.

    It shows a person why a passage was found by its words; the index has a stemmer of its own.

    Args:
        lexicons: say which words carry no content, by language.
    """

    def __init__(self, lexicons: Mapping[str, Lexicon]) -> None:
        self._lexicons = lexicons
        self._stemmers: dict[str, Callable[[str], str]] = {}

    def places(self, question: str, passage: str, language: str) -> tuple[tuple[int, int], ...]:
        """Return the character offsets of the words, in order.

        >>> from scoring.lexicon import load_shipped
        >>> Highlighter(load_shipped()).places("Hoe verstuur ik facturen?", "Een factuur versturen", "nl")
        ((4, 11), (12, 21))
        """
        stem = self._stemmer(language)
        wanted = {
            stem(word.text) for word in words_of(question) if self._carries_content(word.text, language)
        }
        return tuple((word.start, word.end) for word in words_of(passage) if stem(word.text) in wanted)

    def _carries_content(self, word: str, language: str) -> bool:
        if lexicon := self._lexicons.get(language):
            return word not in lexicon.function_words
        return len(word) >= _SHORTEST

    def _stemmer(self, language: str) -> Callable[[str], str]:
        if language not in self._stemmers:
            name = STEMMERS.get(language)
            self._stemmers[language] = stemmer(name).stemWord if name else str
        return self._stemmers[language]
