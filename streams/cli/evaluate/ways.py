"""The ways of scoring that one evaluation has or compares, and how a person reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from streams.cli.exits import WrongUsage
from streams.cli.scoring_options import TranslateMode

Context = Literal["given", "retrieved"]
ContextChoice = Literal["given", "retrieved", "both"]
TranslateChoice = Literal["off", "auto", "always", "both"]

_WORDS: Final = {
    "off": "natively",
    "auto": "translated where needed",
    "always": "translated first",
    "given": "context given",
    "retrieved": "context retrieved",
}
_GAINED: Final = {"always": "Gained by translating", "retrieved": "Gained by retrieving the context"}


@dataclass(frozen=True, slots=True)
class Way:
    """One way of scoring all answers; ``name`` tells it from the other one, if there are two."""

    name: str
    context: Context
    translate: TranslateMode


def chosen_ways(context: ContextChoice, translate: TranslateChoice) -> tuple[Way, ...]:
    """Give the ways that the options ask for.

    Raises:
        WrongUsage: they compare two things at once.
    """
    if context == "both":
        if translate == "both":
            raise WrongUsage("--context both and --translate both: compare one of them at a time")
        return Way("given", "given", translate), Way("retrieved", "retrieved", translate)
    if translate == "both":
        return Way("off", context, "off"), Way("always", context, "always")
    return (Way(translate if context == "given" else context, context, translate),)


def in_words(run: str) -> str:
    """Say how the answers of a run were scored."""
    return _WORDS[run]


def gained(run: str) -> str:
    """Say what a run does that the one before it does not."""
    return _GAINED[run]
