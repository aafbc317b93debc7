"""A worker that asks a judge about answers in doubt: what it decides, keeps, spends and tells."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from schemas import Codec
from schemas.records import ChatbotAnswer, Verdict
from streams.kafka.topics import Topics
from streams.llm.budget_file import BUDGET_FILE_NAME
from streams.llm.opinion_cache import OPINION_CACHE_NAME
from streams.pipeline.verdict import verdict_id
from streams.settings import Settings
from tests.support.doubtful_answers import SAYS, WRONG, doubtful_answers, judge, with_judge, word_of
from tests.support.ledger import Ledger, outgoing, read_until_repeated, read_until_settled, sample_answers
from tests.support.llm_endpoint import LlmEndpoint
from tests.support.otlp import OtlpReceiver
from tests.support.ports import NOBODY
from tests.support.records import eventually, produce
from tests.support.retrieval import metric
from tests.support.workers import Worker, changed

KEY = "sk-very-secret-4711"
MAIL = "k.jansen@klant.example"
SECRETS = {"TRUTHGATE_JUDGES__ENDPOINTS__SMALL__API_KEY": KEY}
DECISIONS = {
    "zeker": ("auto_send", "judged_true"),
    "onjuist": ("blocked", "judged_untrue"),
    "misschien": ("review", "judge_not_confident"),
    "ontwijkend": ("review", "judged_not_given"),
}


@pytest.fixture
def endpoint() -> Iterator[LlmEndpoint]:
    with LlmEndpoint(judge) as endpoint:
        yield endpoint


@pytest.fixture
def collector() -> Iterator[OtlpReceiver]:
    with OtlpReceiver() as receiver:
        yield receiver


class Stream:
    """Sends answers to a worker and gives their verdicts."""

    def __init__(self, settings: Settings, topics: Topics) -> None:
        self._settings = settings
        self._topics = topics
        self._sent: list[ChatbotAnswer] = []

    async def judged(self, answers: list[ChatbotAnswer]) -> list[Verdict]:
        """Give the verdicts on new answers, in their order."""
        self._sent += answers
        await self._produce(answers)
        ledger = await read_until_settled(self._settings, self._sent)
        ledger.assert_settled(self._sent)
        return [times[0] for times in _by_answer(ledger, answers)]

    async def judged_again(self, answers: list[ChatbotAnswer], times: int) -> list[list[Verdict]]:
        """Send answers again, and give all verdicts on each once there are so many."""
        await self._produce(answers)
        return _by_answer(await read_until_repeated(self._settings, answers, times), answers)

    async def _produce(self, answers: list[ChatbotAnswer]) -> None:
        records = [outgoing(answer, Codec()) for answer in answers]
        await produce(self._settings.kafka, self._topics.answers, records)


def _by_answer(ledger: Ledger, answers: list[ChatbotAnswer]) -> list[list[Verdict]]:
    ids = [verdict_id(answer.answer_id) for answer in answers]
    return [[verdict for verdict in ledger.verdicts if verdict.verdict_id == each] for each in ids]


def _assert_decided(verdict: Verdict) -> None:
    word = word_of(verdict.answer)
    assert word
    assert (verdict.decision, verdict.reasons[0]) == DECISIONS[word]
    assert verdict.reasons[1] == "middle_score"
    (opinion,) = verdict.opinions
    assert (opinion.label, opinion.confidence, opinion.score) == SAYS[word]
    assert (opinion.method, opinion.models, opinion.unsure) == ("single", ("gpt-small-0613",), None)
    assert (opinion.requests, opinion.tokens_in) == (1, 120)
    assert opinion.tokens_out > 1
    assert opinion.seconds > 0
    assert opinion.cost == pytest.approx((120 * 2 + opinion.tokens_out * 8) / 1e6)
    assert len(opinion.prompt_version) > 8
    evidence = [(each.kind, each.text) for each in opinion.evidence]
    assert evidence == ([("hallucination", WRONG)] if word == "onjuist" else [])
    for each in opinion.evidence:
        assert verdict.answer[each.start : each.end] == each.text


def _assert_seen(collector: OtlpReceiver, asked: int) -> None:
    spans = collector.named("chat gpt-small")
    assert len(spans) == asked
    judging = {span.span_id for span in collector.named("judge")}
    for span in spans:
        assert span.kind == "client"
        assert span.parent_id in judging
        told = span.attributes
        assert told["gen_ai.operation.name"] == "chat"
        assert told["gen_ai.response.model"] == "gpt-small-0613"
        assert told["gen_ai.usage.input_tokens"] == 120


async def test_opinions_decide_what_is_in_doubt_and_nothing_else_and_are_told_without_a_text(
    settings, topics, endpoint, collector, tmp_path
):
    doubtful = [
        replace(each, answer=f"{each.answer} Vraag het {MAIL}.", question=f"{each.question} ({MAIL})")
        for each in doubtful_answers(8, "doubt")
    ]
    prices = {"prices": [2, 8]}
    judging = with_judge(settings, endpoint.url, prices).model_copy(
        update={
            "log": settings.log.model_copy(update={"level": "debug"}),
            "telemetry": settings.telemetry.model_copy(
                update={"otlp_endpoint": collector.grpc, "parts": True}
            ),
        }
    )
    with Worker(judging, tmp_path, secrets=SECRETS) as worker:
        worker.wait_ready()
        stream = Stream(judging, topics)
        for verdict in await stream.judged(doubtful):
            _assert_decided(verdict)
        assert len(endpoint.asked) == len(doubtful)
        mixed = await stream.judged(sample_answers(24, "mixed", conversation_length=1))
        asked = len(endpoint.asked)
        page = worker.metrics()
        assert worker.terminate() == 0
    in_doubt = [verdict for verdict in mixed if verdict.opinions]
    assert len(in_doubt) == asked - len(doubtful)
    assert {verdict.decision for verdict in in_doubt} == {"review"}
    others = [verdict for verdict in mixed if not verdict.opinions]
    assert {"blocked"} <= {verdict.decision for verdict in others} <= {"blocked", "review"}
    assert {v.reasons[0] for v in others if v.decision == "review"} <= {"refusal"}
    assert not any(verdict.degraded for verdict in mixed)

    assert {each.headers["Authorization"] for each in endpoint.asked} == {f"Bearer {KEY}"}
    sent = json.dumps([[each.body, each.headers] for each in endpoint.asked], ensure_ascii=False)
    assert "[EMAIL-1]" in sent
    assert MAIL not in sent

    _assert_seen(collector, asked)
    labels = 'gen_ai_operation_name="chat",gen_ai_provider_name="openai",gen_ai_request_model="gpt-small"'
    assert f"gen_ai_client_operation_duration_seconds_count{{{labels}" in page
    assert f"gen_ai_client_token_usage_count{{{labels}" in page
    assert 'truthgate_judge_breaker{judge="small",state="closed"} 1.0' in page
    assert 'truthgate_opinions_total{method="single",says="FALSE"} 2.0' in page

    told = [worker.log.encode(), page.encode(), *collector.raw]
    texts = (KEY, MAIL, "EMAIL-1", "dikke map", "Wat is een dossier", "stukken van een klant", "confidence")
    for text in texts:
        assert not [each for each in told if text.encode() in each], text


async def test_an_answer_that_comes_again_has_the_same_opinion_and_costs_nothing_after_a_restart_too(
    settings, topics, endpoint, tmp_path
):
    judging = with_judge(settings, endpoint.url)
    answers = doubtful_answers(12, "again")
    stream = Stream(judging, topics)
    with Worker(judging, tmp_path) as worker:
        worker.wait_ready()
        await stream.judged(answers)
        asked = len(endpoint.asked)
        endpoint.respond = lambda _: "something else"
        await stream.judged_again(answers, 2)
        worker.kill()
        worker.start()
        worker.wait_ready()
        await stream.judged_again(answers, 3)
        endpoint.stop()
        found = await stream.judged_again(answers, 4)
    assert asked == len(endpoint.asked) == len(answers)
    for first, *others in found:
        assert first.opinions
        for other in others:
            assert (other.decision, other.reasons, other.opinions, other.degraded) == (
                first.decision,
                first.reasons,
                first.opinions,
                (),
            )


async def test_every_worker_of_a_group_asks_and_not_its_leader_alone(settings, topics, endpoint, tmp_path):
    judging = with_judge(settings, endpoint.url)
    each = [changed(judging, kafka={"group_instance_id": name}) for name in ("one", "two")]
    with Worker(each[0], tmp_path, "one") as one, Worker(each[1], tmp_path, "two") as two:
        one.wait_ready()
        two.wait_ready()
        verdicts = await Stream(judging, topics).judged(doubtful_answers(12, "shared"))
        for worker in (one, two):
            await eventually(lambda: metric(worker, "truthgate_opinions_total") > 0, "it asks")  # noqa: B023
    assert {len(verdict.opinions) for verdict in verdicts} == {1}


async def test_the_budget_of_a_day_holds_over_restarts(settings, topics, endpoint, tmp_path):
    judging = with_judge(settings, endpoint.url, budget={"requests_per_day": 6})
    stream = Stream(judging, topics)
    with Worker(judging, tmp_path) as worker:
        worker.wait_ready()
        first = await stream.judged(doubtful_answers(4, "first"))
        assert worker.terminate() == 0
        worker.start()
        worker.wait_ready()
        second = await stream.judged(doubtful_answers(4, "second"))
        written = tmp_path / "worker" / BUDGET_FILE_NAME
        await eventually(lambda: _requests_today(written) == 6, "what is spent is written")
        worker.kill()
        worker.start()
        worker.wait_ready()
        third = await stream.judged(doubtful_answers(4, "third"))
        assert 'truthgate_judge_budget_left{of="requests",window="day"} 0.0' in worker.metrics()
    assert len(endpoint.asked) == 6
    assert [len(verdict.opinions) for verdict in first] == [1] * 4
    without = [verdict for verdict in (*second, *third) if not verdict.opinions]
    assert len(without) == 6
    assert {(verdict.decision, verdict.degraded) for verdict in without} == {
        ("review", ("judge_budget_spent",))
    }


def _requests_today(path: Path) -> int:
    return int(json.loads(path.read_text())["day"]["requests"])


async def test_neither_broken_files_nor_an_endpoint_that_is_not_there_stop_a_worker(
    settings, topics, endpoint, tmp_path
):
    folder = tmp_path / "worker"
    folder.mkdir()
    (folder / OPINION_CACHE_NAME).write_text("somebody's own file")
    (folder / BUDGET_FILE_NAME).write_text("no JSON")
    away = with_judge(settings, f"http://{NOBODY}/v1")
    stream = Stream(away, topics)
    with Worker(away, tmp_path) as worker:
        worker.wait_ready()
        verdicts = await stream.judged(doubtful_answers(8, "away"))
        assert {(v.decision, v.degraded) for v in verdicts} == {("review", ("judge_unavailable",))}
        assert worker.get("/healthz")[0] == 200
        assert worker.terminate() == 0
    assert (folder / OPINION_CACHE_NAME).read_text() == "somebody's own file"
    there = with_judge(settings, endpoint.url)
    with Worker(there, tmp_path) as worker:
        worker.wait_ready()
        for verdict in await stream.judged(doubtful_answers(4, "there")):
            assert verdict.opinions
        (folder / BUDGET_FILE_NAME).unlink()
        (folder / BUDGET_FILE_NAME).mkdir()
        for verdict in await stream.judged(doubtful_answers(4, "unwritable")):
            assert verdict.opinions
        failed = "truthgate_judge_budget_errors_total"
        await eventually(lambda: metric(worker, failed) > 0, "it is told")
        assert worker.get("/healthz")[0] == 200
        assert worker.terminate() == 0


def test_a_budget_file_that_cannot_be_one_is_a_wrong_setting_in_one_line(
    settings, topics, endpoint, tmp_path
):
    (tmp_path / "worker" / BUDGET_FILE_NAME).mkdir(parents=True)
    with Worker(with_judge(settings, endpoint.url), tmp_path) as worker:
        assert worker.wait() == 2
        assert "documents.store: cannot use" in worker.log
        assert "Traceback" not in worker.log
