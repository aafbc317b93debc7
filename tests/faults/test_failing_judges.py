"""Judges that are away, slow or talk nonsense: nothing is lost, and nothing sent that none found true.

What holds of answers that are judged again, as those are that were in work when a worker was killed: once a
verdict has an opinion, which is kept before the verdict goes out, all later ones have the same opinion and
decision. One without an opinion, for review as degraded ``judge_unavailable``, may come before it: where
nobody replied the first time, there is nothing that a second time could be equal to.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import pytest

from schemas import Codec
from schemas.records import ChatbotAnswer, Verdict
from streams.kafka.topics import Topics
from streams.settings import Settings
from tests.faults.conftest import SCALE_VARIABLE
from tests.support.chatbot import Chatbot
from tests.support.doubtful_answers import doubtful_answers, judge, with_judge, word_of
from tests.support.ledger import Ledger, outgoing, read_until_repeated, read_until_settled, sample_answers
from tests.support.llm_endpoint import LlmEndpoint
from tests.support.records import consume_all, produce
from tests.support.workers import Supervised, Worker, changed

pytestmark = [pytest.mark.timeout(1_800)]

ANSWER_SECONDS = 20.0
#: How long an answer may be on its way beside its time in work: the broker, and a machine with much to do.
_BESIDE_SECONDS = 20.0
_UNAVAILABLE = ("judge_unavailable",)
_IS_LONG = os.environ.get(SCALE_VARIABLE) == "long"


def _nonsense(_: object) -> str:
    return "Zomaar wat"


def _all_untrue(_: object) -> str:
    return '{"label": "FALSE", "confidence": 1, "score": 1, "wrong": []}'


#: Each makes an endpoint fail in its way; ``_well`` makes it well again after any of them.
FAULTS: dict[str, Callable[[LlmEndpoint], None]] = {
    "killed": lambda endpoint: endpoint.stop(),
    "frozen": lambda endpoint: endpoint.behave(frozen=True),
    "slow": lambda endpoint: endpoint.behave(delay=5.0),
    "limited": lambda endpoint: endpoint.behave(status=429, headers={"Retry-After": "1"}),
    "broken": lambda endpoint: endpoint.behave(status=500),
    "garbled": lambda endpoint: endpoint.behave(body=b"<html>Wartungsarbeiten</html>"),
    "nonsense": lambda endpoint: setattr(endpoint, "respond", _nonsense),
    "half": lambda endpoint: endpoint.behave(half=True),
    "crashing": lambda endpoint: endpoint.behave(reset=True),
}
#: With these there is a reply, which no opinion can be read from; it is kept like any other.
_REPLYING = {"nonsense"}


def _well(endpoint: LlmEndpoint) -> None:
    endpoint.stop()
    endpoint.respond = judge
    endpoint.behave()
    endpoint.start()


@pytest.fixture
def endpoint() -> Iterator[LlmEndpoint]:
    with LlmEndpoint(judge) as endpoint:
        yield endpoint


@pytest.fixture
def judging(settings: Settings, endpoint: LlmEndpoint) -> Settings:
    """Give settings with which a judge that is away is noticed after seconds."""
    impatient = {
        "request_timeout_seconds": 1.5,
    }
    judging = with_judge(settings, endpoint.url, impatient, timeout_seconds=4)
    return changed(judging, flow={"answer_timeout_seconds": ANSWER_SECONDS, "max_in_flight": 64})


@asynccontextmanager
async def _health(worker: Worker) -> AsyncIterator[set[int]]:
    """Ask for the health of a worker all the time; 0 is that it does not run."""
    seen: set[int] = set()

    async def ask() -> None:
        while True:
            seen.add((await asyncio.to_thread(worker.get, "/healthz"))[0])
            await asyncio.sleep(0.5)

    task = asyncio.create_task(ask())
    try:
        yield seen
    finally:
        task.cancel()
        await asyncio.wait([task])


def _assert_none_sent_without_an_opinion(ledger: Ledger) -> None:
    for verdict in ledger.verdicts:
        if verdict.decision == "auto_send":
            assert verdict.opinions[-1].label == "TRUE"
            assert verdict.opinions[-1].confidence >= 0.9
            assert word_of(verdict.answer) == "zeker"
            assert not verdict.degraded


def _assert_opinions_last(ledger: Ledger) -> None:
    first: dict[str, Verdict] = {}
    for verdict in sorted(ledger.verdicts, key=lambda verdict: verdict.scored_at):
        earlier = first.get(verdict.verdict_id)
        if earlier is None and verdict.opinions:
            first[verdict.verdict_id] = verdict
        elif earlier is not None:
            told = verdict.decision, verdict.reasons, verdict.opinions, verdict.degraded
            assert told == (earlier.decision, earlier.reasons, earlier.opinions, earlier.degraded)


async def _produce(settings: Settings, topics: Topics, answers: list[ChatbotAnswer]) -> None:
    await produce(settings.kafka, topics.answers, [outgoing(each, Codec()) for each in answers])


async def _seconds_to_verdicts(settings: Settings, topics: Topics, ledger: Ledger) -> dict[str, float]:
    """Give the seconds from each answer to its first verdict, by the broker's clock."""
    codec, asked = Codec(), dict[str, int]()
    for record in await consume_all(settings.kafka, topics.answers):
        asked.setdefault(codec.decode(record.value, ChatbotAnswer).answer_id, record.timestamp)
    judged: dict[str, int] = {}
    for record, verdict in zip(ledger.records, ledger.verdicts, strict=True):
        known = judged.get(verdict.answer_id, record.timestamp)
        judged[verdict.answer_id] = min(known, record.timestamp)
    return {answer_id: (judged[answer_id] - asked[answer_id]) / 1000 for answer_id in judged}


