"""Languages that words can be stemmed in."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

#: The Snowball stemmer of a language, by its ISO 639-1 code.
STEMMERS: Final = MappingProxyType(
    {
        "da": "danish",
        "de": "german",
        "en": "english",
        "es": "spanish",
        "fi": "finnish",
        "fr": "french",
        "it": "italian",
        "nl": "dutch",
        "no": "norwegian",
        "pt": "portuguese",
        "sv": "swedish",
    }
)
