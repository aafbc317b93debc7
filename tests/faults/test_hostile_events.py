"""Slow, poisonous and malformed events: none is lost, and none holds up or takes down the others."""

from dataclasses import replace

import pytest

from schemas import Codec
from streams.delivery import dead_letters
from streams.kafka.kafka_clients import open_producer
from streams.settings import Settings
from tests.support.ledger import Ledger, outgoing, read_until_settled, sample_answers
from tests.support.records import Outgoing, committed, eventually, produce
from tests.support.workers import Worker, changed

pytestmark = pytest.mark.timeout(600)

#: How long the slow answer waits for a document that never comes.
_SLOW_SECONDS = 8.0


@pytest.fixture
def quick(settings: Settings) -> Settings:
    """Give settings for one worker whose successor takes over at once, and a long wait for documents."""
    return changed(
        settings,
        kafka={"group_instance_id": "only"},
        flow={"session_timeout_seconds": 6},
        scoring={"processes": 1},
        documents={"wait_timeout_seconds": _SLOW_SECONDS},
        encoding={"max_value_bytes": 100_000},
    )


def _slow_and_quick(count: int, run: str):
    """Give an answer that waits for its document, and others that do not; all for one partition."""
    slow, *others = sample_answers(count, run, conversation_length=1)
    return replace(slow, context=(), document_ids=("never-published",)), others


async def _verdicts(settings: Settings, answers) -> Ledger:
    return await read_until_settled(settings, answers, deadline=60)


async def test_a_slow_event_at_the_head_is_not_committed_past_and_survives_a_kill(
    quick, topics, tmp_path, report
):
    slow, others = _slow_and_quick(20, "slow")
    with Worker(quick, tmp_path) as worker:
        worker.wait_ready()
        await produce(quick.kafka, topics.answers, [outgoing(a, Codec(), 0) for a in (slow, *others)])
        await _verdicts(quick, others)
        assert (await committed(quick.kafka, topics.answers))[0] == 0
        worker.kill()
        worker.start()
        ledger = await _verdicts(quick, [slow, *others])

        async def all_committed() -> bool:
            return (await committed(quick.kafka, topics.answers))[0] == 1 + len(others)

        await eventually(all_committed, "the offset behind the last event is committed")
    ledger.assert_settled([slow, *others])
    (late,) = {v.verdict_id: v for v in ledger.verdicts if v.answer_id == slow.answer_id}.values()
    assert (late.decision, late.degraded, late.score) == ("review", ("context_missing",), None)
    report(ledger, [slow, *others], kills=1, faults=1)


async def test_a_poison_message_behind_a_slow_one_costs_neither(quick, topics, tmp_path, report):
    slow, others = _slow_and_quick(4, "poison")
    records = [
        outgoing(slow, Codec(), 0),
        Outgoing(b"\xc3\x01poison", slow.conversation_id.encode(), partition=0),
    ]
    with Worker(quick, tmp_path) as worker:
        worker.wait_ready()
        await produce(quick.kafka, topics.answers, [*records, *(outgoing(a, Codec(), 0) for a in others)])
        await _verdicts(quick, others)
        worker.kill()
        worker.start()
        ledger = await read_until_settled(quick, [slow, *others], buried=1, deadline=60)
    ledger.assert_settled([slow, *others], buried=1)
    assert ledger.buried[0][dead_letters.STAGE] == b"decode"
    report(ledger, [slow, *others], kills=1, faults=1, malformed=1)


async def test_malformed_values_become_dead_letters_with_their_bytes_and_reasons(
    quick, topics, tmp_path, report
):
    good = sample_answers(20, "good")
    whole = Codec().encode(good[0])
    bad = {
        b"null": None,
        b"empty": b"",
        b"truncated": whole[: len(whole) // 2],
        b"trailing": whole + b"\x00",
        b"unknown-fingerprint": b"\xc3\x01" + bytes(8) + whole[10:],
        b"foreign": b"\x00\x00\x00\x00\x07" + whole[10:],
        b"json-not-asked-for": b'{"question": "?", "answer": "!"}',
        b"oversized": whole + bytes(200_000),
        b"not-an-answer": b"\xff" * 100,
        b"nameless": Codec().encode(replace(good[0], answer_id="")),
    }
    marked = [Outgoing(value, key, (("trace", b"kept"), ("trace", b"twice"))) for key, value in bad.items()]
    records = [
        record for pair in zip(map(_with_codec, good), [*marked, *marked], strict=True) for record in pair
    ]
    with Worker(quick, tmp_path) as worker:
        worker.wait_ready()
        await produce(quick.kafka, topics.answers, records)
        ledger = await read_until_settled(quick, good, buried=2 * len(bad), deadline=60)
        assert worker.running
    ledger.assert_settled(good, buried=2 * len(bad))
    assert ledger.repeated_share == 0
    for record, headers in zip(ledger.buried_records, ledger.buried, strict=True):
        assert record.value == bad[record.key]
        assert [v for k, v in record.headers if k == "trace"] == [b"kept", b"twice"]
        assert headers[dead_letters.TOPIC].decode() == topics.answers
        assert headers[dead_letters.ERROR_CLASS]
        assert headers[dead_letters.STAGE] == (b"validate" if record.key == b"nameless" else b"decode")
    report(ledger, good, malformed=2 * len(bad))


def _with_codec(answer) -> Outgoing:
    return outgoing(answer, Codec())


async def test_a_value_too_large_for_the_dead_letters_is_buried_without_it_and_the_others_go_on(
    quick, topics, tmp_path, report
):
    good = sample_answers(3, "bomb")
    value = b"a" * 6_000_000
    with Worker(quick, tmp_path) as worker:
        worker.wait_ready()
        async with open_producer(
            quick.kafka, compression_type="gzip", max_request_size=2 * len(value)
        ) as producer:
            await producer.send_and_wait(
                topics.answers, value, b"bomb", headers=[("dlq.attempts", b"9" * 5000)]
            )
        await produce(quick.kafka, topics.answers, map(_with_codec, good))
        ledger = await read_until_settled(quick, good, buried=1, deadline=60)
        assert worker.running
    ledger.assert_settled(good, buried=1)
    assert ledger.buried_records[0].value is None
    assert ledger.buried[0]["dlq.value.bytes"] == b"6000000"
    report(ledger, good, malformed=1)


def _is_in_work(worker: Worker) -> bool:
    lines = worker.get("/metrics")[1].splitlines()
    return {"truthgate_answers_total 1.0", "truthgate_answers_in_flight 1.0"} <= set(lines)


async def test_an_answer_with_a_document_that_comes_late_is_judged_on_it(quick, topics, tmp_path):
    from tests.support.documents import sample_documents  # noqa: PLC0415

    answer = replace(
        sample_answers(1, "late")[0], context=(), document_ids=("fac-creditnota", "fac-verkoopfactuur")
    )
    with Worker(quick, tmp_path) as worker:
        worker.wait_ready()
        await produce(quick.kafka, topics.answers, [_with_codec(answer)])
        await eventually(lambda: _is_in_work(worker), "the answer waits for its documents")
        await produce(quick.kafka, topics.documents, sample_documents(*answer.document_ids))
        ledger = await _verdicts(quick, [answer])
    (verdict,) = ledger.verdicts
    assert verdict.context_ids == answer.document_ids
    assert verdict.degraded == ()
