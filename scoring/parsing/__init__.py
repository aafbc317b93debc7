"""Parses texts with spaCy and keeps of them what the features read."""

from scoring.parsing.kept import KeptParses
from scoring.parsing.lazy import LazyParse, make_together
from scoring.parsing.parse import NO_WORDS, Parse
from scoring.parsing.parser import Parser, default_parser
from scoring.parsing.pipelines import PipelineError

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
