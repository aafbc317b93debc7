"""The words of a company's own language, found in its help documents.

Building is in :mod:`scoring.company_terms.building`, apart, so that those who only read the words do
not load the lists of the general language.
"""

from scoring.company_terms.file import (
    LEAST_DOCUMENTS,
    CompanyTerms,
    CompanyTermsError,
    LanguageTerms,
    Watched,
    load,
    save,
)

__all__ = ["LEAST_DOCUMENTS", "CompanyTerms", "CompanyTermsError", "LanguageTerms", "Watched", "load", "save"]
