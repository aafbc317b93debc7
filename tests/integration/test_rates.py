"""Rates on a real cluster: published while open, final once, exact whoever leads and however that ends."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from aiokafka import TopicPartition
from aiokafka.admin import RecordsToDelete

from schemas import Codec
from schemas.records import Verdict
from streams.kafka.kafka_clients import open_admin
from streams.kafka.schema_topic import SchemaTopic
from streams.kafka.topics import Topics, create_topics
from streams.settings import AlertSettings, AlertThreshold, Settings
from tests.support.rates import (
    Leadership,
    publish_verdicts,
    published_alerts,
    published_rates,
    recounted,
    sample_verdict,
    until_exact,
    with_rates,
)
from tests.support.records import Outgoing, end_offsets, eventually, produce
from tests.support.releases import later_schema, written_with
from tests.support.workers import changed

SECOND = timedelta(seconds=1)


@pytest.fixture
async def counted(settings: Settings) -> Settings:
    """Give settings with short windows, and make their topics."""
    windows = [{"size_seconds": 10}, {"size_seconds": 20, "hop_seconds": 10}]
    quick = with_rates(
        settings, windows=windows, allowed_lateness_seconds=5, retention_seconds=1800, idle_after_seconds=1
    )
    await create_topics(quick)
    return quick


def _log(count: int, begin: datetime, first: int = 0) -> list[Verdict]:
    """Give verdicts a second apart, every tenth of them twice, and of these some with another decision."""
    verdicts = [sample_verdict(first + n, begin + n * SECOND) for n in range(count)]
    again = [replace(verdict, scored_at=verdict.scored_at + SECOND) for verdict in verdicts[::10]]
    again[::3] = [replace(verdict, decision="review", score=None) for verdict in again[::3]]
    return [*verdicts, *again]


def _ago(seconds: float) -> datetime:
    return datetime.now(UTC) - seconds * SECOND


async def test_windows_are_told_while_open_final_once_and_corrected(counted):
    now = datetime.now(UTC)
    await publish_verdicts(counted, [*_log(200, now - 300 * SECOND, first=10), sample_verdict(1, now)])
    async with Leadership(counted) as leader:

        async def is_told() -> bool:
            return len((await published_rates(counted)).last) == len(expected)

        expected = await recounted(counted)
        await eventually(is_told, "all windows are told")
        assert len((await published_rates(counted)).final) < len(expected)
        before = await until_exact(counted)
        late = sample_verdict(1000, now - 300 * SECOND)
        await publish_verdicts(counted, [late, late])
        after = await until_exact(counted)
        assert leader.metric("rates_verdicts_total", outcome="late") == 1
        assert leader.metric("rates_verdicts_total", outcome="duplicate") == 21
        assert leader.metric("rates_lag") == 0
        assert leader.metric("rates_leader") == 1
    assert leader.metric("rates_leader") == 0
    corrected = {window for window, state in after.last.items() if state != before.last.get(window)}
    assert {window.end - window.start for window in corrected} == {10 * SECOND, 20 * SECOND}
    assert {after.last[window].late for window in corrected} == {1}


async def test_what_is_no_verdict_is_counted_and_passed_over(counted):
    topics = Topics(counted.kafka.topic_prefix)
    async with Leadership(counted) as leader:
        await produce(counted.kafka, topics.review, [b"nonsense", Outgoing(None, b"k"), b"\xc3\x01"])
        await publish_verdicts(counted, _log(20, _ago(100)))
        await until_exact(counted)
        assert leader.metric("rates_verdicts_total", outcome="unreadable") == 3
        assert leader.metric("rates_failures_total", error_type="_OTHER") == 0


async def test_a_leader_skips_no_verdict_of_another_release_and_counts_it_once_its_schema_is_there(counted):
    later, topic = later_schema(Verdict, default=""), Topics(counted.kafka.topic_prefix).blocked
    verdicts = [sample_verdict(n, _ago(100 - n), decision="blocked", score=1.0) for n in range(20)]

    async def answers_counted() -> int:
        windows = (await published_rates(counted)).last.items()
        return sum(state.answers for window, state in windows if window.end - window.start == 10 * SECOND)

    async def all_counted() -> bool:
        return await answers_counted() == len(verdicts)

    async with Leadership(counted) as leader:
        await publish_verdicts(counted, verdicts[:10])
        await until_exact(counted)
        await produce(counted.kafka, topic, [written_with(later, each, added="x") for each in verdicts[10:]])
        stepped_down = {"error_type": "unreadable_verdict"}
        await eventually(
            lambda: leader.metric("rates_failures_total", **stepped_down) >= 3, "the leader steps down"
        )
        assert await answers_counted() == 10
        assert leader.metric("rates_verdicts_total", outcome="unreadable") == 0
        await SchemaTopic(counted.kafka).publish([later])
        await eventually(all_counted, "all are counted")


async def test_leaders_that_crash_again_and_again_leave_exact_windows(counted):
    verdicts, chance = _log(900, _ago(1200)), random.Random(3)
    for _ in range(8):
        async with Leadership(counted) as leader:
            part, verdicts = verdicts[:120], verdicts[120:]
            await publish_verdicts(counted, part)
            with pytest.raises(AssertionError):
                await eventually(lambda: False, "a moment has passed", chance.uniform(0.1, 1.2))
            await leader.crash()
    async with Leadership(counted):
        await publish_verdicts(counted, verdicts)
        await until_exact(counted)


async def test_a_second_leader_goes_on_and_the_first_publishes_no_more(counted):
    async with Leadership(counted) as first, Leadership(counted, leads=False) as second:
        await publish_verdicts(counted, _log(200, _ago(600)))
        await until_exact(counted)
        second.leads = True  # and the first believes so too
        await eventually(lambda: second.metric("rates_leader") == 1, "the second leads")
        first.leads = False
        await publish_verdicts(counted, _log(200, _ago(400), first=500))
        await until_exact(counted)
        assert first.metric("rates_leader") == 0
        assert second.metric("rates_leader") == 1


async def _everywhere(settings: Settings, time: datetime) -> None:
    """Publish a verdict without a score, of this time, to each partition."""
    verdict = sample_verdict(0, time, decision="review", score=None)
    topics, codec = Topics(settings.kafka.topic_prefix), Codec()
    for topic in topics.outputs:
        ids = (f"{topic} {number} {time}" for number in range(settings.topics.partitions))
        values = [codec.encode(replace(verdict, verdict_id=each)) for each in ids]
        records = [Outgoing(value, partition=number) for number, value in enumerate(values)]
        await produce(settings.kafka, topic, records)


async def test_an_alert_fires_and_is_resolved_once_whoever_leads(counted):
    begin = _ago(900).replace(second=0, microsecond=0)
    threshold = AlertThreshold(name="untrue", window_seconds=60, rate=0.2, minimum_answers=10)
    # Nothing is idle, so that time goes on only as verdicts tell.
    patient = changed(counted, rates={"idle_after_seconds": 3600, "windows": [{"size_seconds": 60}]})
    alarming = patient.model_copy(update={"alerts": AlertSettings(thresholds=(threshold,))})
    untrue = {"decision": "blocked", "score": 1.0}
    await publish_verdicts(alarming, [sample_verdict(n, begin + n * SECOND, **untrue) for n in range(90)])

    def fires(leader: Leadership) -> bool:
        labels = {"alert": "untrue", "message_type": "all", "language": "all", "window": "1m"}
        return leader.metric("alert_firing", severity="warning", **labels) == 1

    await _everywhere(alarming, begin + 100 * SECOND)
    for _ in range(2):  # the second one finds that it fires already
        async with Leadership(alarming) as leader:
            await eventually(lambda: fires(leader), "the alert fires")
            await leader.crash()
    await _everywhere(alarming, begin + 400 * SECOND)
    async with Leadership(alarming):

        async def all_told() -> bool:
            return len(await published_alerts(alarming)) > 1

        await eventually(all_told, "the alert is resolved")
    fired, resolved = await published_alerts(alarming)
    assert (fired.status, resolved.status) == ("firing", "resolved")
    assert fired.alert_id == resolved.alert_id
    assert fired.scored == fired.hallucinated == 60


async def test_topics_made_again_are_counted_from_their_beginning(counted):
    topics = Topics(counted.kafka.topic_prefix)
    async with Leadership(counted):
        await publish_verdicts(counted, _log(100, _ago(600)))
        await until_exact(counted)
    async with open_admin(counted.kafka) as admin:
        await admin.delete_topics(list(topics.outputs))

        async def gone() -> bool:
            return not set(topics.outputs) & set(await admin.list_topics())

        await eventually(gone, "the topics are deleted")
    await create_topics(counted)
    async with Leadership(counted):
        await publish_verdicts(counted, _log(30, _ago(600), first=5000))
        expected = await recounted(counted)

        async def counted_anew() -> bool:
            last = (await published_rates(counted)).last
            return all(window in last and last[window].answers == c[0] for window, c in expected.items())

        await eventually(counted_anew, "the new verdicts alone are counted")


async def test_windows_whose_verdicts_are_deleted_are_left_as_they_are(counted):
    topics = Topics(counted.kafka.topic_prefix)
    async with Leadership(counted):
        await publish_verdicts(counted, _log(100, _ago(600)))
        before = await until_exact(counted)
    ends = await end_offsets(counted.kafka, topics.outputs)
    async with open_admin(counted.kafka) as admin:
        await admin.delete_records({TopicPartition(*at): RecordsToDelete(end) for at, end in ends.items()})
    async with Leadership(counted) as leader:
        await publish_verdicts(counted, [sample_verdict(1, _ago(600)), *_log(50, _ago(300), first=5000)])

        async def is_read() -> bool:
            return leader.metric("rates_lag") == 0 and await _final_answers(counted) >= before_answers + 50

        before_answers = await _final_answers(counted)
        await eventually(is_read, "the new verdicts are counted")
    after = await published_rates(counted)
    after.assert_orderly()
    assert all(after.last[window] == state for window, state in before.last.items())


async def _final_answers(settings: Settings) -> int:
    published = await published_rates(settings)
    return sum(s.answers for w, s in published.final.items() if w.end - w.start == 10 * SECOND)
