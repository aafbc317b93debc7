"""A worker sends by the pauses in force at that moment, which its metrics show."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from prometheus_client import generate_latest

from schemas.records import ChatbotAnswer, ContextPassage, Verdict
from scoring.policy import Policy
from scoring.values.exchange import Exchange, MessageType
from scoring.values.scored_answer import ScoredAnswer
from streams.observability.stages import Stages
from streams.pause.pause_state import STALE_SECONDS, PauseState
from streams.pipeline.context import StaticDocuments
from streams.pipeline.pipeline import Deadline, Pipeline
from streams.settings import Settings
from streams.worker import worker_components
from streams.worker.worker_metrics import WorkerMetrics
from tests.support.clock import Clock
from tests.support.pauses import a_pause, no_pauses, pause_record, resumed
from tests.support.verdicts import any_verdict

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
ANSWER = ChatbotAnswer("a-1", "c-1", "Can I?", "Yes.", NOW, (ContextPassage("d-1", "You can."),))
SENDING = Policy(auto_send_at=4.0)
EVERYTHING, IN_DUTCH = a_pause(), a_pause("binary", "nl")


class Assessing:
    """Finds every answer good; calls ``meanwhile`` before it says so."""

    def __init__(self) -> None:
        self.meanwhile: Callable[[], object] = lambda: None

    async def score(self, exchange: Exchange, degraded: tuple[str, ...]) -> ScoredAnswer:
        self.meanwhile()
        return ScoredAnswer(4.5, MessageType.BINARY, "nl", degraded=degraded)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def state(clock: Clock) -> PauseState:
    return no_pauses(clock)


@pytest.fixture
def assessing() -> Assessing:
    return Assessing()


def way_of(state: PauseState | None, assessing: Assessing, policy: Policy = SENDING) -> Pipeline:
    settings = Settings(policy=policy)
    documents = StaticDocuments({})
    return worker_components.build_pipeline(
        settings, state, documents, assessing, None, None, None, WorkerMetrics(), Stages()
    )


async def judged(way: Pipeline) -> tuple[str, tuple[str, ...]]:
    verdict = await way.verdict(ANSWER, Deadline(None), lambda: NOW)
    return verdict.decision, verdict.reasons


async def test_an_answer_is_sent_paused_and_sent_again_as_operators_say(state, assessing):
    way = way_of(state, assessing)
    assert await judged(way) == ("auto_send", ("high_score",))
    state.apply([pause_record(IN_DUTCH)])
    assert await judged(way) == ("review", ("sending_paused", "high_score"))
    state.apply([pause_record(resumed(IN_DUTCH), 1), pause_record(a_pause("binary", "en"), 2)])
    assert await judged(way) == ("auto_send", ("high_score",))


async def test_a_pause_counts_for_what_is_in_work_already(state, assessing):
    assessing.meanwhile = lambda: state.apply([pause_record(EVERYTHING)])
    assert (await judged(way_of(state, assessing)))[1][0] == "sending_paused"


async def test_where_no_pauses_are_followed_that_of_the_policy_counts_alone(assessing):
    assert await judged(way_of(None, assessing)) == ("auto_send", ("high_score",))
    paused = replace(SENDING, pause=True)
    assert await judged(way_of(None, assessing, paused)) == ("review", ("sending_paused", "high_score"))


async def test_nothing_is_sent_while_the_pauses_are_unknown(state, assessing, clock):
    assert (await judged(way_of(PauseState(clock), assessing)))[1][0] == "pauses_unknown"
    way = way_of(state, assessing)
    clock.now += STALE_SECONDS + 1
    assert await judged(way) == ("review", ("pauses_unknown", "high_score"))
    state.freshness.confirm(clock.now)
    assert (await judged(way))[0] == "auto_send"


async def test_the_settings_can_pause_what_no_operator_does(state, assessing):
    way = way_of(state, assessing, replace(SENDING, pause=True))
    assert await judged(way) == ("review", ("sending_paused", "high_score"))


def _shown(metrics: WorkerMetrics) -> list[str]:
    lines = generate_latest(metrics.registry).decode().splitlines()
    return [line for line in lines if line.startswith("truthgate_pauses")]


def test_metrics_show_all_pauses_and_whether_they_are_known():
    metrics, state = WorkerMetrics(), PauseState()
    metrics.pauses.watch(Policy(pause=True), state)
    all_paused = 'truthgate_pauses{language="all",message_type="all"} 1.0'
    assert _shown(metrics) == [all_paused, "truthgate_pauses_known 0.0"]
    state.apply([pause_record(EVERYTHING), pause_record(IN_DUTCH, 1)])
    state.freshness.confirm(time.time())
    assert _shown(metrics) == [
        all_paused,
        'truthgate_pauses{language="nl",message_type="binary"} 1.0',
        "truthgate_pauses_known 1.0",
    ]


def _verdict(*reasons: str) -> Verdict:
    return any_verdict(reasons=reasons, score=4.5)


def test_what_a_pause_kept_from_being_sent_is_counted_by_its_reason():
    metrics = WorkerMetrics()
    for reasons in (("sending_paused", "high_score"), ("pauses_unknown", "refusal"), ("middle_score",), ()):
        metrics.answers.count_verdict(_verdict(*reasons))
    shown = generate_latest(metrics.registry).decode()
    for reason in ("sending_paused", "pauses_unknown"):
        assert f'truthgate_verdicts_paused_total{{reason="{reason}"}} 1.0' in shown
