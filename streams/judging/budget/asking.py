"""The way to an opinion within a budget: estimated, reserved, asked, settled."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
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


@dataclass(slots=True)
class _Account:
    """What one opinion has cost so far."""

    budget: Budget
    priority: Priority
    most_requests: int
    send: AnswerAll
    unsent: Collection[str]
    reservation: Reservation | None = None
    used: Amount = NOTHING
    under_way: Amount = NOTHING

    async def answer_all(self, requests: tuple[Request, ...]) -> Sequence[Outcome]:
        """Have the requests of a round answered; raises _Spent before the first one where it is refused."""
        if self.reservation is None:
            number = max(len(requests), self.most_requests)
            tokens = sum(estimated(request).tokens for request in requests)
            need = Amount(number, ceil(tokens * number / len(requests)))
            self.reservation = self.budget.reserve(need, self.priority)
        if self.reservation is None:
            raise _Spent
        self.under_way = sum(map(estimated, requests), NOTHING)
        outcomes = await self.send(requests)
        self.used = sum(map(self._cost, requests, outcomes), self.used)
        self.under_way = NOTHING
        return outcomes

    def settle(self) -> None:
        """Count what was used."""
        if self.reservation is not None:
            self.reservation.settle(self.used + self.under_way)

    def _cost(self, request: Request, outcome: Outcome) -> Amount:
        if isinstance(outcome, Reply) and outcome.tokens_in:
            return Amount(1, outcome.tokens_in + outcome.tokens_out)
        if not isinstance(outcome, Reply) and outcome.code in self.unsent:
            return NOTHING
        return estimated(request)


def estimated(request: Request) -> Amount:
    """Return what a request takes, about: its text, its form, and the longest reply that it may have."""
    texts = (request.schema.text, *(message.content for message in request.messages))
    length = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return Amount(1, ceil(length / _BYTES_OF_A_TOKEN) + request.max_tokens)
