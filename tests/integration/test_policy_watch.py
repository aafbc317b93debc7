"""The watch of a desk on a real Kafka: too many untrue answers withdraw the policy, once, over kills."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

from schemas import Review, Verdict
from streams.cli.policy.policy_topic import read_policies, write_change
from streams.kafka.topic_reader import open_reader
from streams.kafka.topics import Topics
from streams.reviews.policy_records import Change, to_content
from streams.settings import Settings
from tests.integration.test_ratings_follower import publish
from tests.support.desk import DeskProcess
from tests.support.policies import a_fitted_policy
from tests.support.records import eventually
from tests.support.reviews import a_review
from tests.support.verdicts import any_verdict

VERSION, WHO = "fitted-1", ("anna", "ratings of February")


def audited(first: int, last: int, *, untrue: bool) -> list[Verdict | Review]:
    """Give answers that the policy has sent and the sample draws, each rated."""
    now, found = datetime.now(UTC), list[Verdict | Review]()
    for n in range(first, last):
        verdict = any_verdict(
            verdict_id=f"v-{n}",
            decision="auto_send",
            reasons=("low_risk", "judged_true"),
            policy_version=VERSION,
            message_type="instruction",
            language="nl",
            scored_at=now + timedelta(milliseconds=n),
        )
        rating = a_review(
            review_id=f"r-{n}", verdict_id=f"v-{n}", rating=1 if untrue else 5, reviewed_at=now, source="desk"
        )
        found += [verdict, rating]
    return found


async def withdrawals(settings: Settings) -> list[bytes]:
    """Return the keys of all withdrawals that were ever written, in their order."""
    topic, found = Topics(settings.kafka.topic_prefix).policies, list[bytes]()
    async with open_reader(settings.kafka, topic) as reader:
        seen = await reader.snapshot()
        async for records in reader.read_between(seen.beginning_offsets, seen.end_offsets):
            found += [record.key for record in records if b"/withdrawn/" in record.key]
    return found


async def test_untrue_answers_that_were_sent_withdraw_the_policy_once_also_over_kills_of_the_desk(
    topics: Topics, settings: Settings, tmp_path: Path
) -> None:
    await write_change(settings, VERSION, Change.PROPOSED, WHO, content=to_content(a_fitted_policy()))
    await write_change(settings, VERSION, Change.APPROVED, WHO)
    await publish(settings, audited(0, 30, untrue=False))
    with DeskProcess(settings, tmp_path, audit_share=1.0) as desk:
        desk.wait_ready()
        await eventually(lambda: "truthgate_policy_evidence" in desk.metrics(), "it is watched", 60)
        await asyncio.sleep(3)
        assert await withdrawals(settings) == [], "nothing is wrong yet"
        await publish(settings, audited(30, 33, untrue=True))
        desk.kill()
    await publish(settings, audited(33, 50, untrue=True))
    expected = {f"{VERSION}/withdrawn/instruction {language}".encode() for language in ("nl", "en")}

    async def is_withdrawn() -> bool:
        return set(await withdrawals(settings)) == expected

    for number in range(2):  # killed as soon as it has written, and read anew by the next one
        (folder := tmp_path / f"{number}").mkdir()
        with DeskProcess(settings, folder, audit_share=1.0) as desk:
            desk.wait_ready()
            await eventually(is_withdrawn, "it is withdrawn", 60)
            if number:
                await eventually(lambda: "truthgate_policy_evidence" in desk.metrics(), "it is watched", 60)
                await asyncio.sleep(5)
            desk.kill()
    assert sorted(await withdrawals(settings)) == sorted(expected), "once each"
    state = await read_policies(settings)
    assert state.current.withdrawn_groups == {"instruction nl", "instruction en"}
    change = next(each.change for each in state.current.entries if each.withdrawn_group)
    assert change
    assert (change.by, "mistakes in" in change.reason) == ("truthgate", True)
