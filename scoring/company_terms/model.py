"""The typed content of a lexicon of company terms."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

FORMAT = 1
#: In fewer documents of a language no terms are looked for: what recurs in them may be chance.
LEAST_DOCUMENTS = 20


@dataclass(frozen=True)
class LanguageTerms:
    """The terms of one language.

    ``documents`` is the number of documents they were found in; ``counts`` how often each term (a
    casefolded word) stands in them.
    """

    documents: int
    counts: Mapping[str, int]

    @cached_property
    def words(self) -> frozenset[str]:
        """The terms without their counts."""
        return frozenset(self.counts)


@dataclass(frozen=True)
class CompanyTerms:
    """The company's terms by language (ISO 639-1 code).

    A language in which no terms are known is not there: what cannot be measured is not 0.

    >>> terms = CompanyTerms({"nl": LanguageTerms(documents=36, counts={"loonstrook": 12})})
    >>> sorted(terms.for_language("nl"))
    ['loonstrook']
    >>> terms.for_language("de") is None
    True
    """

    languages: Mapping[str, LanguageTerms] = field(default_factory=dict)

    def for_language(self, code: str) -> frozenset[str] | None:
        """Return the terms of a language, or None where none are known."""
        known = self.languages.get(code)
        return known.words or None if known else None

    @cached_property
    def version(self) -> str:
        """A hash of the content: 16 hexadecimal digits, the same for the same terms and counts."""
        canonical = json.dumps(self.content(), ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    def content(self) -> dict[str, Any]:
        """Return the languages as plain values in a fixed order, ready for JSON."""
        return {
            code: {"documents": terms.documents, "terms": dict(sorted(terms.counts.items()))}
            for code, terms in sorted(self.languages.items())
        }
