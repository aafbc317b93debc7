"""Assesses whether a chatbot's answer is true to the help documents it was given, and decides on it."""

from scoring.policy import Policy
from scoring.scorer.scorer import Scorer, ScorerOptions
from scoring.text.parsing import PipelineError
from scoring.values.assessment import Assessment, Decided
from scoring.values.types import (
    Decision,
    Evidence,
    Exchange,
    FeatureValue,
    MessageType,
    NoText,
    Passage,
    PublishedDocument,
)

__all__ = [
    "Assessment",
    "Decided",
    "Decision",
    "Evidence",
    "Exchange",
    "FeatureValue",
    "MessageType",
    "NoText",
    "Passage",
    "PipelineError",
    "Policy",
    "PublishedDocument",
    "Scorer",
    "ScorerOptions",
]
