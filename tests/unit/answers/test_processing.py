"""One answer on its way: a verdict, a dead letter's reason, or the end of the worker; nothing else."""

from __future__ import annotations

import asyncio
import sqlite3
import traceback
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from schemas import Codec, RegistryUnreachable
from schemas.records import ChatbotAnswer, KnowledgeDocument, Verdict, VerdictPassage, rfc3339
from scoring.values.exchange import Exchange
from scoring.values.scored_answer import ScoredAnswer
from streams.documents.versions import VersionedDocument, version_name
from streams.kafka.kafka_records import Headers, ReceivedRecord, dataschema
from streams.observability.failures import (
    EXIT_SOFTWARE,
    EXIT_UNREACHABLE,
    BadAnswer,
    InfrastructureFailure,
    Stage,
)
from streams.pipeline.context import StaticDocuments
from streams.pipeline.intake import decode, verdict_headers
from streams.pipeline.pipeline import Deadline, OfflinePipeline, Pipeline
from streams.scorers.options import AsyncScorer, DisabledScorer
from streams.search.types import Hit, RetrievalResult, RetrievalUnavailable, Retriever
from streams.settings import DocumentSettings, EncodingSettings, Settings
from tests.support.scorers import Failing, Scoring

NOW = datetime(2026, 3, 2, 9, 16, tzinfo=UTC)
SECRET = "the customer's own words"
ANSWER = ChatbotAnswer(
    "a-1",
    "c-1",
    f"How do I make an invoice? {SECRET}",
    f"Click **New**. {SECRET}",
    datetime(2026, 3, 2, 9, 15, tzinfo=UTC),
    document_ids=("d-1",),
    language="en",
)
DOCUMENT = KnowledgeDocument("d-1", "en", "Invoices", f"Click **New**. {SECRET}", NOW)
VERSION = version_name(DOCUMENT)
LIBRARY = StaticDocuments({"d-1": DOCUMENT})


class SlowAssessor:
    """Never answers by itself."""

    def __init__(self) -> None:
        self.cancelled = False

    async def score(self, exchange: Exchange, degraded: tuple[str, ...]) -> ScoredAnswer:
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled = True
        raise AssertionError("unreachable")


class FailingDocuments:
    """A store that raises what it is given."""

    is_stale = False

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def wait_for(
        self, document_ids: Collection[str], produced_at: datetime, seconds: float
    ) -> Mapping[str, VersionedDocument]:
        raise self._error

    def get_version(self, document_id: str, version: str, produced_at: datetime) -> KnowledgeDocument:
        raise self._error

    def current(self, document_id: str) -> None:
        """There is none."""


class Retrieving:
    """A retriever that raises what it is given, or finds the document; notes the time it was given."""

    def __init__(self, error: Exception | None = None, *, sufficient: bool = True) -> None:
        self.seconds: list[float] = []
        self._error = error
        hit = Hit("d-1", VERSION, "en", DOCUMENT.title, DOCUMENT.text, 0, len(DOCUMENT.text), 0.03, 0.9)
        self._found = RetrievalResult((hit,), sufficient)

    async def opened(self) -> Retrieving:
        return self

    async def retrieve(self, question: str, language: str | None, seconds: float) -> RetrievalResult:
        self.seconds.append(seconds)
        if self._error:
            raise self._error
        return self._found


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        documents=DocumentSettings(store=tmp_path), encoding=EncodingSettings(max_value_bytes=2048)
    )


class Answers:
    """Takes a record from its bytes to its verdict, as a worker does."""

    def __init__(self, way: Pipeline, settings: Settings, now: datetime) -> None:
        self._way, self._settings, self._now = way, settings, now

    async def verdict(self, received: ReceivedRecord, deadline: Deadline) -> Verdict:
        answer = await decode(received, Codec(), self._settings.encoding.max_value_bytes)
        deadline = replace(deadline, document_seconds=self._settings.documents.wait_timeout_seconds)
        return await self._way.verdict(answer, deadline, lambda: self._now)


def processor(
    settings: Settings,
    assessor: AsyncScorer | None = None,
    documents=LIBRARY,
    now=NOW,
    retriever: Retriever | None = None,
) -> Answers:
    profile = settings.scoring.profile
    assessor = assessor or DisabledScorer(profile)
    way = Pipeline(documents, assessor, settings.policy.decide, profile, retriever=retriever)
    return Answers(way, settings, now)


def received(value: bytes | None, headers: Headers = ()) -> ReceivedRecord:
    return ReceivedRecord("answers", 0, 7, b"c-1", value, headers)


def soon(seconds: float = 30.0) -> Deadline:
    return Deadline(asyncio.get_running_loop().time() + seconds)


ENCODED = Codec().encode(ANSWER)
BARE = replace(ANSWER, document_ids=())


@pytest.fixture(scope="module")
def scorer() -> Scoring:
    return Scoring()


