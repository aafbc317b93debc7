"""Parses of texts by spaCy, reduced to the columns that the features read."""

from scoring.text.parsing.parse import NON_WORD_POS, Parse
from scoring.text.parsing.parse_cache import ParseCache
from scoring.text.parsing.parser import LazyParse, Parser, PipelineError, default_parser, parse_together

__all__ = [
    "NON_WORD_POS",
    "LazyParse",
    "Parse",
    "ParseCache",
    "Parser",
    "PipelineError",
    "default_parser",
    "parse_together",
]
