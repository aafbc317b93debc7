"""Codes of languages that commands are given: what is none is refused, with the code that was meant."""

from __future__ import annotations

from collections.abc import Iterable

from streams.cli.exits import WrongUsage
from streams.documents.folder import code_meant, is_language


def check_languages(option: str, languages: Iterable[str] | None) -> None:
    """Refuse what names no language; ``option`` is the one that gives them.

    Raises:
        WrongUsage: one of them is no code.
    """
    for language in languages or ():
        if not is_language(language):
            raise WrongUsage(no_language(option, language))


def no_language(option: str, language: str) -> str:
    """Say that this is no code, and which one was meant where that is known."""
    meant = code_meant(language)
    hint = f": use {meant}" if meant else ", such as nl or en"
    return f"{option} {language}: is no code of a language{hint}"
