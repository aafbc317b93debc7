"""The words of a company's own language, found in its help documents.

Building is in :mod:`scoring.company_terms.building`, apart, so that those who only read the words do
not load the lists of the general language.
"""

from scoring.company_terms.file import CompanyTermsError, load, save
from scoring.company_terms.model import LEAST_DOCUMENTS, CompanyTerms, LanguageTerms
from scoring.company_terms.watched import Watched

__all__ = ["LEAST_DOCUMENTS", "CompanyTerms", "CompanyTermsError", "LanguageTerms", "Watched", "load", "save"]
