"""Extracts a company's own terms: words frequent in its documents and rare in the language (paper, V-B).

The paper takes the 10,000 most frequent words of the documentation that do not occur in a corpus of the
general language (Dutch Wikibooks). Today's word lists have some 300,000 words of a language, including
product names and typing errors, so hardly any word of help documents is missing. Instead a word is a term
where it is :data:`MIN_FREQUENCY_RATIO` times as frequent in the documents as in general use, and occurs in at
least :data:`MIN_DOCUMENT_FREQUENCY` of them: a word of a single document may be the name of a person in an
example.

Measured by holding out a fifth of the documents of each of two products, five times, and comparing the terms'
share of the content words in passages of 40 words: of these against the other product's (area under the ROC
curve; Dutch, English of the one product, Dutch, English of the other), and, in Dutch, against newspaper text:

======================================= ==== ==== ==== ==== ========= a word is a term where
newspaper ======================================= ==== ==== ==== ==== ========= it is not in the general list
at all     .71  .63  .52  .51  .71, .52 general list: frequency over 10^-6       .84  .70  .64  .54  .88, .74
general list: frequency over 10^-5       .97  .93  .76  .70  .99, .91 ten times as frequent as in general
.97  .97  .82  .84  1.0, .99 a hundred times                          .96  .96  .75  .75  1.0, .92
======================================= ==== ==== ==== ==== =========

Without the second condition the fourth line is .99 .98 .85 .85. Fewer documents separate less: with 10 of
them .95 .95 .67 .65, with 20 .97 .97 .75 .78. Hence :data:`MIN_DOCUMENTS`.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections import Counter
from collections.abc import Collection, KeysView, Mapping
from dataclasses import dataclass, field
from heapq import nsmallest

from scoring.company_terms.terms_file import MIN_DOCUMENTS, CompanyTerms, LanguageTerms

# wordfreq's scale: a list's n-th entry has the words of frequency 10 ** (-n / 100).
_STEPS_PER_DECADE = 100


class GeneralWordFrequencies:
    """The frequencies of words in general use.

    A list has some 300,000 words, takes 0.1 s to read and 40 MB meanwhile. So only requested words are kept,
    and the list is read again only for new ones.
    """

    def __init__(self) -> None:
        self._known: dict[str, dict[str, float]] = {}

    def has_language(self, language: str) -> bool:
        """Return whether there is a list for the language."""
        return language in _lists()  # for a missing language wordfreq would use a related one

    def frequencies(self, language: str, words: Collection[str]) -> Mapping[str, float] | None:
        """Return the frequency of each word as a share of running text; None for a language without a list.

        A word that is not in the list has the frequency 0.
        """
        if not self.has_language(language):
            return None
        known = self._known.setdefault(language, {})
        if missing := set(words) - known.keys():
            from wordfreq import read_cBpack  # noqa: PLC0415 - see _lists

            known |= dict.fromkeys(missing, 0.0)
            # Not by get_frequency_list, which caches the list forever.
            for step, group in enumerate(read_cBpack(_lists()[language])):
                # A word may be in several groups; the first one is the most frequent.
                frequency = 10 ** (-step / _STEPS_PER_DECADE)
                known |= {word: frequency for word in missing.intersection(group) if not known[word]}
        return {word: known[word] for word in words}


def _lists() -> Mapping[str, str]:
    from wordfreq import available_languages  # noqa: PLC0415 - takes half a second, only needed for extraction

    lists: Mapping[str, str] = available_languages()
    return lists


_SEPARATORS = re.compile(r"[\s()<>\[\]\"`]+")
_ADDRESS_SIGNS = ("@", "://", "www.")
# The words of scoring.text.prepared_text, so that a term can be found in an answer.
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# Longer ones are keys or encoded data.
_MAX_WORD_LENGTH = 60


def count_words(text: str) -> Counter[str]:
    """Count the folded words of a text that can be terms.

    Excluded are single letters, words with digits, and e-mail and web addresses.

    >>> dict(count_words("Mail de **Loonstrook** van 2026 naar jan@kantora.example"))
    {'mail': 1, 'de': 1, 'loonstrook': 1, 'van': 1, 'naar': 1}
    """
    if any(sign in text for sign in _ADDRESS_SIGNS):
        parts = _SEPARATORS.split(text)
        text = " ".join(part for part in parts if not any(sign in part for sign in _ADDRESS_SIGNS))
    folded: Counter[str] = Counter()
    for word, count in Counter(_WORD.findall(text)).items():
        if 1 < len(word) <= _MAX_WORD_LENGTH and not any(map(str.isdigit, word)):
            # Interned, so that a word of many documents is in memory once.
            folded[sys.intern(word.casefold().replace("’", "'"))] += count
    return folded


@dataclass(slots=True)
class LanguageCounts:
    """Word counts of the documents of one language: all ``occurrences``, and the documents with each word."""

    documents: int = 0
    occurrences: Counter[str] = field(default_factory=Counter)
    document_frequency: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _DocumentCounts:
    language: str
    words: tuple[str, ...]
    counts: array[int]


class WordCounts:
    """Word counts of a changing set of documents, by language.

    Putting a document again replaces it, removing it undoes it, and the order does not matter. A document
    takes about 12 bytes for each distinct word.
    """

    def __init__(self) -> None:
        self._documents: dict[str, _DocumentCounts] = {}
        self._languages: dict[str, LanguageCounts] = {}

    @property
    def document_ids(self) -> KeysView[str]:
        """The ids of the counted documents."""
        return self._documents.keys()

    @property
    def languages(self) -> dict[str, LanguageCounts]:
        """The counts of every language with documents; read-only."""
        return self._languages

    def put(self, document_id: str, language: str, text: str) -> None:
        """Count a document in place of its former version."""
        self.remove(document_id)
        words = count_words(text)
        self._documents[document_id] = _DocumentCounts(language, tuple(words), array("I", words.values()))
        counts = self._languages.setdefault(language, LanguageCounts())
        counts.documents += 1
        counts.occurrences.update(words)
        counts.document_frequency.update(words.keys())

    def remove(self, document_id: str) -> None:
        """Remove a document, if it is counted."""
        if (document := self._documents.pop(document_id, None)) is None:
            return
        counts = self._languages[document.language]
        counts.documents -= 1
        if not counts.documents:
            del self._languages[document.language]
            return
        for word, count in zip(document.words, document.counts, strict=True):
            for counter, subtracted in ((counts.occurrences, count), (counts.document_frequency, 1)):
                counter[word] -= subtracted
                if not counter[word]:
                    del counter[word]


MAX_CANDIDATES = 10_000
MIN_FREQUENCY_RATIO = 10.0
MIN_DOCUMENT_FREQUENCY = 2


def extract_terms(
    counts: Mapping[str, LanguageCounts], general: GeneralWordFrequencies, min_documents: int = MIN_DOCUMENTS
) -> CompanyTerms:
    """Return the company's terms of each language with enough documents and a general list.

    A pure function of the counts, whatever their order.
    """
    return CompanyTerms(
        {
            code: LanguageTerms(each.documents, terms)
            for code, each in sorted(counts.items())
            if each.documents >= min_documents and (terms := _language_terms(code, each, general))
        }
    )


def _language_terms(language: str, counts: LanguageCounts, general: GeneralWordFrequencies) -> dict[str, int]:
    occurrences = counts.occurrences
    frequent = nsmallest(MAX_CANDIDATES, occurrences, key=lambda word: (-occurrences[word], word))
    candidates = [word for word in frequent if counts.document_frequency[word] >= MIN_DOCUMENT_FREQUENCY]
    frequencies = general.frequencies(language, candidates)
    if frequencies is None:
        return {}
    factor = MIN_FREQUENCY_RATIO * occurrences.total()
    return {word: occurrences[word] for word in candidates if occurrences[word] >= frequencies[word] * factor}
