"""The cascade: answers in doubt go to judges, one after the other until they decide, within a budget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from scoring.judges import METHODS, Case, JudgeOptions, ask, opinion_key
from scoring.policy import Doubt, Policy
from scoring.values.assessment import Assessment
from scoring.values.opinion import Opinion, Unsure
from scoring.values.reasons import Reason
from scoring.values.types import Exchange
from streams.judging.advice import NO_ADVICE, Advice, Asked
from streams.judging.budget.asking import ask_within
from streams.judging.budget.budget import Budget, Priority
from streams.judging.endpoints.faults import NO_CONNECTION, Fault
from streams.judging.endpoints.judges import Judges
from streams.judging.kept import KeptOpinions
from streams.settings import JudgeSettings

#: With these nothing was sent, so nothing is paid.
_UNSENT: Final = frozenset({*NO_CONNECTION, Fault.BREAKER_OPEN, Fault.BUSY, Fault.UNKNOWN_JUDGE})
#: The part of the time that an inquiry gets. Given up at its end instead, what an endpoint did with the time
#: would not be told: its breaker would stay closed, and no metric would show that it hangs.
_FOR_INQUIRY: Final = 0.95


@dataclass(frozen=True, slots=True)
class Link:
    """One opinion of the chain; ``models`` say by name which model, of which endpoint, is asked."""

    method: str
    options: JudgeOptions
    models: Mapping[str, str]


def chain_of(settings: JudgeSettings) -> tuple[Link, ...]:
    """Return the chain that the settings describe."""
    models = {name: f"{each.base_url} {each.model}" for name, each in settings.endpoints.items()}
    return tuple(
        Link(link.method, link.options, {name: models[name] for name in link.judges})
        for link in settings.links
    )


@dataclass(frozen=True, slots=True)
class _Terms:
    """How soon and how urgently one answer is asked about; ``end`` is by the event loop's clock."""

    priority: Priority
    end: float
    may_ask: bool


@dataclass(slots=True)
class Cascade:
    """Asks the judges of a chain about answers in doubt.

    Attributes:
        policy: says who is in doubt, and which opinions decide.
        chain: the opinions, in the order in which they are asked for.
        judges: reply to requests.
        budget: what may be spent.
        kept: opinions from before.
        seconds: the longest that the whole chain may take for one answer.
        max_in_flight: how many answers may wait at once; for those beyond, kept opinions are all there is.
        share: gives this worker's partitions of ``answers`` and how many there are, whenever it is asked.
        in_flight: how many answers wait for an opinion.
    """

    policy: Policy
    chain: Sequence[Link]
    judges: Judges
    budget: Budget
    kept: KeptOpinions
    seconds: float
    max_in_flight: int
    share: Callable[[], tuple[frozenset[int], int]]
    in_flight: int = field(default=0, init=False)

    async def advise(self, exchange: Exchange, assessment: Assessment, seconds: float) -> Advice:
        """Return what judges say within ``seconds``; nobody is asked where the policy is not in doubt.

        Without an opinion in time the advice is degraded ``judge_unavailable``, and without a budget for one
        ``judge_budget_spent``. Raises nothing for what an endpoint does.
        """
        if (doubt := self.policy.doubt(assessment)) is None:
            return NO_ADVICE
        self.budget.assign(*self.share())
        end = asyncio.get_running_loop().time() + min(seconds, self.seconds)
        priority = Priority.FIRST if doubt is Doubt.BOTH_WAYS else Priority.SECOND
        terms = _Terms(priority, end, may_ask=self.in_flight < self.max_in_flight)
        asked: list[Asked] = []
        self.in_flight += 1
        try:
            for link in self.chain:
                outcome = await self._ask(link, Case.of(exchange), terms)
                if isinstance(outcome, Reason):
                    return Advice(tuple(asked), (outcome,))
                asked.append(outcome)
                if self.policy.settles(assessment, [each.opinion for each in asked]):
                    break
        finally:
            self.in_flight -= 1
        return Advice(tuple(asked))

    async def _ask(self, link: Link, case: Case, terms: _Terms) -> Asked | Reason:
        inquiry = self.judges.inquire(_FOR_INQUIRY * (terms.end - asyncio.get_running_loop().time()))

        async def opinion() -> Opinion | None:
            asking = ask(case, link.method, link.options)
            most = METHODS[link.method].requests(link.options)
            return await ask_within(self.budget, terms.priority, asking, most, inquiry.answer_all, _UNSENT)

        key = opinion_key(case, link.method, link.options, link.models)
        try:
            # The inquiry keeps its time itself; another answer's, which this one may wait for, has its own.
            async with asyncio.timeout_at(terms.end):
                if not terms.may_ask:
                    found = await self.kept.found(key, case.answer)
                    return Asked(found, inquiry.cost) if found else Reason.JUDGE_UNAVAILABLE
                found = await self.kept.opinion(key, case.answer, opinion)
        except TimeoutError:
            return Reason.JUDGE_UNAVAILABLE
        if found is None:
            return Reason.JUDGE_BUDGET_SPENT
        return Reason.JUDGE_UNAVAILABLE if found.unsure is Unsure.NO_REPLY else Asked(found, inquiry.cost)
