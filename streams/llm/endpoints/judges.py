"""The judges that the settings name, and an inquiry to them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from scoring.judges.requests import Failure, Outcome, Reply, Request
from streams.llm.endpoints.faults import EndpointFault
from streams.settings import EndpointSettings


class ChatModel(Protocol):
    """Whoever replies to requests."""

    async def complete(self, request: Request, deadline: float) -> Outcome:
        """Return one outcome, at ``deadline`` by the event loop's clock at the latest; raises nothing."""


class Judges:
    """The models to ask, by the names that requests have for them.

    Args:
        models: each by its name.
        settings: the endpoints by the same names, for what they cost.
    """

    def __init__(self, models: Mapping[str, ChatModel], settings: Mapping[str, EndpointSettings]) -> None:
        self._models = models
        self._settings = settings

    @property
    def names(self) -> Collection[str]:
        """Whom there is to ask."""
        return self._models.keys()

    def inquire(self, seconds: float) -> Inquiry:
        """Begin to ask about one answer: all rounds together may take so many seconds."""
        return Inquiry(self._models, self._settings, asyncio.get_running_loop().time() + seconds)


class Inquiry:
    """What is asked for one opinion; its ``answer_all`` is for :func:`scoring.judges.requests.drive_async`.

    Attributes:
        failures: how many requests got no reply, by the code of what was at fault.
        cost: what the replies cost; None where no prices are set, one told no tokens, or it came from a judge
            without prices.
    """

    def __init__(
        self, models: Mapping[str, ChatModel], settings: Mapping[str, EndpointSettings], deadline: float
    ) -> None:
        self._models = models
        self._settings = settings
        self._deadline = deadline
        self.failures: Counter[str] = Counter()
        priced = any(each.prices is not None for each in settings.values())
        self.cost: float | None = 0.0 if priced else None

    async def complete_all(self, requests: Sequence[Request]) -> tuple[Outcome, ...]:
        """Send the requests of a round at the same time; return one outcome each, in their order."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._complete(request)) for request in requests]
        outcomes = tuple(task.result() for task in tasks)
        for request, outcome in zip(requests, outcomes, strict=True):
            self._count(request, outcome)
        return outcomes

    async def _complete(self, request: Request) -> Outcome:
        if model := self._models.get(request.judge):
            return await model.complete(request, self._deadline)
        return Failure(EndpointFault.UNKNOWN_JUDGE.value)

    def _count(self, request: Request, outcome: Outcome) -> None:
        if not isinstance(outcome, Reply):
            self.failures[outcome.code] += 1
            return
        is_told = outcome.tokens_in or not outcome.text
        cost = self._settings[request.judge].cost(outcome.tokens_in, outcome.tokens_out) if is_told else None
        self.cost = None if cost is None or self.cost is None else self.cost + cost
