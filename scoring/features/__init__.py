"""The heuristics of the paper, each measured on its own."""

from scoring.features.base import Feature, Resource
from scoring.features.company_terms import CompanySpecificTerms
from scoring.features.complex_answer import ComplexAnswer
from scoring.features.components_defined import ComponentsDefined
from scoring.features.error_mismatch import ErrorMismatch
from scoring.features.hal import Hal
from scoring.features.prompt_overlap import PromptOverlap
from scoring.features.quantities_known import QuantitiesKnown
from scoring.features.request_possible import RequestPossible
from scoring.features.statements_agree import StatementsAgree
from scoring.features.subject_combination import SubjectCombination
from scoring.features.verbatim_guide import VerbatimGuide
from scoring.features.verdict_agrees import VerdictAgrees
from scoring.text.material import ContextText, Material

__all__ = [
    "CompanySpecificTerms",
    "ComplexAnswer",
    "ComponentsDefined",
    "ContextText",
    "ErrorMismatch",
    "Feature",
    "Hal",
    "Material",
    "PromptOverlap",
    "QuantitiesKnown",
    "RequestPossible",
    "Resource",
    "StatementsAgree",
    "SubjectCombination",
    "VerbatimGuide",
    "VerdictAgrees",
]
