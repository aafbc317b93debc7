"""The cost of an opinion: requests, tokens and time (paper 004, Table V)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scoring.evaluation.statistics import Estimate, mean
from scoring.values.opinion import Opinion


@dataclass(frozen=True, slots=True)
class Costs:
    """Means over opinions; None of no opinions, and of what the replies did not tell.

    ``tokens`` are those of requests and replies together. ``seconds_per_token`` is the quotient of both
    means, as in the paper.
    """

    opinions: int
    requests: Estimate | None
    tokens: Estimate | None
    tokens_out: Estimate | None
    seconds: Estimate | None
    seconds_per_token: float | None


def costs(opinions: Sequence[Opinion]) -> Costs:
    """Measure what the opinions took."""
    used = [opinion.usage for opinion in opinions]
    tokens = _told([each.tokens_in + each.tokens_out for each in used])
    seconds = _told([each.seconds for each in used])
    return Costs(
        opinions=len(opinions),
        requests=mean([each.requests for each in used]),
        tokens=tokens,
        tokens_out=_told([each.tokens_out for each in used]),
        seconds=seconds,
        seconds_per_token=seconds.value / tokens.value if seconds and tokens else None,
    )


def _told(values: Sequence[float]) -> Estimate | None:
    return mean(values) if any(values) else None
