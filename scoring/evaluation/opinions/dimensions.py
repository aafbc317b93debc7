"""The accuracy of the two dimensions of factual correctness (paper 004, section III-B, Table II)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scoring.evaluation.opinions.judged import Judged
from scoring.evaluation.statistics import Share

# Consistent is what has nothing added (004, section I); relevant is what asks for the same by half or more.
_CONSISTENT_FROM, _RELEVANT_FROM = 1.0, 0.5


@dataclass(frozen=True, slots=True)
class Dimensions:
    """How often opinions agree with people; None where they do not measure it, or no person has said."""

    consistency: Share | None
    relevance: Share | None


def dimensions(judged: Sequence[Judged]) -> Dimensions:
    """Compare both dimensions where opinion and people have them."""
    return Dimensions(
        consistency=_agreement(
            ((each.opinion.consistency, each.consistent) for each in judged), _CONSISTENT_FROM
        ),
        relevance=_agreement(
            ((each.opinion.relevance, each.case.relevant) for each in judged), _RELEVANT_FROM
        ),
    )


def _agreement(pairs: Iterable[tuple[float | None, bool | None]], least: float) -> Share | None:
    agreed = [(value >= least) is said for value, said in pairs if value is not None and said is not None]
    return Share.of(sum(agreed), len(agreed))
