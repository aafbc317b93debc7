"""The cascade: answers in doubt go to judges, one after the other, until one decides."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

from scoring.judges import Case
from scoring.policy import SETTINGS_POLICY, ActivePolicy, Doubt, Policy
from scoring.policy.risk import risk_inputs
from scoring.values.exchange import Exchange
from scoring.values.opinion import Opinion, UnsureReason
from scoring.values.rules import Reason
from scoring.values.scored_answer import ScoredAnswer
from streams.llm.budget import Budget, Limits, Priority, steady_clock
from streams.llm.endpoints.endpoint import Endpoint
from streams.llm.endpoints.judge_metrics import EndpointObserver
from streams.llm.endpoints.opening import open_judges
from streams.llm.inquiry import ChainLink, Inquiry, chain_from_settings
from streams.llm.opinion_cache import OpinionCache
from streams.settings import Settings


@dataclass(frozen=True, slots=True)
class PricedOpinion:
    """One opinion that was asked for; ``cost`` is in the currency of the prices, None where none are set."""

    opinion: Opinion
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class JudgeOpinions:
    """The opinions on one answer, in the order in which judges were asked.

    ``degraded`` are the codes of what kept a judge from being asked or from replying.
    """

    priced_opinions: tuple[PricedOpinion, ...] = ()
    degraded: tuple[str, ...] = ()

    @property
    def opinions(self) -> tuple[Opinion, ...]:
        """The opinions without their cost, for the policy."""
        return tuple(each.opinion for each in self.priced_opinions)


NO_OPINIONS = JudgeOpinions()

#: Asks for opinions on an exchange as it came in, within so many seconds, if the policy is in doubt.
AskJudges = Callable[[Exchange, ScoredAnswer, float], Awaitable[JudgeOpinions]]

#: The part of the remaining time that an inquiry gets. If the inquiry were cancelled at its end instead, the
#: endpoint's timeout would not be recorded: no breaker would open and no metric show that it hangs.
_INQUIRY_SHARE: Final = 0.95


def max_waiting_for_judges(in_flight: int) -> int:
    """Return how many answers may wait for judges at once, of so many in flight.

    A quarter: behind each that waits are others of its conversation, which take places too. Answers beyond it
    are not asked about, so that slow judges do not hold up the others.
    """
    return max(1, in_flight // 4)


@dataclass(slots=True)
class Cascade:
    """Asks the judges of a chain about answers in doubt.

    Attributes:
        policy: decides which answers are in doubt, and which opinions settle them.
        chain: the opinions, in the order in which they are asked for.
        judges: the endpoints, by name.
        budget: what may be spent.
        opinion_cache: opinions from before.
        timeout_seconds: the longest that the whole chain may take for one answer.
        max_in_flight: how many answers may wait at once; answers beyond it get cached opinions only.
        partition_share: returns this worker's partitions of ``answers`` and the number of all; called for
            every answer in doubt.
        active: returns the policy that decides now; a fitted one may say which answers come first.
        in_flight: how many answers wait for an opinion now.
    """

    policy: Policy
    chain: Sequence[ChainLink]
    judges: Mapping[str, Endpoint]
    budget: Budget
    opinion_cache: OpinionCache
    timeout_seconds: float
    max_in_flight: int
    partition_share: Callable[[], tuple[frozenset[int], int]]
    active: Callable[[], ActivePolicy] = lambda: SETTINGS_POLICY
    in_flight: int = field(default=0, init=False)

    async def ask_judges(
        self, exchange: Exchange, scored_answer: ScoredAnswer, timeout_seconds: float
    ) -> JudgeOpinions:
        """Return the opinions of judges within ``timeout_seconds``; none if the policy is not in doubt.

        Without an opinion in time they are degraded ``judge_unavailable``, and without a budget for one
        ``judge_budget_spent``. Raises nothing for what an endpoint does.
        """
        if (doubt := self.policy.doubt(scored_answer)) is None:
            return NO_OPINIONS
        self.budget.assign(*self.partition_share())
        now = asyncio.get_running_loop().time
        deadline = now() + min(timeout_seconds, self.timeout_seconds)
        may_ask = self.in_flight < self.max_in_flight
        case = Case.of(exchange)
        priority = self._priority(doubt, scored_answer, len(exchange.answer))
        priced: list[PricedOpinion] = []
        self.in_flight += 1
        try:
            for link in self.chain:
                inquiry = Inquiry(
                    case=case,
                    link=link,
                    judges=self.judges,
                    budget=self.budget,
                    priority=priority,
                    deadline=now() + _INQUIRY_SHARE * (deadline - now()),
                )
                key, opinion, degraded = inquiry.opinion_key, None, Reason.JUDGE_UNAVAILABLE
                # Not only the inquiry's deadline: the inquiry of another answer may be waited for.
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(deadline):
                        if may_ask:
                            opinion = await self.opinion_cache.get_or_ask(key, case.answer, inquiry.ask)
                            degraded = Reason.JUDGE_UNAVAILABLE if opinion else Reason.JUDGE_BUDGET_SPENT
                        else:
                            opinion = await self.opinion_cache.get(key, case.answer)
                if opinion is None or opinion.unsure is UnsureReason.NO_REPLY:
                    return JudgeOpinions(tuple(priced), (degraded,))
                priced.append(PricedOpinion(opinion, inquiry.cost))
                if self.policy.is_settled(scored_answer, [each.opinion for each in priced]):
                    break
        finally:
            self.in_flight -= 1
        return JudgeOpinions(tuple(priced))

    def _priority(self, doubt: Doubt, scored_answer: ScoredAnswer, characters: int) -> Priority:
        fitted = self.active().fitted
        if fitted and fitted.asking:
            inputs = risk_inputs(scored_answer, (), characters)
            if not fitted.asking.comes_first(inputs):
                return Priority.LAST
        return Priority.FIRST if doubt is Doubt.BOTH_WAYS else Priority.SECOND


#: As if all answers came by one partition: the whole of every limit.
_ALL_PARTITIONS = frozenset({0}), 1


@asynccontextmanager
async def open_file_judges(settings: Settings, observer: EndpointObserver) -> AsyncIterator[AskJudges | None]:
    """Open the judges of the settings for the answers of a file; yields None if there are none.

    The limits of the budget count for this run alone, from 0, and no opinion is cached: both files belong to
    a worker.

    Args:
        settings: name the judges, the answers in doubt, and the time for them.
        observer: called when endpoints fail.

    Raises:
        InvalidSettings: a certificate authority cannot be read.
    """
    async with open_judges(settings.judges, observer) as judges:
        if not judges:
            yield None
            return
        cascade = Cascade(
            settings.policy,
            chain_from_settings(settings.judges),
            judges,
            Budget(Limits.from_settings(settings.judges.budget), steady_clock()),
            OpinionCache(None),
            settings.judges.timeout_seconds,
            max_in_flight=sys.maxsize,
            partition_share=lambda: _ALL_PARTITIONS,
        )
        yield cascade.ask_judges
