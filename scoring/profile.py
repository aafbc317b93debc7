"""Which message types are scored, and by which features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scoring.features import ComplexAnswer, ComponentsDefined, Feature, PromptOverlap, VerbatimGuide
from scoring.types import MessageType


@dataclass(frozen=True, slots=True)
class Profile:
    """A named way of scoring: its message types and its features, which weigh the same."""

    name: str
    message_types: frozenset[MessageType]
    features: tuple[Feature, ...]


def profiles() -> Iterator[Profile]:
    """Yield every profile there is."""
    yield Profile(
        "paper",
        frozenset({MessageType.BINARY, MessageType.INSTRUCTION}),
        (ComponentsDefined(), ComplexAnswer(), PromptOverlap(), VerbatimGuide()),
    )


def profile_named(name: str) -> Profile:
    """Return the profile of that name; raises ValueError that lists the names there are."""
    known = {profile.name: profile for profile in profiles()}
    if name not in known:
        raise ValueError(f"profile {name!r} is not one of {', '.join(known)}")
    return known[name]
