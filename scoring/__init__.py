"""Judges whether a chatbot's answer is true to the help documents it was given."""

from scoring.assessing.options import ScorerOptions
from scoring.assessing.scorer import Scorer
from scoring.policy import Policy
from scoring.text.parsing import PipelineError
from scoring.values.readable import NoText
from scoring.values.types import Decision, Evidence, Exchange, FeatureValue, Judgement, MessageType, Passage

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