async def test_an_answer_is_judged_on_its_documents(settings, scorer):
    verdict = await processor(settings, scorer).verdict(received(ENCODED), soon())
    assert (verdict.answer_id, verdict.context_ids, verdict.scored_at) == ("a-1", ("d-1",), NOW)
    assert verdict.score is not None
    assert verdict.degraded == ()


async def test_the_verdict_names_the_version_it_was_judged_against(settings, scorer):
    verdict = await processor(settings, scorer).verdict(received(ENCODED), soon())
    assert verdict.context_source == "by_id"
    assert verdict.context == (
        VerdictPassage("d-1", version_name(DOCUMENT), title=DOCUMENT.title, url=DOCUMENT.url),
    )


async def test_an_answer_without_context_is_judged_on_what_is_retrieved_for_its_question(settings, scorer):
    way = processor(settings, scorer, retriever=Retrieving())
    verdict = await way.verdict(received(Codec().encode(BARE)), soon())
    assert (verdict.context_source, verdict.context_ids, verdict.degraded) == ("retrieved", ("d-1",), ())
    assert verdict.context == (
        VerdictPassage("d-1", VERSION, 0.03, 0, len(DOCUMENT.text), DOCUMENT.title, DOCUMENT.url, 0.0),
    )
    assert verdict.score is not None
    assert Codec().decode(Codec().encode(verdict), Verdict) == verdict
    offline = Pipeline(
        LIBRARY, scorer, settings.policy.decide, settings.scoring.profile, retriever=Retrieving()
    )
    assert await OfflinePipeline(offline, NOW).verdict(BARE) == verdict


@pytest.mark.parametrize(
    ("retriever", "gap"),
    [
        (None, "context_missing"),
        (Retrieving(sufficient=False), "context_insufficient"),
        (Retrieving(RetrievalUnavailable("index_incomplete")), "retrieval_unavailable"),
        (Retrieving(OSError(5, "Input/output error")), "retrieval_unavailable"),
    ],
)
@pytest.mark.parametrize(
    "answer",
    [
        BARE,
        replace(BARE, answer="Click **Undefined thing**."),
        replace(BARE, answer="I am sorry, this is not in the documents."),
    ],
)
async def test_an_answer_whose_context_is_not_found_goes_to_review_whatever_it_says(
    settings, scorer, retriever, gap, answer
):
    way = processor(settings, scorer, retriever=retriever)
    verdict = await way.verdict(received(Codec().encode(answer)), soon())
    assert (verdict.decision, verdict.reasons[0], verdict.degraded[0]) == ("review", gap, gap)


async def test_the_search_may_wait_for_others_in_half_of_the_answers_time(settings):
    retriever = Retrieving()
    way = processor(settings, retriever=retriever)
    await way.verdict(received(Codec().encode(BARE)), soon(4.0))
    assert 1.5 < retriever.seconds[0] <= 2.0


async def test_a_repeated_delivery_gives_the_same_verdict_but_for_its_time(settings, scorer):
    later = NOW + timedelta(hours=1)
    first = await processor(settings, scorer).verdict(received(ENCODED), soon())
    second = await processor(settings, scorer, now=later).verdict(received(ENCODED), soon())
    assert second.scored_at == later
    assert replace(second, scored_at=NOW) == first


async def test_a_verdict_can_be_read_by_its_consumers(settings, scorer):
    way = processor(settings, scorer)
    verdict = await way.verdict(received(ENCODED), soon())
    assert Codec().decode(Codec().encode(verdict), Verdict) == verdict


async def test_with_scoring_off_every_answer_goes_to_review(settings):
    verdict = await processor(settings).verdict(received(ENCODED), soon())
    assert (verdict.decision, verdict.score, verdict.degraded) == ("review", None, ("scoring_disabled",))


@pytest.mark.parametrize(
    ("value", "stage", "code"),
    [
        (None, Stage.DECODE, "null_value"),
        (b"", Stage.DECODE, "empty_value"),
        (ENCODED[:-3], Stage.DECODE, "truncated"),
        (ENCODED + bytes(2048), Stage.DECODE, "value_too_large"),
        (SECRET.encode(), Stage.DECODE, "unknown_format"),
        (Codec().encode(replace(ANSWER, answer_id="")), Stage.VALIDATE, "invalid_record"),
        (Codec().encode(DOCUMENT), Stage.DECODE, "wrong_record"),
    ],
)
async def test_what_is_no_answer_is_bad_with_stage_and_code(settings, value, stage, code):
    with pytest.raises(BadAnswer) as caught:
        await processor(settings).verdict(received(value), soon())
    assert (caught.value.stage, caught.value.error_class, caught.value.attempts) == (stage, code, 1)
    assert SECRET not in str(caught.value) + caught.value.message


