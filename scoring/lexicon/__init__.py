"""Lexicons: what the scorer knows of each language, read from one TOML file per language."""

from scoring.lexicon.lexicon import (
    ClaimWords,
    FigureWords,
    Lexicon,
    MessageTypePatterns,
    RefusalWords,
    SendingWords,
)
from scoring.lexicon.lexicon_reader import (
    LexiconError,
    load_folder,
    load_lexicon,
    load_lexicons,
    load_shipped,
)
from scoring.lexicon.phrases import PhraseList

__all__ = [
    "ClaimWords",
    "FigureWords",
    "Lexicon",
    "LexiconError",
    "MessageTypePatterns",
    "PhraseList",
    "RefusalWords",
    "SendingWords",
    "load_folder",
    "load_lexicon",
    "load_lexicons",
    "load_shipped",
]
