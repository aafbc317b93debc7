"""The company's own terms, extracted from its help documents.

Extraction is in :mod:`scoring.company_terms.term_extraction` and not imported here, so that reading terms
does not load the lists of the general language.
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
