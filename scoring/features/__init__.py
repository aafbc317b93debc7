"""The heuristics of the paper, each measured on its own."""

from scoring.features.base import ContextText, Feature, Material
from scoring.features.complex_answer import ComplexAnswer
from scoring.features.components_defined import ComponentsDefined
from scoring.features.prompt_overlap import PromptOverlap
from scoring.features.verbatim_guide import VerbatimGuide

__all__ = [
    "ComplexAnswer",
    "ComponentsDefined",
    "ContextText",
    "Feature",
    "Material",
    "PromptOverlap",
    "VerbatimGuide",
]
