"""The lexicon: what the scorer knows of a language, read from one TOML file."""

from scoring.lexicon.lexicon import ClaimWords, Lexicon, MessageTypePatterns, RefusalWords, SendingWords
from scoring.lexicon.lexicon_reader import (
    LexiconError,
    load_folder,
    load_lexicon,
    load_lexicons,
    load_shipped,
)
from scoring.lexicon.phrases import FigureWords, PhraseList

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
