"""The words of a company's own language, found in its help documents.

Building is in :mod:`scoring.company_terms.term_extraction`, apart, so that those who only read the words do
not load the lists of the general language.
"""

from scoring.company_terms.terms_file import (
    MIN_DOCUMENTS,
    CompanyTerms,
    CompanyTermsError,
    LanguageTerms,
    WatchedTermsFile,
    load_terms,
    save_terms,
)

__all__ = [
    "MIN_DOCUMENTS",
    "CompanyTerms",
    "CompanyTermsError",
    "LanguageTerms",
    "WatchedTermsFile",
    "load_terms",
    "save_terms",
]
