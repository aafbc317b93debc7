"""The cascade: answers in doubt go to judges, one after the other, until one decides."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from scoring.judges import METHODS, Case, JudgeOptions, ask, opinion_key
from scoring.policy import Doubt, Policy
from scoring.values.exchange import Exchange
from scoring.values.opinion import Opinion, UnsureReason
from scoring.values.rules import Reason
from scoring.values.scored_answer import ScoredAnswer
from streams.llm.budget import Budget, Priority, steady_clock
from streams.llm.cached_opinions import OpinionCache
from streams.llm.endpoints.faults import NO_CONNECTION, EndpointFault
from streams.llm.endpoints.judge_metrics import EndpointObserver
from streams.llm.endpoints.judges import Judges
from streams.llm.endpoints.opening import open_judges
from streams.llm.spending import ask_within_budget, limits_from_settings
from streams.settings import JudgeSettings, Settings


@dataclass(frozen=True, slots=True)
class PricedOpinion:
    """One opinion that was asked for; ``cost`` is in the currency of the prices, None where none are set."""

    opinion: Opinion
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class JudgeOpinions:
    """What judges said of one answer, in the order in which they were asked.

    ``degraded`` are the codes of what kept a judge from being asked or from replying.
    """

    priced_opinions: tuple[PricedOpinion, ...] = ()
    degraded: tuple[str, ...] = ()

    @property
    def opinions(self) -> tuple[Opinion, ...]:
        """What was said, for the policy."""
        return tuple(each.opinion for each in self.priced_opinions)


NO_OPINIONS = JudgeOpinions()

#: Asks for advice on an exchange as it came in, within so many seconds; only where the policy is in doubt.
AskJudges = Callable[[Exchange, ScoredAnswer, float], Awaitable[JudgeOpinions]]

#: With these nothing was sent, so nothing is paid.
_UNSENT: Final = frozenset(
    {*NO_CONNECTION, EndpointFault.BREAKER_OPEN, EndpointFault.BUSY, EndpointFault.UNKNOWN_JUDGE}
)
#: The part of the time that an inquiry gets. Given up at its end instead, what an endpoint did with the time
#: would not be told: its breaker would stay closed, and no metric would show that it hangs.
_INQUIRY_SHARE: Final = 0.95


def max_waiting_for_judges(in_flight: int) -> int:
    """Return how many answers may wait for judges at once, where so many may be in work.

    A quarter, since behind each that waits are others of its conversation, which have places too. What comes
    beyond is not asked about, so that slow judges hold up no others.
    """
    return max(1, in_flight // 4)


@dataclass(frozen=True, slots=True)
class ChainLink:
    """One opinion of the chain; ``models`` say by name which model, of which endpoint, is asked."""

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


@dataclass(frozen=True, slots=True)
class _AskTerms:
    """How soon and how urgently one answer is asked about; ``end`` is by the event loop's clock."""

    priority: Priority
    deadline: float
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
    chain: Sequence[ChainLink]
    judges: Judges
    budget: Budget
    opinion_cache: OpinionCache
    timeout_seconds: float
    max_in_flight: int
    assigned_partitions: Callable[[], tuple[frozenset[int], int]]
    in_flight: int = field(default=0, init=False)

    async def ask_judges(
        self, exchange: Exchange, scored_answer: ScoredAnswer, timeout_seconds: float
    ) -> JudgeOpinions:
        """Return what judges say within ``seconds``; nobody is asked where the policy is not in doubt.

        Without an opinion in time the advice is degraded ``judge_unavailable``, and without a budget for one
        ``judge_budget_spent``. Raises nothing for what an endpoint does.
        """
        if (doubt := self.policy.doubt(scored_answer)) is None:
            return NO_OPINIONS
        self.budget.assign(*self.assigned_partitions())
        end = asyncio.get_running_loop().time() + min(timeout_seconds, self.timeout_seconds)
        priority = Priority.FIRST if doubt is Doubt.BOTH_WAYS else Priority.SECOND
        terms = _AskTerms(priority, end, may_ask=self.in_flight < self.max_in_flight)
        asked: list[PricedOpinion] = []
        self.in_flight += 1
        try:
            for link in self.chain:
                outcome = await self._ask_link(link, Case.of(exchange), terms)
                if isinstance(outcome, Reason):
                    return JudgeOpinions(tuple(asked), (outcome,))
                asked.append(outcome)
                if self.policy.is_settled(scored_answer, [each.opinion for each in asked]):
                    break
        finally:
            self.in_flight -= 1
        return JudgeOpinions(tuple(asked))

    async def _ask_link(self, link: ChainLink, case: Case, terms: _AskTerms) -> PricedOpinion | Reason:
        inquiry = self.judges.inquire(_INQUIRY_SHARE * (terms.deadline - asyncio.get_running_loop().time()))

        async def opinion() -> Opinion | None:
            asking = ask(case, link.method, link.options)
            most = METHODS[link.method].max_requests(link.options)
            return await ask_within_budget(
                self.budget, terms.priority, asking, most, inquiry.complete_all, _UNSENT
            )

        key = opinion_key(case, link.method, link.options, link.models)
        try:
            # The inquiry keeps its time itself; another answer's, which this one may wait for, has its own.
            async with asyncio.timeout_at(terms.deadline):
                if not terms.may_ask:
                    found = await self.opinion_cache.get(key, case.answer)
                    return PricedOpinion(found, inquiry.cost) if found else Reason.JUDGE_UNAVAILABLE
                found = await self.opinion_cache.get_or_ask(key, case.answer, opinion)
        except TimeoutError:
            return Reason.JUDGE_UNAVAILABLE
        if found is None:
            return Reason.JUDGE_BUDGET_SPENT
        return (
            Reason.JUDGE_UNAVAILABLE
            if found.unsure is UnsureReason.NO_REPLY
            else PricedOpinion(found, inquiry.cost)
        )


#: As if all answers came by one partition: the whole of every limit.
_ALL_PARTITIONS = frozenset({0}), 1
#: There are no other answers to leave places to.
_UNLIMITED = sys.maxsize


@asynccontextmanager
async def open_file_judges(settings: Settings, observer: EndpointObserver) -> AsyncIterator[AskJudges | None]:
    """Give what asks the judges that the settings name, or None where they name nobody.

    The limits of the budget count for this run alone, from nothing: the file of what was spent is a worker's,
    which has it locked. No opinion is kept: that file is a worker's too.

    Args:
        settings: say whom to ask, about which answers, and how long that may take.
        observer: hears of endpoints that fail.

    Raises:
        InvalidSettings: an authority of TLS cannot be read.
    """
    asking = settings.judges
    async with open_judges(asking, observer) as judges:
        if judges is None:
            yield None
            return
        budget = Budget(limits_from_settings(asking.budget), steady_clock())
        chain, cache = chain_from_settings(asking), OpinionCache(None, None)
        seconds = asking.timeout_seconds
        cascade = Cascade(
            settings.policy, chain, judges, budget, cache, seconds, _UNLIMITED, lambda: _ALL_PARTITIONS
        )
        yield cascade.ask_judges
