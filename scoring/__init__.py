"""Assesses whether a chatbot's answer is true to the help documents it was given, and decides on it."""

from scoring.policy import Policy
from scoring.scorer.scorer import Scorer, ScorerOptions
from scoring.text.parsing import PipelineError
from scoring.values.exchange import (
    Decision,
    Evidence,
    Exchange,
    FeatureValue,
    LoneSurrogateError,
    MessageType,
    Passage,
    PublishedDocument,
)
from scoring.values.scored_answer import PolicyDecision, ScoredAnswer

__all__ = [
    "Decision",
    "Evidence",
    "Exchange",
    "FeatureValue",
    "LoneSurrogateError",
    "MessageType",
    "Passage",
    "PipelineError",
    "Policy",
    "PolicyDecision",
    "PublishedDocument",
    "ScoredAnswer",
    "Scorer",
    "ScorerOptions",
]
