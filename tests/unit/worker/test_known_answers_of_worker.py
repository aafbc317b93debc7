"""A worker sends or blocks what a person decided about the same answer, and not what only looks like it."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from prometheus_client import generate_latest

from schemas import ChatbotAnswer, ContextPassage, KnowledgeDocument, Verdict
from scoring.policy import Policy
from scoring.values.exchange import Exchange, MessageType
from scoring.values.scored_answer import ScoredAnswer
from streams.known_answers.known_state import KnownAnswers
from streams.observability.stages import Stages
from streams.pause.pause_state import PauseState
from streams.pipeline.context import StaticDocuments
from streams.pipeline.pipeline import Deadline
from streams.settings import Settings
from streams.worker import worker_components
from streams.worker.worker_metrics import WorkerMetrics
from tests.support.clock import Clock
from tests.support.known_answers import a_known_answer, known_record, nothing_known
from tests.support.pauses import a_pause, no_pauses, pause_record, raw_record

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
DOCUMENT = KnowledgeDocument("d-1", "en", "Invoices", "You can.", NOW)
ANSWER = ChatbotAnswer(
    "a-1", "c-1", "Can I?", "Yes.", NOW, document_ids=("d-1",), metadata={"tenant": "north"}
)


class Scoring:
    """Scores every answer in the middle."""

    standalone = True

    async def score(self, exchange: Exchange, degraded: tuple[str, ...]) -> ScoredAnswer:
        return ScoredAnswer(3.0, MessageType.BINARY, "en", degraded=degraded, is_standalone=self.standalone)


class Judging:
    """The pipeline of a worker, with what it knows."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.clock = Clock()
        self.known: KnownAnswers | None = nothing_known(self.clock, "tenant")
        self.pauses: PauseState = no_pauses(self.clock)
        self.scorer = Scoring()
        self.settings = Settings(policy=policy or Policy(known_answers=True))

    async def verdict(self, document: KnowledgeDocument = DOCUMENT, **fields: object) -> Verdict:
        pipeline = worker_components.build_pipeline(
            self.settings,
            self.pauses,
            StaticDocuments.of([document]),
            self.scorer,
            None,
            None,
            None,
            WorkerMetrics(),
            Stages(),
            self.known,
        )
        return await pipeline.verdict(replace(ANSWER, **fields), Deadline(None), lambda: NOW)

    async def learn(self, state: str = "true") -> None:
        key = (await self.verdict()).known_answer_key
        assert key
        assert self.known
        self.known.apply([known_record(a_known_answer(key, state))])


@pytest.fixture
async def judging() -> Judging:
    judging = Judging()
    await judging.learn()
    return judging


async def test_the_same_answer_is_sent_and_its_verdict_has_the_key_again(judging):
    verdict = await judging.verdict(answer_id="a-2", conversation_id="c-2")
    assert (verdict.decision, verdict.reasons) == ("auto_send", ("known_true", "middle_score"))
    assert verdict.known_answer_key == (await judging.verdict()).known_answer_key


async def test_an_untrue_one_is_blocked(judging):
    await judging.learn("untrue")
    verdict = await judging.verdict()
    assert (verdict.decision, verdict.reasons) == ("blocked", ("known_untrue", "middle_score"))


@pytest.mark.parametrize(
    "change",
    [
        {"answer": "Yes"},
        {"question": "Can I\u200b?"},
        {"answer": "\u202eYes.\u202c"},
        {"metadata": {"tenant": "south"}},
        {"metadata": {}},
        {"document_ids": (), "context": (ContextPassage("d-1", "You can.", "Invoices"),)},
        {"document": replace(DOCUMENT, text="You cannot.")},
        {"document": replace(DOCUMENT, title="Invoices of customers")},
    ],
)
async def test_whatever_differs_is_for_a_person(judging, change):
    verdict = await judging.verdict(**change)
    assert (verdict.decision, verdict.reasons) == ("review", ("middle_score",))
    assert verdict.known_answer_key


async def test_nothing_is_known_of_an_answer_whose_documents_are_missing(judging):
    verdict = await judging.verdict(document_ids=("d-1", "d-2"))
    assert (verdict.decision, verdict.known_answer_key) == ("review", None)


async def test_nothing_is_known_of_a_question_that_leans_on_the_conversation(judging):
    judging.scorer.standalone = False
    verdict = await judging.verdict()
    assert (verdict.decision, verdict.known_answer_key) == ("review", None)


async def test_a_pause_holds_what_is_known_too(judging):
    judging.pauses.apply([pause_record(a_pause())])
    assert (await judging.verdict()).reasons == ("sending_paused", "known_true", "middle_score")


async def test_a_worker_that_was_cut_off_for_ten_seconds_uses_nothing(judging):
    judging.clock.now += 10.1
    verdict = await judging.verdict()
    assert verdict.decision == "review"
    assert verdict.known_answer_key


async def test_while_the_policy_is_off_verdicts_have_no_key(judging):
    judging.known, judging.settings = None, Settings()
    verdict = await judging.verdict()
    assert (verdict.decision, verdict.known_answer_key) == ("review", None)


async def test_metrics_show_what_is_known_and_what_cannot_be_read(judging):
    metrics = WorkerMetrics()
    metrics.known_answers.watch(judging.known)
    judging.known.apply([raw_record(b"k", b"nonsense")])
    page = generate_latest(metrics.registry).decode()
    assert 'truthgate_known_answers{state="true"} 1.0' in page
    assert 'truthgate_known_answers{state="unreadable"} 1.0' in page
    assert "truthgate_known_answers_current 1.0" in page
    judging.clock.now += 60
    assert "truthgate_known_answers_current 0.0" in generate_latest(metrics.registry).decode()
