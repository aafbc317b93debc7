"""Answers in doubt are asked about until a judge is sure, within time and budget; nothing is sent without."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.features.error_mismatch import ERROR_MISMATCH_RULE
from scoring.features.quotation import VERBATIM_DOCUMENT_RULE
from scoring.judges import METHODS, JudgeOptions
from scoring.judges.requests import Failure, Finish, Outcome, Reply, Request
from scoring.policy import ActivePolicy, Policy
from scoring.policy.asking import AskingOrder
from scoring.policy.certificates import FittedThresholds
from scoring.policy.risk import SHIPPED_RISK, RiskModel, risk_inputs
from scoring.values.exchange import Decision, Exchange, MessageType, Passage, RefusalKind
from scoring.values.opinion import Label
from scoring.values.rules import Reason
from scoring.values.scored_answer import ScoredAnswer
from streams.llm.budget import Budget, Limit, Limits
from streams.llm.cascade import NO_OPINIONS, Cascade, JudgeOpinions
from streams.llm.inquiry import ChainLink, chain_from_settings
from streams.llm.opinion_cache import OpinionCache, open_opinion_cache
from streams.settings import EndpointSettings, JudgeSettings
from tests.support.clock import Clock
from tests.support.virtual_time import run_virtually
from tests.unit.judges.judges_support import ANSWER, DOCUMENT, FALSE, QUESTION, TRUE, reply

ENDPOINT = EndpointSettings(base_url="http://a/v1", model="m")
EXCHANGE = Exchange(QUESTION, ANSWER, (Passage("invoices", DOCUMENT, "Invoices"),), "en")
DOUBTFUL = ScoredAnswer(3.0, MessageType.BINARY, "en")
OBJECTED = ScoredAnswer(2.0, MessageType.BINARY, "en", reason=ERROR_MISMATCH_RULE)
LIMIT = 20.0
NEVER = 1e6

QUOTATION = ScoredAnswer(5.0, MessageType.INSTRUCTION, "en", reason=VERBATIM_DOCUMENT_RULE)
UNSURE_FALSE = FALSE | {"Verdict": FALSE["Verdict"] | {"confidence": 0.5}}
UNSURE_TRUE = TRUE | {"Verdict": TRUE["Verdict"] | {"confidence": 0.5}}
NOT_GIVEN = TRUE | {"Verdict": TRUE["Verdict"] | {"label": "NOT_GIVEN"}}
AWAY = Failure("server_error")


def other(number: int) -> Exchange:
    """Give another exchange for each number."""
    return Exchange(f"{QUESTION} ({number})", ANSWER, EXCHANGE.context, "en")


@dataclass
class Scripted:
    """Gives to one request after the other what stands in ``outcomes``, then the last of them for ever.

    Each is the seconds that it takes, and an outcome or replies by the names of their forms. One that
    ``keeps_time`` fails at its deadline, as endpoints do.
    """

    outcomes: list[tuple[float, Outcome | dict]]
    keeps_time: bool = True
    settings: EndpointSettings = ENDPOINT
    sent: list[Request] = field(default_factory=list)

    async def complete(self, request: Request, deadline: float) -> Outcome:
        self.sent.append(request)
        seconds, outcome = self.outcomes[min(len(self.sent), len(self.outcomes)) - 1]
        left = deadline - asyncio.get_running_loop().time()
        if self.keeps_time and seconds > left:
            await asyncio.sleep(max(0.0, left))
            return Failure("timeout")
        await asyncio.sleep(seconds)
        return reply(outcome[request.schema.name]) if isinstance(outcome, dict) else outcome


def replying(*scripts: Outcome | dict, seconds: float = 1.0) -> Scripted:
    return Scripted([(seconds, script) for script in scripts])


def cascade(
    *models: Scripted,
    policy: Policy | None = None,
    method: str = "single",
    budget: Limit | None = None,
    kept: OpinionCache | None = None,
    max_in_flight: int = 100,
    price: float | None = None,
) -> Cascade:
    """Give a cascade that asks these models, one after the other until one is sure."""
    names = [f"judge-{number}" for number in range(len(models))]
    prices = None if price is None else (price, price)
    for model in models:
        model.settings = ENDPOINT.model_copy(update={"prices": prices})
    judges = dict(zip(names, models, strict=True))
    chain = [ChainLink(method, JudgeOptions(judges=(name,)), {name: name}) for name in names]
    limits = Limits(Limit(), budget or Limit())
    return Cascade(
        policy or Policy(),
        chain,
        judges,
        Budget(limits, Clock()),
        kept or OpinionCache(None),
        LIMIT,
        max_in_flight,
        lambda: (frozenset({0, 1}), 2),
    )


async def _timed(asked: Awaitable[JudgeOpinions]) -> tuple[JudgeOpinions, float]:
    began = asyncio.get_running_loop().time()
    return await asked, asyncio.get_running_loop().time() - began


def advised(
    asking: Cascade, assessment: ScoredAnswer = DOUBTFUL, seconds: float = 60.0
) -> tuple[JudgeOpinions, float]:
    """Give the advice on one answer, and the seconds that it took."""
    return run_virtually(_timed(asking.ask_judges(EXCHANGE, assessment, seconds)))


def decided(assessment: ScoredAnswer, advice: JudgeOpinions, policy: Policy | None = None) -> Decision:
    """Decide as the way of an answer does."""
    whole = ScoredAnswer(
        assessment.score,
        assessment.message_type,
        assessment.language,
        assessment.reason,
        (*assessment.degraded, *advice.degraded),
        assessment.refusal,
    )
    return (policy or Policy()).decide(whole, advice.opinions).decision


def labels(advice: JudgeOpinions) -> list[Label | None]:
    return [asked.opinion.label for asked in advice.priced_opinions]


@pytest.mark.parametrize(
    "assessment",
    [
        ScoredAnswer(1.0, MessageType.BINARY, "en", reason=ERROR_MISMATCH_RULE),
        ScoredAnswer(3.0, MessageType.BINARY, "en", refusal=RefusalKind.FULL),
        ScoredAnswer(3.0, MessageType.BINARY, "en", degraded=(Reason.CONTEXT_MISSING,)),
        ScoredAnswer(None, MessageType.UNSPECIFIED, "en", degraded=(Reason.SCORING_TIMEOUT,)),
    ],
)
def test_nobody_is_asked_about_what_is_not_in_doubt(assessment: ScoredAnswer) -> None:
    model = replying(TRUE)
    assert advised(cascade(model), assessment) == (NO_OPINIONS, 0.0)
    assert model.sent == []


@pytest.mark.parametrize(
    ("script", "assessment", "decision"),
    [
        (TRUE, DOUBTFUL, Decision.AUTO_SEND),
        (FALSE, DOUBTFUL, Decision.BLOCKED),
        (NOT_GIVEN, DOUBTFUL, Decision.REVIEW),
        (UNSURE_TRUE, DOUBTFUL, Decision.REVIEW),
        (Reply("no form at all"), DOUBTFUL, Decision.REVIEW),
        (Reply("", Finish.REFUSED), DOUBTFUL, Decision.REVIEW),
        (AWAY, DOUBTFUL, Decision.REVIEW),
    ],
)
def test_an_opinion_decides_where_it_is_sure(
    script: Outcome | dict, assessment: ScoredAnswer, decision: Decision
) -> None:
    advice, _ = advised(cascade(replying(script)), assessment)
    assert decided(assessment, advice) is decision


def test_where_a_check_objects_an_opinion_blocks_and_does_not_send() -> None:
    policy = Policy(ask=("review", "blocked"))
    for script, decision in ((TRUE, Decision.REVIEW), (FALSE, Decision.BLOCKED), (AWAY, Decision.BLOCKED)):
        advice, _ = advised(cascade(replying(script), policy=policy), OBJECTED)
        assert decided(OBJECTED, advice, policy) is decision


def test_the_chain_is_asked_in_its_order_until_one_is_sure() -> None:
    first, second, third = replying(UNSURE_TRUE), replying(TRUE), replying(TRUE)
    advice, seconds = advised(cascade(first, second, third))
    assert labels(advice) == [Label.TRUE, Label.TRUE]
    assert (advice.degraded, seconds) == ((), 2.0)
    assert [len(model.sent) for model in (first, second, third)] == [1, 1, 0]
    assert decided(DOUBTFUL, advice) is Decision.AUTO_SEND


def test_nobody_is_asked_any_more_once_two_contradict_each_other_which_goes_to_review() -> None:
    first, second, third = replying(UNSURE_TRUE), replying(UNSURE_FALSE), replying(FALSE)
    advice, _ = advised(cascade(first, second, third))
    assert labels(advice) == [Label.TRUE, Label.FALSE]
    assert third.sent == []
    assert decided(DOUBTFUL, advice) is Decision.REVIEW


@pytest.mark.parametrize(
    ("script", "decision"),
    [
        (TRUE, Decision.AUTO_SEND),
        (FALSE, Decision.REVIEW),
        (UNSURE_TRUE, Decision.REVIEW),
        (AWAY, Decision.REVIEW),
    ],
)
def test_a_quotation_is_asked_about_too_and_sent_only_where_the_judge_replies_that_it_is_true(
    script: Outcome | dict, decision: Decision
) -> None:
    advice, _ = advised(cascade(replying(script)), QUOTATION)
    assert decided(QUOTATION, advice) is decision
    unasked, _ = advised(cascade(replying(script), policy=Policy(ask=("review",))), QUOTATION)
    assert unasked is NO_OPINIONS


def test_what_all_of_the_chain_are_unsure_of_goes_to_review() -> None:
    advice, _ = advised(cascade(replying(UNSURE_TRUE), replying(Reply("")), replying(UNSURE_TRUE)))
    assert len(advice.priced_opinions) == 3
    assert decided(DOUBTFUL, advice) is Decision.REVIEW


def test_a_judge_that_is_away_ends_the_chain_and_what_was_said_before_it_is_told() -> None:
    second = replying(TRUE)
    advice, _ = advised(cascade(replying(AWAY), second))
    assert advice == JudgeOpinions((), (Reason.JUDGE_UNAVAILABLE,))
    assert second.sent == []
    advice, _ = advised(cascade(replying(UNSURE_TRUE), replying(AWAY)))
    assert (labels(advice), advice.degraded) == ([Label.TRUE], (Reason.JUDGE_UNAVAILABLE,))
    assert decided(DOUBTFUL, advice) is Decision.REVIEW


def test_without_a_budget_nothing_is_sent() -> None:
    model = replying(TRUE)
    advice, seconds = advised(cascade(model, budget=Limit(requests=0)))
    assert (advice, seconds) == (JudgeOpinions((), (Reason.JUDGE_BUDGET_SPENT,)), 0.0)
    assert model.sent == []
    assert decided(DOUBTFUL, advice) is Decision.REVIEW


def test_what_is_left_of_a_budget_goes_to_those_that_an_opinion_decides_either_way() -> None:
    model = replying(UNSURE_TRUE)
    asking = cascade(model, policy=Policy(ask=("blocked", "review")), budget=Limit(requests=4))

    async def scenario() -> list[tuple[str, ...]]:
        answers = [DOUBTFUL] * 3 + [OBJECTED, DOUBTFUL, DOUBTFUL]
        return [
            (await asking.ask_judges(other(number), assessment, 60)).degraded
            for number, assessment in enumerate(answers)
        ]

    spent = (Reason.JUDGE_BUDGET_SPENT,)
    assert run_virtually(scenario()) == [(), (), (), spent, (), spent]
    assert len(model.sent) == 4


@pytest.mark.parametrize("threshold", [0.0, 0.2])
def test_a_fitted_policy_keeps_the_budget_for_the_answers_that_an_opinion_tells_most_of(
    threshold: float,
) -> None:
    model = replying(UNSURE_TRUE)
    asking = cascade(model, budget=Limit(requests=4))
    known = replace(DOUBTFUL, score=1.5)
    expected = RiskModel("asking", 0.0, (("score", 4.0),))
    order = AskingOrder(expected, threshold=threshold)
    assert not AskingOrder(expected, threshold=0.2).comes_first(risk_inputs(known, (), len(EXCHANGE.answer)))
    asking.active = lambda: ActivePolicy("fitted", FittedThresholds(SHIPPED_RISK, (), order))

    async def scenario() -> list[tuple[str, ...]]:
        answers = [known] * 3 + [replace(DOUBTFUL, score=3.0)] * 3
        return [
            (await asking.ask_judges(other(number), assessment, 60)).degraded
            for number, assessment in enumerate(answers)
        ]

    spent = (Reason.JUDGE_BUDGET_SPENT,)
    as_they_come = [(), (), (), (), spent, spent]
    in_order = [(), spent, spent, (), (), ()]
    assert run_virtually(scenario()) == (in_order if threshold else as_they_come)
    assert len(model.sent) == 4


@pytest.mark.parametrize(("seconds", "takes"), [(60.0, LIMIT), (3.0, 3.0), (0.0, 0.0)])
@pytest.mark.parametrize("keeps_time", [True, False])
def test_the_whole_chain_takes_no_longer_than_it_may(seconds: float, takes: float, keeps_time: bool) -> None:
    first, second = replying(UNSURE_TRUE), Scripted([(NEVER, TRUE)], keeps_time)
    advice, took = advised(cascade(first, second), seconds=seconds)
    assert advice.degraded == (Reason.JUDGE_UNAVAILABLE,)
    # What an inquiry keeps to itself of its time it has over, so that it can say what became of it.
    assert 0.95 * takes <= took <= takes
    assert len(first.sent) <= (takes > 0)


def test_those_that_ask_the_same_at_the_same_time_share_one_asking_and_pay_once() -> None:
    model = replying(TRUE)
    asking = cascade(model, price=1.0)

    async def scenario() -> list[JudgeOpinions]:
        return await asyncio.gather(*(asking.ask_judges(EXCHANGE, DOUBTFUL, 60) for _ in range(5)))

    found = run_virtually(scenario())
    assert len(model.sent) == 1
    assert {advice.opinions for advice in found} == {found[0].opinions}
    assert sorted(advice.priced_opinions[0].cost or 0 for advice in found) == [
        0,
        0,
        0,
        0,
        pytest.approx(110 / 1e6),
    ]


def test_who_shares_an_asking_waits_no_longer_than_he_may_and_spoils_it_for_nobody() -> None:
    model = replying(TRUE, seconds=10)
    asking = cascade(model)

    async def scenario() -> list[tuple[JudgeOpinions, float]]:
        both = (asking.ask_judges(EXCHANGE, DOUBTFUL, 60), asking.ask_judges(EXCHANGE, DOUBTFUL, 4))
        return await asyncio.gather(*map(_timed, both))

    (patient, long), (hasty, short) = run_virtually(scenario())
    assert (labels(patient), long) == ([Label.TRUE], 10)
    assert (hasty.degraded, short) == ((Reason.JUDGE_UNAVAILABLE,), 4)
    assert len(model.sent) == 1


def test_what_was_asked_once_is_the_same_later_and_costs_nothing(tmp_path: Path) -> None:
    for number, price in ((0, 1.0), (1, None)):
        model = replying(FALSE, AWAY)
        found = []
        for _ in range(2):  # the second time as after a restart
            with open_opinion_cache(tmp_path / str(number)) as kept:
                found.append(advised(cascade(model, kept=kept, price=price))[0])
        first, again = found
        assert first.opinions == again.opinions
        assert again.priced_opinions[0].cost == (None if price is None else 0)
        assert len(model.sent) == 1


def test_what_could_not_be_asked_is_asked_the_next_time(tmp_path: Path) -> None:
    model = replying(AWAY, TRUE)
    with open_opinion_cache(tmp_path) as kept:
        asking = cascade(model, kept=kept)
        assert advised(asking)[0].degraded == (Reason.JUDGE_UNAVAILABLE,)
        assert labels(advised(asking)[0]) == [Label.TRUE]
        assert labels(advised(asking)[0]) == [Label.TRUE]
    assert len(model.sent) == 2


def test_when_as_many_wait_as_may_the_others_are_told_at_once_and_the_kept_is_still_found(
    tmp_path: Path,
) -> None:
    model = Scripted([(1.0, FALSE), (NEVER, TRUE)])
    with open_opinion_cache(tmp_path) as kept:
        asking = cascade(model, kept=kept, max_in_flight=3)

        async def scenario() -> list[tuple[JudgeOpinions, float]]:
            await asking.ask_judges(EXCHANGE, DOUBTFUL, 60)
            slow = [
                asyncio.create_task(_timed(asking.ask_judges(other(number), DOUBTFUL, 60)))
                for number in range(3)
            ]
            await asyncio.sleep(1)
            assert asking.in_flight == 3
            beyond = [
                await _timed(asking.ask_judges(each, DOUBTFUL, 60)) for each in (other(0), other(9), EXCHANGE)
            ]
            found = [*await asyncio.gather(*slow), *beyond]
            assert asking.in_flight == 0
            return found

        *slow, shared, new, known = run_virtually(scenario())
    unavailable = JudgeOpinions((), (Reason.JUDGE_UNAVAILABLE,))
    assert [advice for advice, _ in slow] == [unavailable] * 3
    assert all(0.95 * LIMIT <= took <= LIMIT for _, took in slow)
    assert shared == new == (unavailable, 0.0)
    assert (labels(known[0]), known[1]) == ([Label.FALSE], 0.0)
    assert len(model.sent) == 4


def test_an_answer_that_is_given_up_leaves_its_place_to_others() -> None:
    asking = cascade(Scripted([(NEVER, TRUE), (1.0, TRUE)]), max_in_flight=1)

    async def scenario() -> JudgeOpinions:
        task = asyncio.create_task(asking.ask_judges(EXCHANGE, DOUBTFUL, 60))
        await asyncio.sleep(1)
        task.cancel()
        await asyncio.wait([task])
        return await asking.ask_judges(EXCHANGE, DOUBTFUL, 60)

    assert labels(run_virtually(scenario())) == [Label.TRUE]


def test_a_link_names_the_models_behind_its_judges_so_that_another_model_has_other_opinions() -> None:
    given_ = JudgeSettings.model_validate(
        {
            "endpoints": {"small": {"base_url": "http://a/v1", "model": "m-1"}},
            "chain": [{"method": "adaptive", "judges": ["small"]}],
        }
    )
    (link,) = chain_from_settings(given_)
    assert (link.method, link.options.judges) == ("adaptive", ("small",))
    assert link.models == {"small": "http://a/v1 m-1"}


_SHARE = st.floats(0, 1)
_SCRIPTS = st.sampled_from([TRUE, FALSE])
_OUTCOMES: st.SearchStrategy[Outcome | dict] = st.one_of(
    st.builds(
        lambda script, label, confidence: (
            script | {"Verdict": script["Verdict"] | {"label": label, "confidence": confidence}}
        ),
        _SCRIPTS,
        st.sampled_from(list(Label)),
        _SHARE,
    ),
    _SCRIPTS,
    st.sampled_from(
        [
            Failure("server_error"),
            Failure("breaker_open"),
            Reply("{}"),
            Reply(""),
            Reply('{"label": "TRUE"'),
            Reply('{"label": "TRUE"}', Finish.LENGTH),
            Reply("", Finish.REFUSED),
        ]
    ),
)
_MODELS = st.builds(
    Scripted,
    st.lists(st.tuples(st.sampled_from([0.0, 0.1, 1.0, 7.0, NEVER]), _OUTCOMES), min_size=1, max_size=4),
    st.booleans(),
)
# Most of them in doubt, and most budgets and places enough, so that the judges come to say something.
_ASSESSMENTS = st.builds(
    ScoredAnswer,
    st.none() | st.floats(1, 5),
    st.sampled_from(list(MessageType)),
    st.sampled_from(["nl", "en", None]),
    st.sampled_from(
        [None, None, Reason.MESSAGE_TYPE_NOT_SCORED, ERROR_MISMATCH_RULE, VERBATIM_DOCUMENT_RULE]
    ),
    st.sampled_from([(), (), (), (Reason.TRANSLATION_UNAVAILABLE,), (Reason.CONTEXT_MISSING,)]),
    st.sampled_from([RefusalKind.NONE, RefusalKind.NONE, *RefusalKind]),
)
_POLICIES = st.builds(
    Policy,
    auto_send_at=st.sampled_from([3.0, 5.0]),
    unscored=st.sampled_from(list(Decision)),
    ask=st.sampled_from([(Decision.REVIEW,), tuple(Decision), (Reason.MIDDLE_SCORE, Decision.AUTO_SEND)]),
    send_confidence=st.sampled_from([0.3, 0.9]),
)


@settings(max_examples=300)
@given(
    models=st.lists(_MODELS, min_size=1, max_size=3),
    policy=_POLICIES,
    assessment=_ASSESSMENTS,
    method=st.sampled_from(sorted(METHODS)),
    seconds=st.sampled_from([60.0, 5.0, 0.5, 0.0]),
    requests=st.sampled_from([None, None, 0, 9]),
    max_in_flight=st.sampled_from([1, 1, 1, 0]),
)
def test_whatever_judges_do_advice_comes_in_time_and_nothing_in_doubt_is_sent_without_a_sure_opinion(
    models: list[Scripted],
    policy: Policy,
    assessment: ScoredAnswer,
    method: str,
    seconds: float,
    requests: int | None,
    max_in_flight: int,
) -> None:
    asking = cascade(
        *models, policy=policy, method=method, budget=Limit(requests=requests), max_in_flight=max_in_flight
    )
    advice, took = advised(asking, assessment, seconds)
    assert took <= min(seconds, LIMIT) + 1e-6
    assert len(advice.degraded) <= 1
    doubt = policy.doubt(assessment)
    if doubt is None:
        assert advice is NO_OPINIONS
        return
    assert advice.priced_opinions or advice.degraded
    sent = sum(len(model.sent) for model in models)
    assert not sent or (seconds and max_in_flight and requests != 0)
    if decided(assessment, advice, policy) is Decision.AUTO_SEND:
        opinion = advice.opinions[-1]
        assert not advice.degraded
        assert not assessment.degraded
        assert Label.FALSE not in labels(advice)
        assert opinion.score is not None
        assert opinion.score >= 4
        assert (opinion.wrong, opinion.mistakes, opinion.shortened) == ((), (), False)
        assert opinion.label is Label.TRUE
        assert opinion.confidence >= policy.send_confidence
