"""The amounts that a budget counts, the limits of them, and a worker's share of a limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Amount:
    """Requests, and the tokens of them and of their replies together."""

    requests: int = 0
    tokens: int = 0

    def __add__(self, other: Amount) -> Amount:
        """Return the sum."""
        return Amount(self.requests + other.requests, self.tokens + other.tokens)

    def less(self, other: Amount) -> Amount:
        """Return what is left of it without the other, of neither less than nothing."""
        return Amount(max(0, self.requests - other.requests), max(0, self.tokens - other.tokens))


#: More than any limit: what is spent where nobody knows how much it was.
EVERYTHING = Amount(10**15, 10**15)
NOTHING = Amount()


@dataclass(frozen=True, slots=True)
class Limit:
    """How much may be spent in one window; None is no limit."""

    requests: int | None = None
    tokens: int | None = None

    def share(self, partitions: frozenset[int], of: int) -> Limit:
        """Return the share of who has these partitions out of so many.

        Each partition has a share of its own in whole numbers, and all of them together are the limit: of a
        limit below their number some have none.
        """
        return Limit(_share(self.requests, partitions, of), _share(self.tokens, partitions, of))

    def allows(self, spent: Amount, need: Amount, least_left: float) -> bool:
        """Say whether this much may be spent beside what is, while this part of the limit must be left."""
        return all(
            limit is None or (of_need <= limit - of_spent and limit - of_spent >= least_left * limit)
            for limit, of_spent, of_need in (
                (self.requests, spent.requests, need.requests),
                (self.tokens, spent.tokens, need.tokens),
            )
        )

    def left(self, spent: Amount) -> Iterator[tuple[str, int]]:
        """Yield how much is left of what is limited, by its name."""
        for name, limit, of_spent in (
            ("requests", self.requests, spent.requests),
            ("tokens", self.tokens, spent.tokens),
        ):
            if limit is not None:
                yield name, max(0, limit - of_spent)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may be spent in a minute and in a day."""

    minute: Limit = Limit()
    day: Limit = Limit()

    def share(self, partitions: frozenset[int], of: int) -> Limits:
        """Return the share of who has these partitions out of so many; see :meth:`Limit.share`."""
        return Limits(self.minute.share(partitions, of), self.day.share(partitions, of))


def _share(limit: int | None, partitions: frozenset[int], of: int) -> int | None:
    if limit is None:
        return None
    return sum(limit * (each + 1) // of - limit * each // of for each in partitions if 0 <= each < of)