async def test_a_judge_that_fails_in_every_way_for_a_while_under_kills_loses_and_sends_nothing(
    judging, topics, endpoint, tmp_path, scale, report
):
    outage = scale.outage_seconds / 10
    seconds = len(FAULTS) * 1.5 * outage
    rate = scale.events_per_second / 2
    answers = doubtful_answers(int(seconds * rate), "while", conversation_length=3)
    kills = {"frozen", "limited", "nonsense", "half"} if _IS_LONG else {"frozen", "nonsense"}
    with Supervised(Worker(judging, tmp_path)) as supervised:
        worker = supervised.worker
        worker.wait_ready()
        async with Chatbot(judging, answers, rate) as chatbot, _health(worker) as health:
            for name, fail in FAULTS.items():
                fail(endpoint)
                await asyncio.sleep(outage)
                if name in kills:
                    worker.kill()
                _well(endpoint)
                await asyncio.sleep(outage / 2)
            await chatbot.finished()
            await read_until_settled(judging, answers)
        after = doubtful_answers(8, "after")
        await asyncio.sleep(2)  # the breaker lets one try again by then
        await _produce(judging, topics, after)
        first = await read_until_settled(judging, [*answers, *after])
        endpoint.respond = _all_untrue
        await _produce(judging, topics, [*answers, *after])
        ledger = await read_until_repeated(judging, [*answers, *after], 2)
    ledger.assert_settled([*answers, *after])
    _assert_none_sent_without_an_opinion(ledger)
    _assert_opinions_last(ledger)
    assert set(supervised.exit_codes) == {-9}, "no worker ended by itself"
    assert health <= {0, 200}
    with_opinion = {verdict.answer_id for verdict in first.verdicts if verdict.opinions}
    assert len(with_opinion) > len(answers) / 4
    assert {each.answer_id for each in after} & with_opinion
    assert {verdict.degraded for verdict in first.verdicts} == {(), _UNAVAILABLE}
    report(ledger, [*answers, *after], kills=len(kills), faults=len(FAULTS))


@pytest.mark.parametrize("fault", list(FAULTS) if _IS_LONG else ["frozen"])
async def test_a_judge_that_fails_all_the_time_holds_up_nobody(
    fault, judging, topics, endpoint, tmp_path, scale, report
):
    FAULTS[fault](endpoint)
    doubtful = doubtful_answers(scale.events // 4, fault, conversation_length=3)
    clear = sample_answers(scale.events // 8, "clear")
    answers = [each for pair in zip(doubtful[::2], doubtful[1::2], clear, strict=True) for each in pair]
    with Worker(judging, tmp_path) as worker:
        worker.wait_ready()
        async with (
            Chatbot(judging, answers, scale.events_per_second / 2) as chatbot,
            _health(worker) as health,
        ):
            await chatbot.finished()
            ledger = await read_until_settled(judging, answers)
        assert worker.running
    ledger.assert_settled(answers)
    _assert_none_sent_without_an_opinion(ledger)
    assert health == {200}
    took = await _seconds_to_verdicts(judging, topics, ledger)
    assert max(took.values()) < ANSWER_SECONDS + _BESIDE_SECONDS
    blocked = {verdict.answer_id for verdict in ledger.verdicts if verdict.decision == "blocked"}
    assert blocked
    assert blocked <= {each.answer_id for each in clear}
    # Where there are replies, more may come at once than may wait.
    expected = {_UNAVAILABLE, ()} if fault in _REPLYING else {_UNAVAILABLE}
    for verdict in ledger.verdicts:
        if word_of(verdict.answer):
            assert verdict.decision == "review"
            assert verdict.degraded in expected
    report(ledger, answers, faults=1)
