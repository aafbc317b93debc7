"""Counts what went in and what came out: every answer one verdict id, or one dead letter."""

import asyncio
import json
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files

from aiokafka import ConsumerRecord

from schemas import Codec
from schemas.records import ChatbotAnswer, ContextPassage, Verdict
from streams.delivery import dead_letters
from streams.kafka.kafka_clients import open_consumer
from streams.kafka.topics import Topics
from streams.pipeline.verdict import verdict_id
from streams.settings import Settings
from tests.support.records import Outgoing, consume_all, eventually

_POLL_MILLISECONDS = 200
#: What may be so when an answer is judged, and not when it is judged again; it goes to review then.
_OF_THE_MOMENT = {
    "retrieval_unavailable",
    "scoring_timeout",
    "verifier_timeout",
    "judge_unavailable",
    "judge_budget_spent",
    "pauses_unknown",
    "policy_unknown",
}


def sample_answers(
    count: int, run: str, conversation_length: int = 3, language: str = "nl"
) -> list[ChatbotAnswer]:
    """Give answers of the sample chat log with their documents inline, under ids of this run."""
    folder = files("streams") / "sample"
    known = _lines((folder / f"documents.{language}.jsonl").read_text("utf-8"))
    documents = {document["document_id"]: document for document in known}
    lines = _lines((folder / f"answers.{language}.jsonl").read_text("utf-8"))
    return [
        ChatbotAnswer(
            answer_id=f"{run}-{number}",
            conversation_id=f"{run}-c{number // conversation_length}",
            question=line["question"],
            answer=line["answer"],
            produced_at=datetime(2026, 3, 2, 9, 15, tzinfo=UTC),
            context=tuple(
                ContextPassage(i, documents[i]["text"], documents[i]["title"]) for i in line["document_ids"]
            ),
            language=language,
        )
        for number in range(count)
        for line in [lines[number % len(lines)]]
    ]


def _told(verdict: Verdict) -> tuple[object, ...]:
    return verdict.decision, verdict.score, verdict.reasons, verdict.degraded, verdict.context


def _lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def outgoing(answer: ChatbotAnswer, codec: Codec, partition: int | None = None) -> Outgoing:
    """Give the record that a chatbot would publish."""
    return Outgoing(codec.encode(answer), answer.conversation_id.encode(), partition=partition)


@dataclass
class Ledger:
    """What came out of the worker so far, read from the output topics' beginning.

    Dead letters are known by where their original stood: topic, partition and offset.
    """

    verdicts: list[Verdict] = field(default_factory=list)
    records: list[ConsumerRecord] = field(default_factory=list)
    buried: list[dict[str, bytes]] = field(default_factory=list)
    buried_records: list[ConsumerRecord] = field(default_factory=list)

    @property
    def times_answered(self) -> Counter[str]:
        """How often each verdict id came out."""
        return Counter(verdict.verdict_id for verdict in self.verdicts)

    @property
    def times_buried(self) -> Counter[tuple[bytes, bytes]]:
        """How often each original record became a dead letter."""
        return Counter((h[dead_letters.PARTITION], h[dead_letters.OFFSET]) for h in self.buried)

    @property
    def repeated_share(self) -> float:
        """The share of verdicts that repeat an earlier one."""
        return 1 - len(self.times_answered) / len(self.verdicts) if self.verdicts else 0.0

    async def assert_no_record_repeated(self, settings: Settings) -> None:
        """No record of an answer came out twice; those that a chatbot sent twice are two."""
        answers = await consume_all(settings.kafka, Topics(settings.kafka.topic_prefix).answers)
        surplus = len(self.verdicts) + len(self.buried) - len(answers)
        again = [each for each, times in self.times_answered.items() if times > 1]
        assert surplus <= 0, f"{surplus} more outcomes than answers; verdicts that came again: {again}"

    def unanswered(self, answers: list[ChatbotAnswer]) -> set[str]:
        """Give the ids of answers without a verdict."""
        answered = self.times_answered
        return {answer.answer_id for answer in answers if verdict_id(answer.answer_id) not in answered}

    def assert_settled(self, answers: list[ChatbotAnswer], buried: int = 0) -> None:
        """Every answer has one verdict id, nothing else has, and ``buried`` originals are dead letters."""
        assert self.unanswered(answers) == set()
        assert set(self.times_answered) == {verdict_id(answer.answer_id) for answer in answers}
        assert len(self.times_buried) == buried
        self._assert_same_decisions()
        self._assert_conversations_in_order(answers)

    def _assert_same_decisions(self) -> None:
        first: dict[str, Verdict] = {}
        for verdict in self.verdicts:
            earlier = first.setdefault(verdict.verdict_id, verdict)
            if not _OF_THE_MOMENT & {
                *earlier.degraded,
                *earlier.reasons,
                *verdict.degraded,
                *verdict.reasons,
            }:
                assert earlier.decision == verdict.decision, (_told(earlier), _told(verdict))

    def _assert_conversations_in_order(self, answers: list[ChatbotAnswer]) -> None:
        """On each output topic the first verdicts of a conversation stand in the order of its answers.

        What is first is told by the broker's clock: an answer that is judged again may go to another topic
        than it went to first, and topics are read one after another.
        """
        position = {answer.answer_id: number for number, answer in enumerate(answers)}
        last: dict[tuple[str, str], int] = {}
        seen: set[str] = set()
        pairs = zip(self.records, self.verdicts, strict=True)
        for record, verdict in sorted(pairs, key=lambda pair: (pair[0].timestamp, pair[0].offset)):
            if verdict.verdict_id in seen:
                continue
            seen.add(verdict.verdict_id)
            place = (record.topic, verdict.conversation_id)
            assert last.get(place, -1) < position[verdict.answer_id], f"out of order: {verdict.answer_id}"
            last[place] = position[verdict.answer_id]


