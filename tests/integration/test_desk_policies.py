"""Policies on the page of a real desk: what a lead changes there, every follower of the topic sees."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from streams.cli.policy.policy_topic import write_change
from streams.embedded import EmbeddedKafka
from streams.kafka.topic_follower import keep_following
from streams.kafka.topics import Topics, create_topics
from streams.reviews.policy_follower import PolicyFollower
from streams.reviews.policy_records import Change
from streams.reviews.policy_state import PolicyState
from streams.settings import Settings
from tests.support.brokers import isolated_settings, unique_prefix
from tests.support.desk import DeskProcess, Reviewer
from tests.support.policies import a_change, write_changes
from tests.support.records import eventually

VERSION, PATH, NL = "fitted-1", "/lead/policies", "instruction nl"


@asynccontextmanager
async def a_worker_s_policy(settings: Settings) -> AsyncIterator[PolicyFollower]:
    """Follow the topic as a worker does."""
    followed = PolicyFollower(PolicyState(), asks_judges=True)
    topic = Topics(settings.kafka.topic_prefix).policies
    following = asyncio.create_task(
        keep_following(followed, "the policies", settings.kafka, topic, followed.on_lost)
    )
    try:
        yield followed
    finally:
        following.cancel()
        await asyncio.wait([following])


def fields(lead: Reviewer) -> dict[str, str]:
    """Give what every form of the page on the screen has."""
    found = re.search(r'name="seen" value="(\d+)"', lead.page)
    assert found, lead.page
    return {"seen": found[1], "reason": "ratings of February"}


async def change_on_the_page(settings: Settings, lead: Reviewer, worker: PolicyFollower) -> None:
    """Approve, withdraw a group, and go back to the settings, while an operator withdraws it too."""
    await eventually(lambda: VERSION in lead.look(PATH), "the desk has read the topic", 30)
    assert "Nobody watches" in lead.page
    outdated = fields(lead)
    page = lead.post(f"{PATH}/approve", version=VERSION, **outdated)
    assert "It is approved" in page
    assert re.search(rf"<code>{VERSION}</code> <span class=.tag.>active", page), "read back at once"
    await eventually(lambda: worker.status == (VERSION, "active"), "a worker decides by it", 10)

    assert "changed since this page was loaded" in lead.post(f"{PATH}/withdraw", version=VERSION, **outdated)
    assert "It is withdrawn" in lead.post(f"{PATH}/withdraw", version=VERSION, group=NL, **fields(lead))
    await eventually(lambda: worker.active.withdrawn_groups == {NL}, "a group is withdrawn", 10)

    # What an operator does by the command is on the page, too, and the other way round.
    await write_change(settings, VERSION, Change.WITHDRAWN, ("anna", "prices <b>changed</b>"))
    await eventually(lambda: "&lt;b&gt;changed" in lead.look(PATH), "the page shows it", 10)
    assert "until a version is approved" in lead.page
    assert "It is approved" in lead.post(f"{PATH}/approve", version="settings", **fields(lead))
    await eventually(lambda: worker.status == ("settings", "active"), "workers go back", 10)


async def test_a_lead_approves_and_withdraws_on_the_page_and_workers_follow(
    topics: Topics, settings: Settings, tmp_path: Path
) -> None:
    await write_changes(settings, a_change(VERSION, Change.PROPOSED))
    # Without an audit sample, the desk follows the policies all the same.
    with DeskProcess(settings, tmp_path, audit_share=0.0) as desk:
        desk.wait_ready()
        with Reviewer(desk.address) as lead:
            async with a_worker_s_policy(settings) as worker:
                await change_on_the_page(settings, lead, worker)
        lines = map(json.loads, desk.log.splitlines())
        logged = [line for line in lines if line["event"] == "desk_policy_change"]
    assert [(each["version"], each["group"], each["outcome"]) for each in logged] == [
        (VERSION, None, "approved"),
        (VERSION, None, "changed"),
        (VERSION, NL, "withdrawn"),
        ("settings", None, "approved"),
    ]
    assert {each["lead"] for each in logged} == {"kim"}


async def test_while_kafka_is_away_a_lead_is_told_what_is_not_known(tmp_path: Path) -> None:
    with EmbeddedKafka() as kafka:
        settings = isolated_settings(kafka.bootstrap_servers, tmp_path, unique_prefix())
        await create_topics(settings)
        await write_changes(settings, a_change(VERSION, Change.PROPOSED))
        with DeskProcess(settings, tmp_path, audit_share=0.0) as desk:
            desk.wait_ready()
            with Reviewer(desk.address) as lead:
                await eventually(lambda: VERSION in lead.look(PATH), "the desk has read the topic", 30)
                seen = fields(lead)
                kafka.brokers[0].pause()
                try:
                    page = lead.post(f"{PATH}/approve", version=VERSION, **seen)
                    assert "may still take it" in page
                    await eventually(lambda: "nobody knows here" in lead.look(PATH), "it is old", 60)
                    assert VERSION not in lead.page
                    assert "Kafka does not answer now" in lead.post(
                        f"{PATH}/approve", version=VERSION, **seen
                    )
                finally:
                    kafka.brokers[0].resume()
                await eventually(lambda: "nobody knows here" not in lead.look(PATH), "it is back", 60)
                async with a_worker_s_policy(settings) as worker:
                    await approve_once(lead, worker)
                    assert worker.active.withdrawn_groups == set()


async def approve_once(lead: Reviewer, worker: PolicyFollower) -> None:
    """Approve the version, unless Kafka took the approval that it had not confirmed."""

    def is_active() -> bool:
        return bool(re.search(rf"<code>{VERSION}</code> <span class=.tag.>active", lead.look(PATH)))

    if not is_active():
        page = lead.post(f"{PATH}/approve", version=VERSION, **fields(lead))
        assert "It is approved" in page or "changed since this page was loaded" in page
        await eventually(is_active, "the page shows it", 30)
    await eventually(lambda: worker.status == (VERSION, "active"), "a worker decides by it", 30)
