"""The ways of scoring by the values of ``--translate``, as a person reads them."""

from __future__ import annotations

from typing import Final

_WORDS: Final = {"off": "natively", "auto": "translated where needed", "always": "translated first"}


def in_words(run: str) -> str:
    """Say how the answers of a run were scored."""
    return _WORDS[run]
