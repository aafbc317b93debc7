"""The lexicon: what the scorer knows of a language, read from one TOML file."""

from scoring.lexicon.model import ClaimWords, Lexicon, Refusals, SendingWords, TypePatterns
from scoring.lexicon.reader import LexiconError, load_folder, load_lexicon, load_lexicons, load_shipped
from scoring.lexicon.words import FigureWords, PhraseList

__all__ = [
    "ClaimWords",
    "FigureWords",
    "Lexicon",
    "LexiconError",
    "PhraseList",
    "Refusals",
    "SendingWords",
    "TypePatterns",
    "load_folder",
    "load_lexicon",
    "load_lexicons",
    "load_shipped",
]
