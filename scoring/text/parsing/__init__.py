"""Parses texts with spaCy and keeps of them what the features read."""

from scoring.text.parsing.kept import KeptParses
from scoring.text.parsing.lazy import LazyParse, make_together
from scoring.text.parsing.parse import NO_WORDS, Parse
from scoring.text.parsing.parser import Parser, default_parser
from scoring.text.parsing.pipelines import PipelineError

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
