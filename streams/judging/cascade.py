"""The cascade: answers in doubt go to judges, one after the other until one is sure, within a budget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from scoring.judges import METHODS, Case, JudgeOptions, ask, opinion_key
from scoring.policy import Doubt
from scoring.values.assessment import Assessment
from scoring.values.opinion import Opinion, Unsure
from scoring.values.reasons import Reason
from scoring.values.types import Exchange
from streams.judging.advice import NO_ADVICE, Advice, Asked
from streams.judging.budget import Budget, Priority, ask_within
from streams.judging.endpoints.faults import Fault
from streams.judging.endpoints.judges import Judges
from streams.judging.kept import KeptOpinions
from streams.settings import EndpointSettings
from streams.settings.judge_chain import LinkSettings

_PRIORITIES: Final[Mapping[Doubt, Priority]] = {
    Doubt.BOTH_WAYS: Priority.FIRST,
    Doubt.ONE_WAY: Priority.SECOND,
}
#: With these nothing was sent, so nothing is paid.
_UNSENT: Final = frozenset(
    {Fault.BREAKER_OPEN.value, Fault.BUSY.value, Fault.UNKNOWN_JUDGE.value, Fault.UNREACHABLE.value}
)


class Doubts(Protocol):
    """What a policy says of doubts and opinions; :class:`scoring.policy.Policy` is one."""

    def doubt(self, assessment: Assessment) -> Doubt | None:
        """Return what an opinion could do for an answer, or None where none is to be asked for."""
        ...

    def settles(self, assessment: Assessment, opinion: Opinion) -> bool:
        """Say whether an opinion is sure enough to decide."""
        ...


@dataclass(frozen=True, slots=True)
class Link:
    """One opinion of the chain; ``models`` say by name which model, of which endpoint, is asked."""

    method: str
    options: JudgeOptions
    models: Mapping[str, str]


def link_of(settings: LinkSettings, endpoints: Mapping[str, EndpointSettings]) -> Link:
    """Return the link that the settings describe; raises KeyError for a judge that is no endpoint."""
    models = {name: f"{endpoints[name].base_url} {endpoints[name].model}" for name in settings.judges}
    return Link(settings.method, settings.options, models)


class Cascade:
    """Asks the judges of a chain about answers in doubt.

    Args:
        policy: says who is in doubt, and whose opinion is sure.
        chain: the opinions, in the order in which they are asked for.
        judges: reply to requests.
        budget: what may be spent.
        kept: opinions from before.
        seconds: the longest that the whole chain may take for one answer.
        share: gives this worker's partitions of ``answers`` and how many there are, whenever it is asked.
    """

    def __init__(
        self,
        policy: Doubts,
        chain: Sequence[Link],
        judges: Judges,
        budget: Budget,
        kept: KeptOpinions,
        seconds: float,
        share: Callable[[], tuple[frozenset[int], int]],
    ) -> None:
        self._policy = policy
        self._chain = chain
        self._judges = judges
        self._budget = budget
        self._kept = kept
        self._seconds = seconds
        self._share = share

    async def advise(self, exchange: Exchange, assessment: Assessment, seconds: float) -> Advice:
        """Return what judges say within ``seconds``; nobody is asked where the policy is not in doubt.

        Without an opinion in time the advice is degraded ``judge_unavailable``, and without a budget for one
        ``judge_budget_spent``. Raises nothing for what an endpoint does.
        """
        doubt = self._policy.doubt(assessment)
        if doubt is None:
            return NO_ADVICE
        self._budget.assign(*self._share())
        case = Case.of(exchange)
        end = asyncio.get_running_loop().time() + min(seconds, self._seconds)
        asked: list[Asked] = []
        for link in self._chain:
            outcome = await self._ask(link, case, _PRIORITIES[doubt], end)
            if isinstance(outcome, Reason):
                return Advice(tuple(asked), (outcome,))
            asked.append(outcome)
            if self._policy.settles(assessment, outcome.opinion):
                break
        return Advice(tuple(asked))

    async def _ask(self, link: Link, case: Case, priority: Priority, end: float) -> Asked | Reason:
        inquiry = self._judges.inquire(end - asyncio.get_running_loop().time())
        method = METHODS[link.method]

        async def opinion() -> Opinion | None:
            asking = ask(case, link.method, link.options)
            most = method.requests(link.options)
            return await ask_within(self._budget, priority, asking, most, inquiry.answer_all, _UNSENT)

        key = opinion_key(case, link.method, link.options, link.models)
        try:
            # The inquiry keeps its time itself; another answer's, which this one may wait for, has its own.
            async with asyncio.timeout_at(end):
                found = await self._kept.opinion(key, case.answer, opinion)
        except TimeoutError:
            return Reason.JUDGE_UNAVAILABLE
        if found is None:
            return Reason.JUDGE_BUDGET_SPENT
        if found.unsure is Unsure.NO_REPLY:
            return Reason.JUDGE_UNAVAILABLE
        return Asked(found, inquiry.cost)
