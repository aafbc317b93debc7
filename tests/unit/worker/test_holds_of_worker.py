"""What a worker sends is decided by what is held at that moment, which its metrics show."""

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
from tests.support.holds import a_hold, board_of_nothing, hold_record, resumed
from tests.support.verdicts import any_verdict

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
ANSWER = ChatbotAnswer("a-1", "c-1", "Can I?", "Yes.", NOW, (ContextPassage("d-1", "You can."),))
SENDING = Policy(auto_send_at=4.0)
EVERYTHING, IN_DUTCH = a_hold(), a_hold("binary", "nl")


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
def board(clock: Clock) -> PauseState:
    return board_of_nothing(clock)


@pytest.fixture
def assessing() -> Assessing:
    return Assessing()


def way_of(board: PauseState | None, assessing: Assessing, policy: Policy = SENDING) -> Pipeline:
    settings = Settings(policy=policy)
    documents = StaticDocuments({})
    return worker_components.build_pipeline(
        settings, board, documents, assessing, None, None, None, WorkerMetrics(), Stages()
    )


async def judged(way: Pipeline) -> tuple[str, tuple[str, ...]]:
    verdict = await way.verdict(ANSWER, Deadline(None), lambda: NOW)
    return verdict.decision, verdict.reasons


async def test_an_answer_is_sent_held_and_sent_again_as_operators_say(
    board: PauseState, assessing: Assessing
) -> None:
    way = way_of(board, assessing)
    assert await judged(way) == ("auto_send", ("high_score",))
    board.apply([hold_record(IN_DUTCH)])
    assert await judged(way) == ("review", ("sending_held", "high_score"))
    board.apply([hold_record(resumed(IN_DUTCH), 1), hold_record(a_hold("binary", "en"), 2)])
    assert await judged(way) == ("auto_send", ("high_score",))


async def test_a_hold_counts_for_what_is_in_work_already(board: PauseState, assessing: Assessing) -> None:
    assessing.meanwhile = lambda: board.apply([hold_record(EVERYTHING)])
    assert (await judged(way_of(board, assessing)))[1][0] == "sending_held"


async def test_where_no_holds_are_followed_that_of_the_policy_counts_alone(assessing: Assessing) -> None:
    assert await judged(way_of(None, assessing)) == ("auto_send", ("high_score",))
    holding = replace(SENDING, hold=True)
    assert await judged(way_of(None, assessing, holding)) == ("review", ("sending_held", "high_score"))


async def test_nothing_is_sent_where_it_is_not_known_what_is_held(
    board: PauseState, assessing: Assessing, clock: Clock
) -> None:
    assert (await judged(way_of(PauseState(clock), assessing)))[1][0] == "holds_unknown"
    way = way_of(board, assessing)
    clock.now += STALE_SECONDS + 1
    assert await judged(way) == ("review", ("holds_unknown", "high_score"))
    board.confirm(clock.now)
    assert (await judged(way))[0] == "auto_send"


async def test_the_settings_can_hold_what_no_operator_does(board: PauseState, assessing: Assessing) -> None:
    way = way_of(board, assessing, replace(SENDING, hold=True))
    assert await judged(way) == ("review", ("sending_held", "high_score"))


def _shown(metrics: WorkerMetrics) -> list[str]:
    lines = generate_latest(metrics.registry).decode().splitlines()
    return [line for line in lines if line.startswith("truthgate_holds")]


def test_metrics_show_what_is_held_by_whom_ever_and_whether_that_is_known() -> None:
    metrics, board = WorkerMetrics(), PauseState()
    metrics.pauses.watch(Policy(hold=True), board)
    all_held = 'truthgate_holds{language="all",message_type="all"} 1.0'
    assert _shown(metrics) == [all_held, "truthgate_holds_known 0.0"]
    board.apply([hold_record(EVERYTHING), hold_record(IN_DUTCH, 1)])
    board.confirm(time.time())
    assert _shown(metrics) == [
        all_held,
        'truthgate_holds{language="nl",message_type="binary"} 1.0',
        "truthgate_holds_known 1.0",
    ]


def _verdict(*reasons: str) -> Verdict:
    return any_verdict(reasons=reasons, score=4.5)


def test_what_a_hold_kept_from_being_sent_is_counted_by_its_reason() -> None:
    metrics = WorkerMetrics()
    for reasons in (("sending_held", "high_score"), ("holds_unknown", "refusal"), ("middle_score",), ()):
        metrics.answers.count_verdict(_verdict(*reasons))
    shown = generate_latest(metrics.registry).decode()
    for reason in ("sending_held", "holds_unknown"):
        assert f'truthgate_verdicts_held_total{{reason="{reason}"}} 1.0' in shown
