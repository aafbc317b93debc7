"""Which message types are scored, and by which features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scoring.features import (
    CompanySpecificTerms,
    ComplexAnswer,
    ComponentsDefined,
    ErrorMismatch,
    Feature,
    Hal,
    PromptOverlap,
    SubjectCombination,
    VerbatimGuide,
)
from scoring.types import MessageType


@dataclass(frozen=True, slots=True)
class Profile:
    """A named way of scoring: its message types and its features, which weigh the same."""

    name: str
    message_types: frozenset[MessageType]
    features: tuple[Feature, ...]


def profiles() -> Iterator[Profile]:
    """Yield every profile there is.

    ``paper`` is what the paper does: its seven features on binary and instruction messages.
    ``extended`` adds, from its Table II, error messages and the heuristic error mismatch. On the six
    error messages of the development answers the mean of the seven features is the wrong way round:
    untrue answers have 2.9 in Dutch (3.1 to 3.7 in English), true ones 2.2 to 2.9 (2.4 to 2.9).
    With the heuristic two of three untrue ones get 1 and are blocked, and the true ones have 2.7 to
    3.3 (2.9 to 3.3). Few answers, so the profile is there to choose and not the default.
    """
    seven: tuple[Feature, ...] = (
        CompanySpecificTerms(),
        ComponentsDefined(),
        ComplexAnswer(),
        PromptOverlap(),
        Hal(),
        SubjectCombination(),
        VerbatimGuide(),
    )
    scored = frozenset({MessageType.BINARY, MessageType.INSTRUCTION})
    yield Profile("paper", scored, seven)
    yield Profile("extended", scored | {MessageType.ERROR}, (*seven, ErrorMismatch()))


def profile_named(name: str) -> Profile:
    """Return the profile of that name; raises ValueError that lists the names there are."""
    known = {profile.name: profile for profile in profiles()}
    if name not in known:
        raise ValueError(f"profile {name!r} is not one of {', '.join(known)}")
    return known[name]
