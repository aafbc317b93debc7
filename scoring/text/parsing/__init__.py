"""Parses texts with spaCy and keeps of them what the features read."""

from scoring.text.parsing.cached import KeptParses
from scoring.text.parsing.parse import NO_WORDS, Parse
from scoring.text.parsing.parser import LazyParse, Parser, PipelineError, default_parser, make_together

__all__ = [
    "NO_WORDS",
    "KeptParses",
    "LazyParse",
    "Parse",
    "Parser",
    "PipelineError",
    "default_parser",
    "make_together",
]
