"""Finds a company's own terms: words frequent in its documents and rare in the language (paper, V-B).

The paper takes the 10,000 most frequent words of the documentation that do not occur in a corpus of
the general language (Dutch Wikibooks). Word lists of today hold some 300,000 words of a language,
names of products and typing errors among them: hardly a word of help documents is not there. So a word
is the company's where it is :data:`MIN_FREQUENCY_RATIO` times as frequent in the documents as in general use,
and stands in at least :data:`MIN_DOCUMENT_FREQUENCY` of them: what stands in one alone may be the name of a
person in an example.

Measured by taking from each of two products a fifth of its documents apart, five times, and comparing
the terms' share of the content words in passages of 40 words: of these against the other product's
(area under the ROC curve; Dutch, English of the one product, Dutch, English of the other), and, in
Dutch, against newspaper text:

======================================= ==== ==== ==== ==== =========
a word is a term where                                      newspaper
======================================= ==== ==== ==== ==== =========
it is not in the general list at all     .71  .63  .52  .51  .71, .52
general list: frequency over 10^-6       .84  .70  .64  .54  .88, .74
general list: frequency over 10^-5       .97  .93  .76  .70  .99, .91
ten times as frequent as in general      .97  .97  .82  .84  1.0, .99
a hundred times                          .96  .96  .75  .75  1.0, .92
======================================= ==== ==== ==== ==== =========

Without the second condition the fourth line is .99 .98 .85 .85. Fewer documents separate less: with
10 of them .95 .95 .67 .65, with 20 .97 .97 .75 .78. Hence ``LEAST_DOCUMENTS``.
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

# The step of wordfreq's scale: a list's n-th entry holds the words of frequency 10 ** (-n / 100).
_STEPS = 100


class GeneralWordFrequencies:
    """The frequencies of words in general use.

    A list has some 300,000 words, takes 0.1 s to read and 40 MB while it is. So only the words that
    were asked for are kept, and it is read again only for words that are new.
    """

    def __init__(self) -> None:
        self._known: dict[str, dict[str, float]] = {}

    def has_language(self, language: str) -> bool:
        """Say whether there is a list of the language."""
        return language in _lists()  # asked for another, wordfreq takes a related one

    def frequencies(self, language: str, words: Collection[str]) -> Mapping[str, float] | None:
        """Return the frequency of each of ``words``: its share of all words of running text.

        A word that the list does not have is given 0. None for a language that has no list.
        """
        if not self.has_language(language):
            return None
        known = self._known.setdefault(language, {})
        if missing := set(words) - known.keys():
            known.update(_read_frequencies(language, missing))
        return {word: known[word] for word in words}


def _lists() -> Mapping[str, str]:
    from wordfreq import available_languages  # noqa: PLC0415 - half a second to import, for whoever builds terms

    lists: Mapping[str, str] = available_languages()
    return lists


def _read_frequencies(language: str, words: set[str]) -> dict[str, float]:
    from wordfreq import read_cBpack  # noqa: PLC0415 - see _lists

    found = dict.fromkeys(words, 0.0)
    # Not by get_frequency_list, which never lets go of a list again.
    for step, group in enumerate(read_cBpack(_lists()[language])):
        # A word may stand in more than one group; the first is the most frequent.
        found |= {word: 10 ** (-step / _STEPS) for word in words.intersection(group) if not found[word]}
    return found


_SEPARATORS = re.compile(r"[\s()<>\[\]\"`]+")
_ADDRESS_SIGNS = ("@", "://", "www.")
# As scoring.text.prepared_text splits texts into words, so that a term is found again in an answer.
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
    document_frequency: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class _DocumentCounts:
    language: str
    words: tuple[str, ...]
    counts: array[int]


class WordCounts:
    """The words of a changing set of documents, by language.

    Putting a document in again replaces it, removing it undoes it, and the order does not matter. A
    document takes about 12 bytes for each of its distinct words.
    """

    def __init__(self) -> None:
        self._documents: dict[str, _DocumentCounts] = {}
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
        counted = _DocumentCounts(language, tuple(found), array("I", found.values()))
        self._documents[document_id] = counted
        counts = self._languages.setdefault(language, LanguageCounts())
        counts.documents += 1
        counts.occurrences.update(found)
        counts.document_frequency.update(counted.words)

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
            _subtract(counts.occurrences, word, count)
            _subtract(counts.document_frequency, word, 1)


def _subtract(counter: Counter[str], word: str, count: int) -> None:
    counter[word] -= count
    if not counter[word]:
        del counter[word]


MAX_CANDIDATES = 10_000
MIN_FREQUENCY_RATIO = 10.0
MIN_DOCUMENT_FREQUENCY = 2


def extract_terms(
    counts: Mapping[str, LanguageCounts], general: GeneralWordFrequencies, min_documents: int = MIN_DOCUMENTS
) -> CompanyTerms:
    """Return the company's terms of each language that has enough documents and a general list.

    A pure function of the counts: neither their order nor a clock matters.
    """
    enough = {code: each for code, each in counts.items() if each.documents >= min_documents}
    found = {code: _language_terms(code, each, general) for code, each in sorted(enough.items())}
    return CompanyTerms(
        {code: LanguageTerms(enough[code].documents, terms) for code, terms in found.items() if terms}
    )


def _language_terms(language: str, counts: LanguageCounts, general: GeneralWordFrequencies) -> dict[str, int]:
    occurrences = counts.occurrences
    frequent = nsmallest(MAX_CANDIDATES, occurrences, key=lambda word: (-occurrences[word], word))
    candidates = [word for word in frequent if counts.document_frequency[word] >= MIN_DOCUMENT_FREQUENCY]
    usual = general.frequencies(language, candidates)
    if usual is None:
        return {}
    bar = MIN_FREQUENCY_RATIO * occurrences.total()
    return {word: occurrences[word] for word in candidates if occurrences[word] >= usual[word] * bar}