async def read_until_settled(
    settings: Settings, answers: list[ChatbotAnswer], buried: int = 0, deadline: float = 120.0
) -> Ledger:
    """Read all outputs until every answer has a verdict and ``buried`` originals are dead letters.

    AssertionError that names what is missing when that is not within ``deadline`` seconds.
    """
    topics, codec, ledger = Topics(settings.kafka.topic_prefix), Codec(), Ledger()
    missing = {verdict_id(answer.answer_id) for answer in answers}
    end = time.monotonic() + deadline
    outputs = (*topics.outputs, topics.dead_letters)
    async with open_consumer(settings.kafka, *outputs, auto_offset_reset="earliest") as consumer:
        while missing or len(ledger.times_buried) < buried:
            if time.monotonic() > end:
                raise AssertionError(
                    f"{len(missing)} of {len(answers)} answers without a verdict, "
                    f"{len(ledger.times_buried)} of {buried} dead letters after {deadline:g} s"
                )
            for batch in (await consumer.getmany(timeout_ms=_POLL_MILLISECONDS)).values():
                for record in batch:
                    _enter(ledger, record, topics, codec, missing)
        await _read_on(consumer, ledger, topics, codec)
    return ledger


async def read_until_repeated(
    settings: Settings, answers: list[ChatbotAnswer], times: int, deadline: float = 120.0
) -> Ledger:
    """Read all outputs until every one of the answers has so many verdicts."""
    ids = [verdict_id(answer.answer_id) for answer in answers]
    ledger = Ledger()

    async def are_there() -> bool:
        nonlocal ledger
        ledger = await read_all(settings)
        return all(ledger.times_answered[each] >= times for each in ids)

    await eventually(are_there, f"{times} verdicts on each answer", deadline)
    return ledger


async def read_all(settings: Settings) -> Ledger:
    """Read everything that came out up to now."""
    topics, codec, ledger = Topics(settings.kafka.topic_prefix), Codec(), Ledger()
    for record in await consume_all(settings.kafka, (*topics.outputs, topics.dead_letters)):
        _enter(ledger, record, topics, codec, set())
    return ledger


async def _read_on(consumer, ledger: Ledger, topics: Topics, codec: Codec) -> None:
    """Read what is there beyond the last thing waited for, so that surplus outputs are seen too."""
    ends = await consumer.end_offsets(list(consumer.assignment()))
    while any([await consumer.position(tp) < end for tp, end in ends.items()]):
        for batch in (await consumer.getmany(timeout_ms=_POLL_MILLISECONDS)).values():
            for record in batch:
                _enter(ledger, record, topics, codec, set())
        await asyncio.sleep(0)


def _enter(ledger: Ledger, record: ConsumerRecord, topics: Topics, codec: Codec, missing: set[str]) -> None:
    if record.topic == topics.dead_letters:
        ledger.buried.append(dict(record.headers))
        ledger.buried_records.append(record)
        return
    verdict = codec.decode(record.value, Verdict)
    ledger.verdicts.append(verdict)
    ledger.records.append(record)
    missing.discard(verdict.verdict_id)
