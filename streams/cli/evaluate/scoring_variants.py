"""The profiles and policies that one evaluation compares."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from scoring.policy import Policy
from scoring.values.exchange import MAX_SCORE, MIN_SCORE, Exchange
from scoring.values.scored_answer import ScoredAnswer
from streams.cli.command_output import UsageError
from streams.cli.scoring_options import TranslateMode
from streams.scorers.options import AsyncScorer
from streams.settings.effective_settings import merge_policy

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
class ScoringVariant:
    """One way of scoring all answers; ``name`` tells it from the other one, if there are two.

    ``policy`` decides, that of the settings where it is None.
    """

    name: str
    profile: str
    context: Context
    translate: TranslateMode
    policy: Policy | None = None


def select_variants(
    profiles: Sequence[str], context: ContextChoice, translate: TranslateChoice
) -> list[ScoringVariant]:
    """Give the ways that the options ask for.

    Raises:
        UsageError: they compare two things at once, or a profile with itself.
    """
    several = {
        "several --profile": len(profiles) > 1,
        "--context both": context == "both",
        "--translate both": translate == "both",
    }
    asked = [option for option, is_asked in several.items() if is_asked]
    if len(asked) > 1:
        raise UsageError(f"{' and '.join(asked)}: compare one of them at a time")
    if len(set(profiles)) < len(profiles):
        raise UsageError("--profile: name each profile once")
    contexts: Sequence[Context] = ("given", "retrieved") if context == "both" else (context,)
    modes: Sequence[TranslateMode] = ("off", "always") if translate == "both" else (translate,)
    names: Sequence[str] = contexts
    if len(profiles) > 1:
        names = profiles
    elif translate == "both" or context == "given":
        names = modes
    return [
        ScoringVariant(name, *way)
        for name, way in zip(names, product(profiles, contexts, modes), strict=True)
    ]


def describe_variant(run: str) -> str:
    """Say how the answers of a run were scored; a run that is not known here is a profile."""
    return _WORDS.get(run, f"profile {run}")


def describe_gain(run: str) -> str:
    """Say what a run does that the one before it does not."""
    return _GAINED.get(run, f"Gained by profile {run}")


#: More than the lines that are in work at once, so that none is assessed twice.
_REMEMBERED: Final = 256
_NAME: Final = "what if"

#: Above the tables of the other policy, and above all others, which follow.
HEADING: Final = "What if: the same scores under another policy"
HEADING_OF_REST: Final = "As it is today"

AutoSendAt = Annotated[
    float | None,
    typer.Option(
        min=MIN_SCORE, max=MAX_SCORE, help="What if answers were sent from this score on: what would change."
    ),
]
BlockBelow = Annotated[
    float | None,
    typer.Option(min=MIN_SCORE, max=MAX_SCORE, help="What if answers were blocked below this score."),
]
PolicyFile = Annotated[
    Path | None,
    typer.Option(
        "--policy",
        exists=True,
        dir_okay=False,
        metavar="FILE",
        help="What if the policy were that of this TOML file: a section [policy] as in the settings, with "
        "overrides per message type and language; what it does not name stays as it is.",
    ),
]


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Another policy beside today's."""

    policy: Policy

    @classmethod
    def from_options(
        cls, current: Policy, file: Path | None, auto_send_at: float | None, block_below: float | None
    ) -> WhatIf | None:
        """Give it as the options ask for it, or None where they do not; raises InvalidSettings."""
        thresholds = {"auto_send_at": auto_send_at, "block_below": block_below}
        given = {name: value for name, value in thresholds.items() if value is not None}
        return cls(merge_policy(current, file, given)) if file or given else None

    def with_variant(self, ways: Sequence[ScoringVariant]) -> list[ScoringVariant]:
        """Give the way of scoring, and the same with this policy.

        Raises:
            UsageError: there are several ways.
        """
        if len(ways) > 1:
            raise UsageError(
                "--auto-send-at, --block-below and --policy: compare one thing at a time; --context or "
                "--translate is both, or --profile repeated"
            )
        return [*ways, replace(ways[0], name=_NAME, policy=self.policy)]

    def described(self, today: Policy) -> Mapping[str, Any]:
        """Describe both policies, ready for JSON."""
        return {
            "today": {"policy_version": today.identity, **asdict(today)},
            "other": {"policy_version": self.policy.identity, **asdict(self.policy)},
        }


class ScoreCache:
    """An assessor for several policies: what was assessed just now is not assessed again."""

    def __init__(self, assessor: AsyncScorer) -> None:
        self._assessor = assessor
        self._known: OrderedDict[tuple[Exchange, tuple[str, ...]], ScoredAnswer] = OrderedDict()

    async def score(self, exchange: Exchange, degraded: tuple[str, ...]) -> ScoredAnswer:
        """Assess one exchange, or remember it; raises as the assessor does."""
        key = (exchange, degraded)
        if (known := self._known.get(key)) is None:
            known = self._known[key] = await self._assessor.score(exchange, degraded)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return known
