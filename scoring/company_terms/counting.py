"""Counts the words of documents, so that a changed document costs no more than itself."""

from __future__ import annotations

import re
import sys
from array import array
from collections import Counter
from collections.abc import KeysView
from dataclasses import dataclass, field

_SEPARATORS = re.compile(r"[\s()<>\[\]\"`]+")
_ADDRESS_SIGNS = ("@", "://", "www.")
# As scoring.text.prepared splits texts into words, so that a term is found again in an answer.
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# Longer ones are keys and encoded data, not words.
_LONGEST_WORD = 60


def count_words(text: str) -> Counter[str]:
    """Count the folded words of a text that can be terms.

    Left out are single letters, whatever holds a digit, and e-mail and web addresses.

    >>> dict(count_words("Mail de **Loonstrook** van 2026 naar jan@kantora.example"))
    {'mail': 1, 'de': 1, 'loonstrook': 1, 'van': 1, 'naar': 1}
    """
    folded: Counter[str] = Counter()
    for word, count in Counter(_WORD.findall(_without_addresses(text))).items():
        if 1 < len(word) <= _LONGEST_WORD and not any(map(str.isdigit, word)):
            # The same word of many documents is kept once.
            folded[sys.intern(word.casefold().replace("’", "'"))] += count
    return folded


def _without_addresses(text: str) -> str:
    if not any(sign in text for sign in _ADDRESS_SIGNS):
        return text
    pieces = _SEPARATORS.split(text)
    return " ".join(piece for piece in pieces if not any(sign in piece for sign in _ADDRESS_SIGNS))


@dataclass(slots=True)
class LanguageCounts:
    """The words of the documents of one language.

    ``occurrences``: how often each word stands in them; ``spread``: in how many documents.
    """

    documents: int = 0
    occurrences: Counter[str] = field(default_factory=Counter)
    spread: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _Counted:
    language: str
    words: tuple[str, ...]
    counts: array[int]


class WordCounts:
    """The words of a changing set of documents, by language.

    Putting a document in again replaces it, removing it undoes it, and the order does not matter. A
    document takes about 12 bytes for each of its distinct words.
    """

    def __init__(self) -> None:
        self._documents: dict[str, _Counted] = {}
        self._languages: dict[str, LanguageCounts] = {}

    @property
    def document_ids(self) -> KeysView[str]:
        """The ids of the documents that are counted."""
        return self._documents.keys()

    @property
    def languages(self) -> dict[str, LanguageCounts]:
        """The counts of every language that has documents; to be read only."""
        return self._languages

    def put(self, document_id: str, language: str, text: str) -> None:
        """Count a document, in place of its former version."""
        self.remove(document_id)
        found = count_words(text)
        counted = _Counted(language, tuple(found), array("I", found.values()))
        self._documents[document_id] = counted
        counts = self._languages.setdefault(language, LanguageCounts())
        counts.documents += 1
        counts.occurrences.update(found)
        counts.spread.update(counted.words)

    def remove(self, document_id: str) -> None:
        """Take a document out; nothing happens where it is not in."""
        if (counted := self._documents.pop(document_id, None)) is None:
            return
        counts = self._languages[counted.language]
        counts.documents -= 1
        if not counts.documents:
            del self._languages[counted.language]
            return
        for word, count in zip(counted.words, counted.counts, strict=True):
            _take(counts.occurrences, word, count)
            _take(counts.spread, word, 1)


def _take(counter: Counter[str], word: str, count: int) -> None:
    counter[word] -= count
    if not counter[word]:
        del counter[word]
