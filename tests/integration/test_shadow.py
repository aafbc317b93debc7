"""A worker in shadow on a real Kafka: it judges every answer by its own settings, and has no effect."""

import asyncio
import json
from collections import Counter

import pytest
from aiokafka import ConsumerRecord
from structlog.testing import capture_logs

from schemas import Codec, Verdict
from schemas.records import ChatbotAnswer
from streams.kafka.consumer_groups import group_conflicts, shadow_group
from streams.kafka.kafka_records import shadow_name
from streams.kafka.topics import Topics
from streams.pipeline.verdict import verdict_id
from streams.settings import Settings
from tests.integration.test_ratings_follower import publish
from tests.support.commands import truthgate_here, variables
from tests.support.ledger import outgoing, read_all, read_until_settled
from tests.support.policies import a_change, write_changes
from tests.support.rates import published_rates
from tests.support.records import Outgoing, committed, consume_all, eventually, produce
from tests.support.reviews import a_review
from tests.support.sendable_answers import sendable_answers, sending
from tests.support.workers import Worker, changed

NAME = "eager"


@pytest.fixture
def quick(settings: Settings) -> Settings:
    """Give settings of workers that hold what a shadow would send, and are soon missed."""
    return changed(settings, flow={"session_timeout_seconds": 6}, scoring={"processes": 1})


def in_shadow(settings: Settings) -> Settings:
    """Give settings of a shadow that sends what is sendable, and would count rates if it could."""
    return sending(changed(settings, shadow={"name": NAME}, rates={"enabled": True}))


async def feed(settings: Settings, run: str, count: int) -> list[ChatbotAnswer]:
    answers = sendable_answers(count, run)
    topic = Topics(settings.kafka.topic_prefix).answers
    await produce(settings.kafka, topic, [outgoing(answer, Codec()) for answer in answers])
    return answers


async def shadow_records(settings: Settings) -> list[ConsumerRecord]:
    return await consume_all(settings.kafka, Topics(settings.kafka.topic_prefix).shadow_verdicts)


async def shadow_verdicts(settings: Settings) -> list[Verdict]:
    return [Codec().decode(record.value, Verdict) for record in await shadow_records(settings)]


async def until_shadowed(settings: Settings, answers: list[ChatbotAnswer]) -> None:
    """Wait until the shadow has a verdict on each answer."""
    ids = {verdict_id(answer.answer_id) for answer in answers}

    async def are_there() -> bool:
        return ids <= {verdict.verdict_id for verdict in await shadow_verdicts(settings)}

    await eventually(are_there, "the shadow has judged every answer", 120)


async def test_a_shadow_judges_every_answer_beside_what_decides_and_nothing_else_comes_of_it(
    quick, topics, tmp_path
):
    shadowed = in_shadow(quick)
    with (
        Worker(changed(quick, kafka={"group_instance_id": "active"}), tmp_path, "active") as active,
        Worker(changed(shadowed, kafka={"group_instance_id": "shadow"}), tmp_path, "shadow") as shadow,
    ):
        active.wait_ready()
        shadow.wait_ready()
        assert await group_conflicts(quick.kafka) == (), "a shadow is no other deployment"
        bad = [Outgoing(b"nothing", b"c")]
        await produce(quick.kafka, topics.answers, bad)
        await produce(quick.kafka, topics.documents, bad)
        answers = await feed(quick, "both", 30)
        ledger = await read_until_settled(quick, answers, buried=2)
        await until_shadowed(quick, answers)
        told = shadow.metrics()
        assert 'service_name="truthgate-shadow-eager"' in told
        assert "truthgate_dead_letters_waiting " not in told
        assert shadow.terminate() == 0, shadow.log[-2000:]
        assert active.terminate() == 0
    ledger = await read_all(quick)
    ids = {verdict_id(answer.answer_id): 1 for answer in answers}
    assert ledger.times_answered == ids
    assert {verdict.decision for verdict in ledger.verdicts} == {"review"}
    assert len(ledger.buried) == 2, "one of the answer, one of the document, by the worker that decides"
    records = await shadow_records(quick)
    verdicts = [Codec().decode(record.value, Verdict) for record in records]
    assert Counter(verdict.verdict_id for verdict in verdicts) == ids
    assert {verdict.decision for verdict in verdicts} == {"auto_send"}
    assert {shadow_name(record.headers) for record in records} == {NAME}
    assert (await published_rates(quick)).states == {}
    # Both have read all of the answers, each in its group.
    group = shadow_group(quick.kafka.consumer_group, NAME)
    both = [
        await committed(quick.kafka.model_copy(update={"consumer_group": each}), topics.answers)
        for each in (quick.kafka.consumer_group, group)
    ]
    assert both[0] == both[1]
    assert sum(both[0].values()) == len(answers) + len(bad)


