"""The answers with an opinion, and what people hold to be true of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scoring.evaluation.cases import RATINGS, Case
from scoring.values.opinion import Label, Opinion


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer as the checks and people see it, and a judge's opinion on it."""

    case: Case
    opinion: Opinion

    @property
    def truth(self) -> Label | None:
        """What the answer is, as people say."""
        return self.case.truth

    @property
    def consistent(self) -> bool | None:
        """Whether all of the answer stands in the documents: as people say, or by its rating.

        5 is consistent and 3 or less is not; 4 is neither, since most often it has a harmless addition.
        """
        rating = self.case.rating
        if self.case.consistent is not None or rating is None:
            return self.case.consistent
        return {RATINGS[-1]: True, RATINGS[-2]: None}.get(rating, False)

    @property
    def is_right(self) -> bool:
        """Whether the opinion has the label that the answer deserves; no label is not right."""
        return self.opinion.label is self.truth and self.truth is not None

    @property
    def is_wrong(self) -> bool:
        """Whether the opinion has another label; no label is not wrong."""
        return None not in (self.opinion.label, self.truth) and not self.is_right


def with_truth(judged: Iterable[Judged]) -> Sequence[Judged]:
    """Return the answers of which it is known what they are."""
    return [each for each in judged if each.truth is not None]


def rated(judged: Iterable[Judged]) -> Sequence[Judged]:
    """Return the answers that have a rating."""
    return [each for each in judged if each.case.rating is not None]
