"""The way to an opinion within a budget: estimated, reserved, asked, settled."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from math import ceil

from scoring.judges import Asking, Outcome, Reply, Request, drive_async
from scoring.values.opinion import Opinion
from streams.judging.budget.amounts import NOTHING, Amount
from streams.judging.budget.budget import Budget, Priority, Reservation

AnswerAll = Callable[[tuple[Request, ...]], Awaitable[Sequence[Outcome]]]

# A token of prose in Latin script is some 4 bytes, of Dutch 3; of Chinese a character, which has 3.
_BYTES_OF_A_TOKEN = 3


class _Spent(Exception):
    """Too little of the budget is left."""


async def ask_within(
    budget: Budget,
    priority: Priority,
    asking: Asking,
    most_requests: int,
    answer_all: AnswerAll,
    unsent: Collection[str] = (),
) -> Opinion | None:
    """Ask for an opinion, or return None where too little of the budget is left for it.

    Reserved is the estimate of the first round for as many requests as the method may make; an asking that
    makes none costs nothing. Settled is what the endpoint counted, or the estimate where it counted nothing,
    did not reply, or the asking was given up meanwhile. Tries of the same request count once.

    Args:
        budget: what it is taken from.
        priority: see :class:`Priority`.
        asking: what :func:`scoring.judges.ask` returns.
        most_requests: the most requests of the method, repairs not counted.
        answer_all: sends the requests of a round; see :func:`scoring.judges.drive_async`.
        unsent: codes of failures that say that nothing was sent, which cost nothing.
    """
    account = _Account(budget, priority, most_requests, answer_all, unsent)
    try:
        return await drive_async(asking, account.answer_all)
    except _Spent:
        return None
    finally:
        account.settle()


class _Account:
    """What one opinion has cost so far."""

    def __init__(
        self,
        budget: Budget,
        priority: Priority,
        most_requests: int,
        answer_all: AnswerAll,
        unsent: Collection[str],
    ) -> None:
        self._budget = budget
        self._priority = priority
        self._most_requests = most_requests
        self._answer_all = answer_all
        self._unsent = unsent
        self._reservation: Reservation | None = None
        self._used = self._under_way = NOTHING

    async def answer_all(self, requests: tuple[Request, ...]) -> Sequence[Outcome]:
        """Have the requests of a round answered; raises _Spent before the first one where it is refused."""
        if self._reservation is None:
            need = _needed(requests, self._most_requests)
            self._reservation = self._budget.reserve(need, self._priority)
        if self._reservation is None:
            raise _Spent
        self._under_way = sum(map(estimated, requests), NOTHING)
        outcomes = await self._answer_all(requests)
        self._used = sum(map(self._cost, requests, outcomes), self._used)
        self._under_way = NOTHING
        return outcomes

    def settle(self) -> None:
        """Count what was used."""
        if self._reservation is not None:
            self._reservation.settle(self._used + self._under_way)

    def _cost(self, request: Request, outcome: Outcome) -> Amount:
        if isinstance(outcome, Reply) and outcome.tokens_in:
            return Amount(1, outcome.tokens_in + outcome.tokens_out)
        if not isinstance(outcome, Reply) and outcome.code in self._unsent:
            return NOTHING
        return estimated(request)


def estimated(request: Request) -> Amount:
    """Return what a request takes, about: its text, its form, and the longest reply that it may have."""
    texts = (request.schema.text, *(message.content for message in request.messages))
    length = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return Amount(1, ceil(length / _BYTES_OF_A_TOKEN) + request.max_tokens)


def _needed(first: Sequence[Request], most_requests: int) -> Amount:
    number = max(len(first), most_requests)
    tokens = sum(estimated(request).tokens for request in first)
    return Amount(number, ceil(tokens * number / len(first)))
