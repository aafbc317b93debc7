"""The words of the help documents that are the company's own language (paper, V-B, "Company-Specific Terms").

The paper takes the 10,000 most frequent words of the documentation that do not occur in a corpus of
the general language (Dutch Wikibooks). Word lists of today hold some 300,000 words of a language,
names of products and typing errors among them: hardly a word of help documents is not there. So a word
is the company's where it is :data:`DISTINCTION` times as frequent in the documents as in general use,
and stands in at least :data:`LEAST_SPREAD` of them: what stands in one alone may be the name of a
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

from collections.abc import Mapping
from heapq import nsmallest

from scoring.company_terms.counting import LanguageCounts
from scoring.company_terms.general import GeneralLanguage
from scoring.company_terms.model import LEAST_DOCUMENTS, CompanyTerms, LanguageTerms

MOST_FREQUENT = 10_000
DISTINCTION = 10.0
LEAST_SPREAD = 2


def build(
    counts: Mapping[str, LanguageCounts], general: GeneralLanguage, least_documents: int = LEAST_DOCUMENTS
) -> CompanyTerms:
    """Return the company's terms of each language that has enough documents and a general list.

    A pure function of the counts: neither their order nor a clock matters.
    """
    enough = {code: each for code, each in counts.items() if each.documents >= least_documents}
    found = {code: _terms(code, each, general) for code, each in sorted(enough.items())}
    return CompanyTerms(
        {code: LanguageTerms(enough[code].documents, terms) for code, terms in found.items() if terms}
    )


def _terms(language: str, counts: LanguageCounts, general: GeneralLanguage) -> dict[str, int]:
    occurrences = counts.occurrences
    frequent = nsmallest(MOST_FREQUENT, occurrences, key=lambda word: (-occurrences[word], word))
    candidates = [word for word in frequent if counts.spread[word] >= LEAST_SPREAD]
    usual = general.frequencies(language, candidates)
    if usual is None:
        return {}
    bar = DISTINCTION * occurrences.total()
    return {word: occurrences[word] for word in candidates if occurrences[word] >= usual[word] * bar}
