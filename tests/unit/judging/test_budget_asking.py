"""An opinion is asked for within the budget: what it took counts, whatever way it ended."""

import asyncio
from dataclasses import replace

import pytest

from scoring.judges import (
    METHODS,
    Case,
    Failure,
    JudgeOptions,
    Message,
    ReferenceDocuments,
    ReplySchema,
    Request,
)
from scoring.values.opinion import Label, UnsureReason
from streams.llm.budget import Budget, BudgetAmount, Limit, Limits, Priority
from streams.llm.inquiry import ChainLink, Inquiry, estimate
from streams.settings import EndpointSettings
from tests.support.clock import Clock
from tests.unit.judges.judges_support import DOCUMENTS, TRUE, Endpoint

OPTIONS = JudgeOptions()


def budget_of(requests=100, tokens=1_000_000):
    budget = Budget(Limits(Limit(requests, tokens)), Clock())
    budget.assign([0], 1)
    return budget


class Judge:
    """A judge whose requests of a round are answered by a script, after ``before`` was called."""

    settings = EndpointSettings(base_url="http://a/v1", model="m")

    def __init__(self, script, before=None):
        self.endpoint = Endpoint(script)
        self._before = before

    @property
    def requests(self):
        return self.endpoint.requests

    async def complete(self, request, _deadline):
        (outcome,) = self.endpoint((request,))
        if self._before:
            outcome = await self._before(outcome)
        return outcome


def inquiry_into(budget, method, judge, case=DOCUMENTS):
    return Inquiry(
        case=case,
        link=ChainLink(method, OPTIONS, {}),
        judges=dict.fromkeys(OPTIONS.judges, judge),
        budget=budget,
        priority=Priority.FIRST,
        deadline=0,
    )


def spent(budget):
    return budget.spending.minute.spent


@pytest.mark.parametrize("method", METHODS)
async def test_what_the_endpoint_counts_is_what_was_spent(method):
    budget, judge = budget_of(), Judge(TRUE)
    opinion = await inquiry_into(budget, method, judge).ask()
    assert opinion.usage.requests == len(judge.requests)
    assert spent(budget) == BudgetAmount(
        opinion.usage.requests, opinion.usage.tokens_in + opinion.usage.tokens_out
    )


@pytest.mark.parametrize("limits", [{"requests": 2}, {"tokens": 100}])
async def test_nothing_is_sent_where_the_method_may_need_more_than_is_left(limits):
    budget, judge = budget_of(**limits), Judge(TRUE)
    assert await inquiry_into(budget, "sequential", judge).ask() is None
    assert judge.requests == []
    assert spent(budget) == BudgetAmount()


async def test_all_that_the_method_may_ask_is_reserved_until_it_is_settled():
    budget = budget_of(requests=5)
    reserved = []

    async def note_reserved(outcome):
        reserved.append(spent(budget).requests)
        return outcome

    opinion = await inquiry_into(budget, "sequential", Judge(TRUE, note_reserved)).ask()
    assert opinion.label is Label.TRUE
    assert set(reserved) == {3}
    assert spent(budget).requests == opinion.usage.requests


async def test_what_has_nothing_to_be_compared_with_costs_nothing():
    budget = budget_of(requests=0)
    case = Case("Why?", "Because.", ReferenceDocuments(()))
    opinion = await inquiry_into(budget, "single", Judge(TRUE), case).ask()
    assert opinion.unsure is UnsureReason.NO_REFERENCE


async def test_a_reply_without_a_count_costs_its_estimate():
    async def uncounted(outcome):
        return replace(outcome, tokens_in=0, tokens_out=0)

    budget, judge = budget_of(), Judge(TRUE, uncounted)
    await inquiry_into(budget, "single", judge).ask()
    assert spent(budget) == estimate(judge.requests[0])


async def test_a_failure_costs_its_estimate_unless_nothing_was_sent():
    away, slow = budget_of(), budget_of()
    for budget, code in ((away, "breaker_open"), (slow, "timeout")):
        judge = Judge({"Verdict": Failure(code)})
        opinion = await inquiry_into(budget, "single", judge).ask()
        assert opinion.unsure is UnsureReason.NO_REPLY
    assert spent(away) == BudgetAmount()
    assert spent(slow) == estimate(judge.requests[0])


async def test_an_asking_that_is_given_up_costs_what_it_had_sent():
    budget, sent = budget_of(), asyncio.Event()

    async def hang_in_the_second_round(outcome):
        if len(judge.requests) == 2:
            sent.set()
            await asyncio.Event().wait()
        return outcome

    judge = Judge(TRUE, hang_in_the_second_round)
    task = asyncio.create_task(inquiry_into(budget, "sequential", judge).ask())
    await sent.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert spent(budget) == BudgetAmount(1, 110) + estimate(judge.requests[1])


def test_an_estimate_is_of_all_that_is_sent_and_of_the_longest_reply():
    request = Request((Message("system", "abc"), Message("user", "日本")), ReplySchema("S", "{}{}"), "j", 50)
    assert estimate(request) == BudgetAmount(1, (3 + 6 + 4 + 2) // 3 + 50)