async def test_an_answer_that_takes_too_long_goes_to_review(settings):
    assessor = SlowAssessor()
    verdict = await processor(settings, assessor).verdict(received(ENCODED), soon(0.05))
    assert (verdict.decision, verdict.score) == ("review", None)
    assert verdict.degraded == ("scoring_timeout",)
    assert verdict.reasons[0] == "scoring_timeout"
    assert assessor.cancelled


async def test_a_time_limit_of_the_assessor_itself_sends_the_answer_to_review_too(settings):
    late = replace(ANSWER, document_ids=("d-1", "gone"))
    assessor = Failing(TimeoutError("Task timeout", 10))
    verdict = await processor(settings, assessor).verdict(received(Codec().encode(late)), soon())
    assert verdict.decision == "review"
    assert verdict.degraded == ("scoring_timeout", "context_missing")
    assert verdict.context_ids == ("d-1",)


async def test_an_answer_whose_time_is_over_is_still_answered(settings):
    verdict = await processor(settings, SlowAssessor()).verdict(received(ENCODED), soon(-1))
    assert (verdict.decision, verdict.degraded) == ("review", ("scoring_timeout",))


@pytest.mark.parametrize("error", [ValueError(SECRET), RecursionError(SECRET), KeyError(SECRET)])
async def test_an_answer_that_the_scorer_fails_on_is_bad_and_what_is_logged_quotes_nobody(settings, error):
    with pytest.raises(BadAnswer) as caught:
        await processor(settings, Failing(error)).verdict(received(ENCODED), soon())
    assert (caught.value.stage, caught.value.error_class) == (Stage.SCORE, type(error).__name__)
    assert str(caught.value) == f"score: {type(error).__name__}"
    assert SECRET not in "".join(traceback.format_exception_only(caught.value))


async def test_what_the_scorer_calls_bad_keeps_its_attempts(settings):
    assessor = Failing(BadAnswer(Stage.SCORE, "ProcessExpired", "it died", 2))
    with pytest.raises(BadAnswer) as caught:
        await processor(settings, assessor).verdict(received(ENCODED), soon())
    assert (caught.value.error_class, caught.value.attempts) == ("ProcessExpired", 2)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (sqlite3.OperationalError("database is locked"), EXIT_SOFTWARE),
        (OSError(28, "No space left on device"), EXIT_UNREACHABLE),
        (OSError(5, "Input/output error"), EXIT_SOFTWARE),
        (MemoryError(), EXIT_SOFTWARE),
        (RegistryUnreachable("schema registry: no answer"), EXIT_UNREACHABLE),
        (InfrastructureFailure("the scoring pool is broken", EXIT_SOFTWARE), EXIT_SOFTWARE),
    ],
)
@pytest.mark.parametrize("where", ["documents", "scorer"])
async def test_what_every_answer_would_meet_is_the_workers_failure_and_no_dead_letter(
    settings, where, error, code
):
    if where == "documents":
        way = processor(settings, documents=FailingDocuments(error))
    else:
        way = processor(settings, Failing(error))
    with pytest.raises(InfrastructureFailure) as caught:
        await way.verdict(received(ENCODED), soon())
    assert caught.value.exit_code == code
    assert SECRET not in str(caught.value)


async def test_documents_are_not_waited_for_beyond_the_answers_own_time(settings):
    waits: list[float] = []

    class NotingDocuments:
        is_stale = False

        async def wait_for(
            self, document_ids: Collection[str], produced_at: datetime, seconds: float
        ) -> Mapping[str, VersionedDocument]:
            waits.append(seconds)
            return {}

        def get_version(self, document_id: str, version: str, produced_at: datetime) -> KnowledgeDocument:
            raise AssertionError("nothing is retrieved")

        def current(self, document_id: str) -> None:
            raise AssertionError("nothing is cited")

    way = processor(settings, documents=NotingDocuments())
    await way.verdict(received(ENCODED), soon(1.0))
    await way.verdict(received(ENCODED), soon(1000.0))
    assert waits[0] <= 1.0
    assert waits[1] == settings.documents.wait_timeout_seconds


async def test_headers_are_those_of_cloudevents_and_only_the_trace_context_goes_on(settings):
    original: Headers = (
        ("traceparent", b"00-1-2-01"),
        ("tracestate", b"vendor=1"),
        ("ce_id", b"of the answer"),
        ("authorization", b"secret"),
        ("dlq.attempts", b"3"),
    )
    verdict = await processor(settings).verdict(received(ENCODED, original), soon())
    assert verdict_headers(verdict, original) == (
        ("ce_specversion", b"1.0"),
        ("ce_id", verdict.verdict_id.encode()),
        ("ce_type", b"truthgate.Verdict"),
        ("ce_source", b"/truthgate/worker"),
        ("content-type", b"application/avro"),
        ("ce_time", rfc3339(verdict.scored_at).encode()),
        ("ce_subject", verdict.answer_id.encode()),
        ("ce_dataschema", dataschema(Verdict).encode()),
        ("traceparent", b"00-1-2-01"),
        ("tracestate", b"vendor=1"),
    )
