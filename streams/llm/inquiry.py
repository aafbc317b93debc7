"""An inquiry: a request for one opinion, within a budget and before a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Final

from scoring.judges import METHODS, Case, Failure, JudgeOptions, Outcome, Request, drive_async
from scoring.judges import ask as ask_method
from scoring.judges import opinion_key as key_of
from scoring.values.opinion import Opinion
from streams.llm.budget import NO_AMOUNT, Budget, BudgetAmount, Priority, Reservation
from streams.llm.endpoints.endpoint import Endpoint
from streams.llm.endpoints.faults import NO_CONNECTION, EndpointFault
from streams.settings import JudgeSettings

#: With these faults nothing was sent, so nothing is paid.
_UNSENT: Final = NO_CONNECTION | {EndpointFault.BREAKER_OPEN, EndpointFault.BUSY}
# A token of prose in Latin script is some 4 bytes, of Dutch 3; of Chinese a character, which has 3.
_BYTES_PER_TOKEN: Final = 3


@dataclass(frozen=True, slots=True)
class ChainLink:
    """One opinion of the chain; ``models`` has the model and the endpoint behind each judge, by its name."""

    method: str
    options: JudgeOptions
    models: Mapping[str, str]


def chain_from_settings(settings: JudgeSettings) -> tuple[ChainLink, ...]:
    """Return the chain that the settings describe."""
    models = {name: f"{each.base_url} {each.model}" for name, each in settings.endpoints.items()}
    return tuple(
        ChainLink(link.method, link.options, {name: models[name] for name in link.judges})
        for link in settings.effective_chain
    )


class _BudgetExhausted(Exception):
    """Too little of the budget is left."""


@dataclass(slots=True, kw_only=True)
class Inquiry:
    """Asks the judges of one link for an opinion on one case.

    Attributes:
        case: what is judged.
        link: the method, and whom it asks.
        judges: the endpoints, by the names that requests have for them.
        budget: what the opinion is paid from.
        priority: how urgent the opinion is when the budget runs short.
        deadline: by the event loop's clock; all rounds together.
        cost: what the replies cost so far; None if no judge has prices, or some reply has no price or no
            count of tokens.
    """

    case: Case
    link: ChainLink
    judges: Mapping[str, Endpoint]
    budget: Budget
    priority: Priority
    deadline: float
    cost: float | None = field(init=False)
    _reservation: Reservation | None = field(default=None, init=False)
    _used: BudgetAmount = field(default=NO_AMOUNT, init=False)
    _in_flight: BudgetAmount = field(default=NO_AMOUNT, init=False)

    def __post_init__(self) -> None:
        """Start the cost at 0 if any judge has prices."""
        priced = any(each.settings.prices is not None for each in self.judges.values())
        self.cost = 0.0 if priced else None

    @property
    def opinion_key(self) -> str:
        """The key of the opinion in the cache."""
        return key_of(self.case, self.link.method, self.link.options, self.link.models)

    async def ask(self) -> Opinion | None:
        """Ask for the opinion, or return None if too little of the budget is left for it.

        The estimate of the first round is reserved for as many requests as the method may make; a method that
        makes none costs nothing. It is settled by what the endpoint counted. The estimate of a request counts
        where the endpoint counted nothing or did not reply, and where the inquiry was cancelled. Retries of a
        request count once.
        """
        try:
            return await drive_async(
                ask_method(self.case, self.link.method, self.link.options), self._complete_round
            )
        except _BudgetExhausted:
            return None
        finally:
            if self._reservation is not None:
                self._reservation.settle(self._used + self._in_flight)

    async def _complete_round(self, requests: Sequence[Request]) -> tuple[Outcome, ...]:
        """Send the requests of a round at the same time, and count what they cost."""
        estimates = list(map(estimate, requests))
        if self._reservation is None:
            number = max(len(requests), METHODS[self.link.method].max_requests(self.link.options))
            tokens = ceil(sum(each.tokens for each in estimates) * number / len(requests))
            self._reservation = self.budget.reserve(BudgetAmount(number, tokens), self.priority)
        if self._reservation is None:
            raise _BudgetExhausted
        self._in_flight = sum(estimates, NO_AMOUNT)
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self.judges[request.judge].complete(request, self.deadline))
                for request in requests
            ]
        outcomes = tuple(task.result() for task in tasks)
        for request, outcome, estimated in zip(requests, outcomes, estimates, strict=True):
            self._count(request, outcome, estimated)
        self._in_flight = NO_AMOUNT
        return outcomes

    def _count(self, request: Request, outcome: Outcome, estimated: BudgetAmount) -> None:
        if isinstance(outcome, Failure):
            self._used += NO_AMOUNT if outcome.code in _UNSENT else estimated
            return
        tokens_in, tokens_out = outcome.tokens_in, outcome.tokens_out
        self._used += BudgetAmount(1, tokens_in + tokens_out) if tokens_in else estimated
        is_counted = tokens_in or not outcome.text
        cost = self.judges[request.judge].settings.cost(tokens_in, tokens_out) if is_counted else None
        self.cost = None if cost is None or self.cost is None else self.cost + cost


def estimate(request: Request) -> BudgetAmount:
    """Estimate what a request takes: its text, its schema, and the longest reply that it allows."""
    texts = (request.schema.text, *(message.content for message in request.messages))
    length = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return BudgetAmount(1, ceil(length / _BYTES_PER_TOKEN) + request.max_tokens)
