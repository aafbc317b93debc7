"""Workers that are killed while they count: the windows tell what a recount of the whole log finds."""

import asyncio
import random
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from schemas import Codec
from schemas.records import ChatbotAnswer
from streams.kafka.topics import Topics, create_topics
from streams.settings import Settings
from tests.support.ledger import outgoing, read_until_settled, sample_answers
from tests.support.rates import PublishedRates, until_exact, with_rates
from tests.support.records import end_offsets, eventually, produce
from tests.support.workers import Worker, changed

pytestmark = pytest.mark.timeout(900)

SECOND = timedelta(seconds=1)
_EVENTS, _LAST = 600, 100
#: Two publications: each writes the progress and ends with a marker.
_RECORDS = 4
_TUMBLING = 10 * SECOND


def _log() -> list[ChatbotAnswer]:
    """Give answers in two languages, half a second apart, some of them minutes late, and some twice."""
    chance, begin = random.Random(11), datetime.now(UTC).replace(microsecond=0) - 900 * SECOND
    dutch, english = (sample_answers(_EVENTS // 2, language, language=language) for language in ("nl", "en"))
    mixed = [answer for pair in zip(dutch, english, strict=True) for answer in pair]
    late = {number: chance.uniform(60, 300) for number in chance.sample(range(_EVENTS), _EVENTS // 15)}
    timed = [
        replace(answer, produced_at=begin + (number / 2 - late.get(number, 0)) * SECOND)
        for number, answer in enumerate(mixed)
    ]
    return [again for n, answer in enumerate(timed) for again in [answer] * (2 if n % 9 == 0 else 1)]


def _counted(published: PublishedRates) -> Counter[datetime]:
    """Give how many answers each tumbling window has, of all kinds together."""
    counts: Counter[datetime] = Counter()
    for window, state in published.final.items():
        if window.end - window.start == _TUMBLING:
            counts[window.start] += state.answers
    return counts


def _expected(answers: list[ChatbotAnswer]) -> Counter[datetime]:
    times = {answer.answer_id: answer.produced_at.timestamp() for answer in answers}
    return Counter(datetime.fromtimestamp(time // 10 * 10, UTC) for time in times.values())


async def _shows(worker: Worker, name: str) -> bool:
    """Tell whether a metric of the worker is more than 0."""
    page = (await asyncio.to_thread(worker.get, "/metrics"))[1]
    return any(float(line.rpartition(" ")[2]) > 0 for line in page.splitlines() if line.startswith(name))


async def _committed(settings: Settings) -> int:
    """Give how far the leaders' state was written."""
    return sum(
        (await end_offsets(settings.kafka, [Topics(settings.kafka.topic_prefix).rates_state])).values()
    )


async def _publish(settings: Settings, answers: list[ChatbotAnswer]) -> None:
    topic = Topics(settings.kafka.topic_prefix).answers
    await produce(settings.kafka, topic, [outgoing(answer, Codec()) for answer in answers])


async def _kill_again_and_again(
    settings: Settings, workers: list[Worker], answers: list[ChatbotAnswer], kills: int
) -> None:
    """Kill while what was counted is read again, at the first publication, between later ones, and so on."""
    for number in range(kills):
        worker, before = workers[number % len(workers)], await _committed(settings)
        await _publish(settings, answers[number::kills])

        async def is_time() -> bool:
            match number % 3:  # noqa: B023
                case 0:
                    return await _shows(worker, "truthgate_rates_leader")  # noqa: B023
                case 1:
                    return await _shows(worker, "truthgate_rates_verdicts_total{")  # noqa: B023
                case _:
                    return await _committed(settings) >= before + _RECORDS  # noqa: B023

        with worker:
            await eventually(is_time, "it is time to kill the worker", 120)
            worker.kill()


@pytest.fixture
async def quick(settings: Settings) -> Settings:
    """Give settings for small windows that are published all the time, and make their topics."""
    windows = [{"size_seconds": 10}, {"size_seconds": 60, "hop_seconds": 20}]
    counted = with_rates(
        settings,
        windows=windows,
        allowed_lateness_seconds=5,
        retention_seconds=3600,
        idle_after_seconds=15,
    )
    await create_topics(counted)
    return changed(
        counted,
        kafka={"group_instance_id": "only"},  # whose successor takes over at once
        flow={"session_timeout_seconds": 30},
        scoring={"processes": 1},
    )


async def test_windows_are_exact_through_many_kills(quick, tmp_path, scale, report):
    """Three of four processes do not score, to be up soon: what both kinds judge has two decisions."""
    answers = _log()
    scoring = Worker(quick, tmp_path)
    mute = Worker(changed(quick, scoring={"enabled": False}), tmp_path)
    kills = 2 * scale.kills
    await _kill_again_and_again(quick, [mute, scoring, mute, mute], answers[_LAST:], kills)
    with scoring:
        # In any case scored by the last one: what comes is late, and some of it is there already.
        await _publish(quick, answers[: 2 * _LAST])
        ledger = await read_until_settled(quick, answers, deadline=300)
        published = await until_exact(quick, 120)
    assert _counted(published) == _expected(answers)
    assert sum(state.scored for state in published.final.values()) > 0
    unique = list({answer.answer_id: answer for answer in answers}.values())
    report(ledger, unique, kills=kills)
