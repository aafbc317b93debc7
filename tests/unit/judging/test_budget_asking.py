"""An opinion is asked for within the budget: what it took counts, whatever way it ended."""

import asyncio

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
    ask,
)
from scoring.values.opinion import Label, UnsureReason
from streams.llm.budget import Budget, BudgetAmount, Limit, Limits, Priority
from streams.llm.spending import ask_within_budget, estimate
from tests.support.clock import Clock
from tests.unit.judges.judges_support import DOCUMENTS, TRUE, Endpoint

OPTIONS = JudgeOptions()


def budget_of(requests=100, tokens=1_000_000):
    budget = Budget(Limits(Limit(requests, tokens)), Clock())
    budget.assign([0], 1)
    return budget


def asking(method, case=DOCUMENTS):
    return ask(case, method, OPTIONS), METHODS[method].max_requests(OPTIONS)


def answering(endpoint):
    async def answer_all(requests):
        return endpoint(requests)

    return answer_all


async def opinion_of(budget, method, endpoint, case=DOCUMENTS, unsent=()):
    begun, most = asking(method, case)
    return await ask_within_budget(budget, Priority.FIRST, begun, most, answering(endpoint), unsent)


def spent(budget):
    return budget.spending.minute.spent


@pytest.mark.parametrize("method", METHODS)
async def test_what_the_endpoint_counts_is_what_was_spent(method):
    budget, endpoint = budget_of(), Endpoint(TRUE)
    opinion = await opinion_of(budget, method, endpoint)
    assert opinion.usage.requests == len(endpoint.requests)
    assert spent(budget) == BudgetAmount(
        opinion.usage.requests, opinion.usage.tokens_in + opinion.usage.tokens_out
    )


@pytest.mark.parametrize("limits", [{"requests": 2}, {"tokens": 100}])
async def test_nothing_is_sent_where_the_method_may_need_more_than_is_left(limits):
    budget, endpoint = budget_of(**limits), Endpoint(TRUE)
    assert await opinion_of(budget, "sequential", endpoint) is None
    assert endpoint.requests == []
    assert spent(budget) == BudgetAmount()


async def test_all_that_the_method_may_ask_is_reserved_until_it_is_settled():
    budget = budget_of(requests=5)
    reserved = []

    async def answer_all(requests):
        reserved.append(spent(budget).requests)
        return Endpoint(TRUE)(requests)

    begun, most = asking("sequential")
    opinion = await ask_within_budget(budget, Priority.FIRST, begun, most, answer_all)
    assert opinion.label is Label.TRUE
    assert set(reserved) == {3}
    assert spent(budget).requests == opinion.usage.requests


async def test_what_has_nothing_to_be_compared_with_costs_nothing():
    budget = budget_of(requests=0)
    opinion = await opinion_of(
        budget, "single", Endpoint(TRUE), Case("Why?", "Because.", ReferenceDocuments(()))
    )
    assert opinion.unsure is UnsureReason.NO_REFERENCE


async def test_a_reply_without_a_count_costs_its_estimate():
    budget, endpoint = budget_of(), Endpoint(TRUE)

    async def answer_all(requests):
        return [type(each)(each.text) for each in endpoint(requests)]

    begun, most = asking("single")
    await ask_within_budget(budget, Priority.FIRST, begun, most, answer_all)
    assert spent(budget) == estimate(endpoint.requests[0])


async def test_a_failure_costs_its_estimate_unless_nothing_was_sent():
    away, slow = budget_of(), budget_of()
    for budget, code in ((away, "breaker_open"), (slow, "timeout")):
        endpoint = Endpoint({"Verdict": Failure(code)})
        opinion = await opinion_of(budget, "single", endpoint, unsent=["breaker_open"])
        assert opinion.unsure is UnsureReason.NO_REPLY
    assert spent(away) == BudgetAmount()
    assert spent(slow) == estimate(endpoint.requests[0])


async def test_an_asking_that_is_given_up_costs_what_it_had_sent():
    budget, sent = budget_of(), asyncio.Event()
    endpoint = Endpoint(TRUE)

    async def answer_all(requests):
        outcomes = endpoint(requests)
        if len(endpoint.rounds) == 2:
            sent.set()
            await asyncio.Event().wait()
        return outcomes

    begun, most = asking("sequential")
    task = asyncio.create_task(ask_within_budget(budget, Priority.FIRST, begun, most, answer_all))
    await sent.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert spent(budget) == BudgetAmount(1, 110) + estimate(endpoint.requests[1])


def test_an_estimate_is_of_all_that_is_sent_and_of_the_longest_reply():
    request = Request((Message("system", "abc"), Message("user", "日本")), ReplySchema("S", "{}{}"), "j", 50)
    assert estimate(request) == BudgetAmount(1, (3 + 6 + 4 + 2) // 3 + 50)