async def test_a_shadow_that_is_killed_holds_up_nothing_and_goes_on_where_it_was(quick, topics, tmp_path):
    with (
        Worker(quick, tmp_path, "active") as active,
        Worker(in_shadow(quick), tmp_path, "shadow") as shadow,
    ):
        active.wait_ready()
        shadow.wait_ready()
        answers = await feed(quick, "before", 40)
        shadow.kill()
        answers += await feed(quick, "while", 20)
        ledger = await read_until_settled(quick, answers)
        assert set(ledger.times_answered.values()) == {1}
        shadow.start()
        shadow.wait_ready()
        await until_shadowed(quick, answers)
        assert set((await read_all(quick)).times_answered.values()) == {1}
    assert {each.verdict_id for each in await shadow_verdicts(quick)} == set(ledger.times_answered)


async def test_the_command_names_a_shadow_and_how_it_differs_from_what_was_decided(quick, topics, tmp_path):
    answers = sendable_answers(6, "compared")
    await write_changes(quick, a_change("fitted-1", "proposed"))  # answers from then on are compared
    with Worker(quick, tmp_path, "active") as active, Worker(in_shadow(quick), tmp_path, "shadow") as shadow:
        active.wait_ready()
        shadow.wait_ready()
        await feed(quick, "compared", 6)
        ledger = await read_until_settled(quick, answers)
        await until_shadowed(quick, answers)
        assert (active.terminate(), shadow.terminate()) == (0, 0)
    rated = [
        a_review(
            review_id=f"r-{n}",
            verdict_id=each.verdict_id,
            rating=5 if n else 1,
            reviewed_at=each.scored_at,
            source="desk",
        )
        for n, each in enumerate(sorted(ledger.verdicts, key=lambda each: each.answer_id))
    ]
    await publish(quick, rated)

    async def compare(*arguments: str, code: int = 0) -> tuple[str, str]:
        with capture_logs():
            done = await asyncio.to_thread(
                truthgate_here, "policy", "compare", *arguments, environment=variables(quick)
            )
        assert done.returncode == code, done.stderr
        return done.stdout, done.stderr

    candidate, beside = map(json.loads, (await compare("--json"))[0].splitlines())
    assert (candidate["first"], candidate["second"]) == ("recorded", "fitted-1")
    for found in (beside, json.loads((await compare("recorded", f"shadow:{NAME}", "--json"))[0])):
        assert (found["first"], found["second"]) == ("recorded", f"shadow:{NAME}")
        everything, *groups = found["groups"]
        assert (everything["first"]["sent"], everything["second"]["sent"]) == (0, 6)
        assert (everything["only_first"], everything["only_second"]) == (0, 6)
        assert everything["only_second_mistakes"]["value"] == pytest.approx(1 / 6)
        assert everything["only_second_mistakes"]["number"] == 6
        assert [each["first"]["name"] for each in groups] == [f"{ledger.verdicts[0].message_type} nl"], (
            "by the group of the verdict that counts"
        )
    assert f"first: recorded, second: shadow:{NAME}" in (await compare())[0]
    assert "no answer of this time" in (await compare("recorded", "shadow:other", code=1))[1]
    assert "name two versions" in (await compare("recorded", code=2))[1]
