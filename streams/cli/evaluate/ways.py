"""The ways of scoring that one evaluation has or compares, and how a person reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, Literal

from scoring.policy import Policy
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
    """One way of scoring all answers; ``name`` tells it from the other one, if there are two.

    ``policy`` decides, that of the settings where it is None.
    """

    name: str
    profile: str
    context: Context
    translate: TranslateMode
    policy: Policy | None = None


def chosen_ways(profiles: Sequence[str], context: ContextChoice, translate: TranslateChoice) -> list[Way]:
    """Give the ways that the options ask for.

    Raises:
        WrongUsage: they compare two things at once, or a profile with itself.
    """
    several = {
        "several --profile": len(profiles) > 1,
        "--context both": context == "both",
        "--translate both": translate == "both",
    }
    asked = [option for option, is_asked in several.items() if is_asked]
    if len(asked) > 1:
        raise WrongUsage(f"{' and '.join(asked)}: compare one of them at a time")
    if len(set(profiles)) < len(profiles):
        raise WrongUsage("--profile: name each profile once")
    contexts: Sequence[Context] = ("given", "retrieved") if context == "both" else (context,)
    modes: Sequence[TranslateMode] = ("off", "always") if translate == "both" else (translate,)
    names: Sequence[str] = contexts
    if len(profiles) > 1:
        names = profiles
    elif translate == "both" or context == "given":
        names = modes
    return [Way(name, *way) for name, way in zip(names, product(profiles, contexts, modes), strict=True)]


def in_words(run: str) -> str:
    """Say how the answers of a run were scored; a run that is not known here is a profile."""
    return _WORDS.get(run, f"profile {run}")


def gained(run: str) -> str:
    """Say what a run does that the one before it does not."""
    return _GAINED.get(run, f"Gained by profile {run}")
