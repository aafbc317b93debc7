"""The review desk as a process on a real Kafka: from a held verdict to the review of a person."""

import asyncio
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from schemas import Codec, Review
from streams.kafka.topics import Topics
from streams.settings import Settings
from tests.support.desk import DeskProcess, Reviewer, held, publish, reviews
from tests.support.records import Outgoing, produce
from tests.support.reviews import a_review


@pytest.fixture
def desk(topics: Topics, settings: Settings, tmp_path: Path) -> Iterator[DeskProcess]:
    with DeskProcess(settings, tmp_path, decisions_per_minute=10_000) as process:
        process.wait_ready()
        yield process


async def soon(found: Callable[[], object], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < end
        await asyncio.sleep(0.02)


async def published(settings: Settings, number: int) -> list[Review]:
    """Return the reviews once there are so many."""
    async with asyncio.timeout(20):
        while len(found := await reviews(settings)) < number:  # noqa: ASYNC110 - another process publishes
            await asyncio.sleep(0.1)
    return found


async def test_a_held_answer_comes_to_the_screen_and_each_decision_is_a_review(
    desk: DeskProcess, settings: Settings
) -> None:
    with Reviewer(desk.address) as kim:
        assert "No answer waits." in kim.look()
        await publish(settings, [held(1)])
        await soon(lambda: "Answer 1." in kim.look())
        metrics = desk.metrics()
        assert re.search(r"^truthgate_desk_waiting(\{[^}]*\})? 1", metrics, re.MULTILINE)
        assert re.search(r"^truthgate_desk_time_used(\{[^}]*\})? 0\.1", metrics, re.MULTILINE)  # of an hour
        await publish(settings, [held(2), held(3)])
        await soon(lambda: re.search(r"^truthgate_desk_waiting(\{[^}]*\})? 3", desk.metrics(), re.MULTILINE))
        kim.decide("send", rating="5", comment="fine")
        await soon(lambda: "Answer 2." in kim.look())
        kim.decide("edit", text="Better.\r\nMuch.")
        await soon(lambda: "Answer 3." in kim.look())
        kim.decide("reject")
        found = {each.verdict_id: each for each in await published(settings, 3)}
    outcomes = {each.outcome: (each.text, each.rating, each.comment) for each in found.values()}
    assert outcomes == {
        "send": ("Answer 1.", 5, "fine"),
        "send_edited": ("Better.\nMuch.", None, None),
        "reject": (None, None, None),
    }
    assert {each.reviewer for each in found.values()} == {"kim"}
    assert (found["v-1"].answer_id, found["v-1"].conversation_id, found["v-1"].source) == (
        "a-1",
        "c-1",
        "desk",
    )
    with Reviewer(desk.address) as kim:
        assert "No answer waits." in kim.look()
    assert "Answer 1." not in desk.log


async def test_two_reviewers_never_have_one_answer(desk: DeskProcess, settings: Settings) -> None:
    await publish(settings, [held(1), held(2)])
    with Reviewer(desk.address) as kim, Reviewer(desk.address, "alex") as alex:
        await soon(lambda: kim.look() and kim.shown)
        await soon(lambda: alex.look() and alex.shown)
        assert {kim.shown, alex.shown} == {"v-1", "v-2"}  # who came first may have seen the second one alone
        assert "Another reviewer has this answer." in kim.decide("send", alex.shown)
        before = kim.shown
        kim.decide("next")
        assert kim.shown == before, "there is no other one"
        alex.decide("send")
        assert [each.reviewer for each in await published(settings, 1)] == ["alex"]


async def test_two_reviewers_at_once_work_through_200_answers_and_see_none_both(
    desk: DeskProcess, settings: Settings
) -> None:
    await publish(settings, [held(n) for n in range(200)])

    def review(name: str) -> set[str]:
        seen = set[str]()
        with Reviewer(desk.address, name) as reviewer:
            while len(done) < 200:
                reviewer.look()
                if shown := reviewer.shown:
                    seen.add(shown)
                    reviewer.decide("send")
                    done.add(shown)
        return seen

    done = set[str]()
    async with asyncio.timeout(120):
        kim, alex = await asyncio.gather(*(asyncio.to_thread(review, name) for name in ("kim", "alex")))
    assert not kim & alex
    assert len(kim | alex) == 200
    assert min(len(kim), len(alex)) > 20, "both had work"
    found = await published(settings, 200)
    assert sorted(each.verdict_id for each in found) == sorted(f"v-{n}" for n in range(200))
    assert {each.reviewer for each in found} == {"kim", "alex"}


async def test_a_decision_can_be_undone_before_it_is_published(
    topics: Topics, settings: Settings, tmp_path: Path
) -> None:
    await publish(settings, [held(1)])
    with DeskProcess(settings, tmp_path, undo_seconds=30) as desk:
        desk.wait_ready()
        with Reviewer(desk.address) as kim:
            kim.look()
            assert kim.shown == "v-1"
            assert "can be undone" in kim.decide("send")
            assert kim.shown is None
            kim.undo()
            assert kim.shown == "v-1"
            kim.decide("reject")
        assert await reviews(settings) == []
        assert desk.terminate() == 0  # a clean stop publishes what could still be undone
    assert [each.outcome for each in await reviews(settings)] == ["reject"]


async def test_a_killed_desk_publishes_what_was_decided_and_rebuilds_a_lost_state(
    topics: Topics, settings: Settings, tmp_path: Path
) -> None:
    await publish(settings, [held(n) for n in range(6)])
    with DeskProcess(settings, tmp_path, undo_seconds=2) as desk:
        desk.wait_ready()
        with Reviewer(desk.address) as kim:
            kim.look()
            for _ in range(4):
                kim.decide("send")
        desk.kill()
        (tmp_path / "desk" / "state.sqlite3").unlink()  # with all that was read
        desk.start()
        desk.wait_ready()
        found = await published(settings, 4)
        assert len({each.review_id for each in found}) == 4
        assert {each.verdict_id for each in found} == {"v-0", "v-1", "v-2", "v-3"}
        desk.kill()
        desk.start()
        desk.wait_ready()
        with Reviewer(desk.address, "alex") as alex:
            alex.look()
            assert alex.shown == "v-5"  # kim's lease of v-4 goes on
        desk.kill()
        shutil.rmtree(tmp_path / "desk")
        desk.start()
        desk.wait_ready()
        with Reviewer(desk.address) as kim:
            kim.look()
            assert kim.shown == "v-4"
    assert len(await reviews(settings)) == 4


async def test_what_another_tool_decided_is_gone_from_the_desk(desk: DeskProcess, settings: Settings) -> None:
    await publish(settings, [held(1), held(2, decision="blocked"), held(3)])
    topic, codec = Topics(settings.kafka.topic_prefix).reviews, Codec()
    review = a_review(verdict_id="v-1", conversation_id="c-1", outcome="send")
    with Reviewer(desk.address) as kim:
        await soon(lambda: kim.look() and kim.shown == "v-1")
        await produce(settings.kafka, topic, [Outgoing(codec.encode(review), b"c-1")])
        await soon(lambda: kim.look() and kim.shown == "v-3")
        assert "Question 2?" in kim.look("/blocked")
        kim.look("/?answer=v-2")
        assert kim.shown == "v-2"
        kim.decide("reject")
        assert "Question 2?" not in kim.look("/blocked")


async def test_each_answer_has_one_outcome_though_two_desks_are_killed_while_answers_expire(
    topics: Topics, settings: Settings, tmp_path: Path
) -> None:
    values = {"time_limit_seconds": 615, "blocked_time_limit_seconds": 602, "undo_seconds": 2}
    (tmp_path / "two").mkdir()
    desks = [DeskProcess(settings, folder, **values) for folder in (tmp_path, tmp_path / "two")]
    with desks[0], desks[1]:
        for each in desks:
            each.wait_ready()
        verdicts = [held(n, decision="blocked" if n % 4 == 0 else "review") for n in range(20)]
        await publish(settings, verdicts)
        with Reviewer(desks[0].address) as kim, Reviewer(desks[1].address, "alex") as alex:
            for reviewer in (kim, alex):
                await soon(lambda reviewer=reviewer: reviewer.look() and reviewer.shown)
            for reviewer in (kim, alex):
                reviewer.decide("send")  # of one answer, at two desks
            await soon(lambda: any("another decision came first" in each.look() for each in (kim, alex)))
        for _ in range(3):
            await asyncio.sleep(1)
            for each in desks:
                each.kill()
                each.start()
        for each in desks:
            each.wait_ready()
        async with asyncio.timeout(90):
            while len({each.verdict_id for each in await reviews(settings)}) < 20:  # noqa: ASYNC110
                await asyncio.sleep(0.5)
        for each in desks:
            assert each.terminate() == 0
    found = await reviews(settings)
    first: dict[str, Review] = {}
    for each in found:
        first.setdefault(each.verdict_id, each)
    assert sorted(each.outcome for each in first.values()) == ["expired"] * 19 + ["send"]
    assert len({each.review_id for each in found if each.outcome == "expired"}) == 19
    assert all(each.produced_at and each.text is None for each in found if each.outcome == "expired")


async def test_a_filter_and_a_rating_alone(topics: Topics, settings: Settings, tmp_path: Path) -> None:
    await publish(
        settings,
        [
            held(1, language="nl", metadata={"shop": "a"}),
            held(2, language="en", reasons=("low_score",), metadata={"shop": "<b>"}),
            held(3, decision="blocked", reasons=("low_score",)),
        ],
    )
    with DeskProcess(settings, tmp_path, tenant_key="shop") as desk:
        desk.wait_ready()
        with Reviewer(desk.address) as kim:
            kim.look()
            assert kim.shown == "v-1"
            assert "&lt;b&gt; (1)" in kim.look("/filter")
            kim.post("/filter", language="en", tenant="<b>")
            assert kim.shown == "v-2"
            assert "Filter: en, &lt;b&gt;" in kim.page
            assert "Question 3?" not in kim.look("/blocked")
            kim.look("/filter")
            kim.post("/filter", reason="low_score")
            assert "Question 3?" in kim.look("/blocked")
            kim.look("/?answer=v-3")
            assert "Rate only" in kim.page
            kim.decide("rate", label="FALSE", wrong="number: 3")
            assert "Question 3?" not in kim.look("/blocked")
        (rated,) = await published(settings, 1)
    assert (rated.outcome, rated.label, rated.text) == ("none", "FALSE", None)
    assert [(each.kind, each.start) for each in rated.wrong_spans] == [("number", 7)]


async def test_two_people_decide_together_though_the_state_is_lost_between_them(
    topics: Topics, settings: Settings, tmp_path: Path
) -> None:
    await publish(settings, [held(1), held(2)])
    with DeskProcess(settings, tmp_path, reviews_required={"binary": 2}) as desk:
        desk.wait_ready()
        with Reviewer(desk.address) as kim:
            for verdict_id in ("v-1", "v-2"):
                kim.look()
                assert kim.shown == verdict_id
                kim.decide("send")
            await published(settings, 2)
            await soon(lambda: "hides them" in kim.look())  # both are for others now
        desk.kill()
        shutil.rmtree(tmp_path / "desk")
        desk.start()
        desk.wait_ready()
        with Reviewer(desk.address) as kim, Reviewer(desk.address, "alex") as alex:
            assert kim.look()
            assert kim.shown is None
            alex.look()
            alex.decide("send")
            alex.look()
            assert alex.shown == "v-2"
            assert "kim" not in alex.page
            alex.decide("reject")
            await published(settings, 4)
            # Here everybody is a lead, who sees what both chose.
            await soon(lambda: "kim: send" in kim.look() and "alex: reject" in kim.page)
            kim.decide("reject")
            found = await published(settings, 5)
    assert sorted((each.verdict_id, each.outcome) for each in found if each.is_final) == [
        ("v-1", "send"),
        ("v-2", "reject"),
    ]


async def test_forms_of_others_are_refused(desk: DeskProcess, settings: Settings) -> None:
    await publish(settings, [held(1)])
    with Reviewer(desk.address) as kim:
        await soon(lambda: kim.look() and kim.shown)
        assert "not of this session" in kim.post("/decide", form_token="x", verdict_id="v-1", action="send")
        other = kim._client.post("/decide", headers={"Sec-Fetch-Site": "cross-site"})
        assert other.status_code == 403
        rebound = kim._client.get("/", headers={"Host": "evil.example"})
        assert rebound.status_code == 403
        assert kim._client.get("/healthz").status_code == 200
        page = kim._client.get("/")
        assert "script-src 'self'" in page.headers["Content-Security-Policy"]
    assert await reviews(settings) == []
