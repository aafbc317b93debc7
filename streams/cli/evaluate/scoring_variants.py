"""The variants of scoring that one evaluation compares: profiles, contexts, translation and policies."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Final, Literal

from scoring.policy import Policy
from scoring.values.exchange import Exchange
from scoring.values.scored_answer import ScoredAnswer
from streams.cli.command_output import UsageError
from streams.cli.common_options import TranslateMode
from streams.scorers.options import AsyncScorer
from streams.settings.effective_settings import merge_policy

Context = Literal["given", "retrieved"]
ContextChoice = Literal["given", "retrieved", "both"]
TranslateChoice = Literal["off", "auto", "always", "both"]

_DESCRIPTIONS: Final = {
    "off": "untranslated",
    "auto": "translated if needed",
    "always": "translated",
    "given": "context given",
    "retrieved": "context retrieved",
}
_GAINS: Final = {"always": "Gain by translation", "retrieved": "Gain by retrieval of the context"}


@dataclass(frozen=True, slots=True)
class ScoringVariant:
    """One way of scoring all answers, with a unique name; a ``policy`` of None is that of the settings."""

    name: str
    profile: str
    context: Context
    translate: TranslateMode
    policy: Policy | None = None


def select_variants(
    profiles: Sequence[str], context: ContextChoice, translate: TranslateChoice
) -> list[ScoringVariant]:
    """Return the variants; raises UsageError if two things vary, or a profile is compared with itself."""
    several = {
        "several --profile": len(profiles) > 1,
        "--context both": context == "both",
        "--translate both": translate == "both",
    }
    varied = [option for option, is_varied in several.items() if is_varied]
    if len(varied) > 1:
        raise UsageError(f"{' and '.join(varied)}: compare one of them at a time")
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
        ScoringVariant(name, *variant)
        for name, variant in zip(names, product(profiles, contexts, modes), strict=True)
    ]


def describe_variant(run: str) -> str:
    """Describe the variant of a run; an unknown name is that of a profile."""
    return _DESCRIPTIONS.get(run, f"profile {run}")


def describe_gain(run: str) -> str:
    """Describe how a run differs from the one before."""
    return _GAINS.get(run, f"Gain by profile {run}")


#: More than the concurrent lines, so that none is scored twice.
_CACHED_SCORES: Final = 256
_OTHER_POLICY: Final = "what if"


def other_policy(
    current: Policy, file: Path | None, auto_send_at: float | None, block_below: float | None
) -> Policy | None:
    """Return the policy for the options, or None without them; raises InvalidSettings."""
    thresholds = {"auto_send_at": auto_send_at, "block_below": block_below}
    given = {name: value for name, value in thresholds.items() if value is not None}
    return merge_policy(current, file, given) if file or given else None


def with_policy(variants: Sequence[ScoringVariant], policy: Policy) -> list[ScoringVariant]:
    """Return the only variant, and the same with this policy; raises UsageError if there are several."""
    if len(variants) > 1:
        raise UsageError(
            "--auto-send-at, --block-below and --policy: compare one thing at a time; --context or "
            "--translate is both, or --profile is repeated"
        )
    return [*variants, replace(variants[0], name=_OTHER_POLICY, policy=policy)]


class ScoreCache:
    """A scorer with a cache of the last scores, for several policies."""

    def __init__(self, scorer: AsyncScorer) -> None:
        self._scorer = scorer
        self._cache: OrderedDict[tuple[Exchange, tuple[str, ...]], ScoredAnswer] = OrderedDict()

    async def score(self, exchange: Exchange, degraded: tuple[str, ...]) -> ScoredAnswer:
        """Score one exchange, or return its cached score; raises as the scorer does."""
        key = (exchange, degraded)
        if (cached := self._cache.get(key)) is None:
            cached = self._cache[key] = await self._scorer.score(exchange, degraded)
        if len(self._cache) > _CACHED_SCORES:
            self._cache.popitem(last=False)
        return cached
