"""Judges whether a chatbot's answer is true to the help documents it was given."""

from scoring.options import ScorerOptions
from scoring.parsing import PipelineError
from scoring.policy import Policy
from scoring.readable import NoText
from scoring.scorer import Scorer
from scoring.types import Decision, Evidence, Exchange, FeatureValue, Judgement, MessageType, Passage

__all__ = [
    "Decision",
    "Evidence",
    "Exchange",
    "FeatureValue",
    "Judgement",
    "MessageType",
    "NoText",
    "Passage",
    "PipelineError",
    "Policy",
    "Scorer",
    "ScorerOptions",
]
