"""Leads see what is known and end it; nobody else does, and no form of another site."""

import time
from pathlib import Path

import httpx2
import pytest
from structlog.testing import capture_logs

from streams.desk.desk_state import DeskRecord
from streams.desk.sessions import COOKIE
from streams.kafka.kafka_records import Headers
from streams.observability.failures import InfrastructureFailure
from streams.settings import DeskRole
from tests.support.desk import held
from tests.support.known_answers import a_known_answer
from tests.support.reviews import a_review
from tests.support.served_desk import ServedDesk, serving_desk

TOKENS = {"token": "t-reviewer-123456", "lead_token": "t-lead-1234567890"}


class Brokers:
    """Takes records, or refuses them."""

    def __init__(self) -> None:
        self.up = True
        self.taken: list[tuple[str, bytes]] = []

    async def publish(self, topic: str, key: bytes, value: bytes, headers: Headers) -> None:
        if not self.up:
            raise InfrastructureFailure("away")
        self.taken.append((topic, key))


async def test_a_lead_ends_a_known_answer_and_the_log_says_who(tmp_path: Path) -> None:
    known = a_known_answer("k" * 64, reviewers=("kim<b>",))
    async with serving_desk(tmp_path, held(1), known_answers=True, **TOKENS) as served:
        brokers = served.publish_with(Brokers())
        served.state.apply([DeskRecord(0, 0, known)], {})
        async with served.client(DeskRole.LEAD) as lead:
            page = (await lead.get("/known-answers")).text
            assert known.key in page
            assert "kim&lt;b&gt;" in page
            assert 'href="/known-answers"' in (await lead.get("/")).text
            form = {"form_token": token_of(served, lead), "key": known.key}
            with capture_logs() as logs:
                ended = await lead.post("/known-answers/end", data=form)
            assert ended.headers["location"] == f"/known-answers?id={known.key}&notice=ended"
            assert {
                "event": "known_answer_ended",
                "key": known.key,
                "lead": "a lead",
                "log_level": "info",
            } in logs
            assert brokers.taken == [("known-answers", known.key.encode())]
            unknown = await lead.post("/known-answers/end", data={**form, "key": "k-9\r\nX: y"})
            assert unknown.headers["location"] == "/known-answers?id=k-9%0D%0AX%3A%20y&notice=failed"
            brokers.up = False
            failed = await lead.post("/known-answers/end", data=form)
            assert failed.headers["location"].endswith("notice=failed")
            assert "It is not ended" in (await lead.get(failed.headers["location"])).text
            assert len(brokers.taken) == 1


async def test_without_the_token_of_the_session_or_from_another_site_nothing_is_ended(tmp_path: Path) -> None:
    async with serving_desk(tmp_path, known_answers=True, **TOKENS) as served:
        brokers = served.publish_with(Brokers())
        served.state.apply([DeskRecord(0, 0, a_known_answer())], {})
        async with served.client(DeskRole.LEAD) as lead:
            assert (await lead.post("/known-answers/end", data={"key": "k-1"})).status_code == 403
            form = {"form_token": token_of(served, lead), "key": "k-1"}
            foreign = await lead.post(
                "/known-answers/end", data=form, headers={"Sec-Fetch-Site": "cross-site"}
            )
            assert foreign.status_code == 403
        for role in (DeskRole.REVIEWER, DeskRole.AUDITOR):
            async with served.client(role) as other:
                assert (await other.get("/known-answers")).status_code == 403
                assert (await other.post("/known-answers/end", data={"key": "k-1"})).status_code == 403
                assert "/known-answers" not in (await other.get("/blocked")).text
        assert brokers.taken == []


async def test_while_known_answers_are_off_there_is_no_such_page(tmp_path: Path) -> None:
    async with serving_desk(tmp_path, **TOKENS) as served, served.client(DeskRole.LEAD) as lead:
        assert (await lead.get("/known-answers")).status_code == 404
        assert "/known-answers" not in (await lead.get("/")).text


async def test_what_another_desk_wrote_over_at_once_is_published_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving_desk(tmp_path, held(1, known_answer_key="k-1"), known_answers=True) as served:
        brokers = served.publish_with(Brokers())
        late, ended = a_known_answer("k-1"), a_known_answer("k-1", state="ended")
        served.state.apply([DeskRecord(0, 1, late), DeskRecord(0, 2, a_review(outcome="reject"))], {})
        assert await served.publishing.publish_due()
        served.state.apply([DeskRecord(0, 3, ended), DeskRecord(0, 4, late)], {})
        assert await served.publishing.publish_due()
        assert len(brokers.taken) == 1
        now = time.monotonic() + 11
        monkeypatch.setattr(time, "monotonic", lambda: now)
        assert await served.publishing.publish_due()
        assert len(brokers.taken) == 2


async def test_what_is_due_is_published_once_and_again_only_if_it_is_not_read_back(tmp_path: Path) -> None:
    async with serving_desk(tmp_path, held(1, known_answer_key="k-1"), known_answers=True) as served:
        brokers = served.publish_with(Brokers())
        served.state.apply([DeskRecord(0, 1, a_review(outcome="send", text="Answer 1."))], {})
        brokers.up = False
        with capture_logs() as logs:
            assert not await served.publishing.publish_due()
            assert not await served.publishing.publish_due()
        assert [each["event"] for each in logs] == ["known_answers_not_published"]
        brokers.up = True
        for _ in range(3):
            assert await served.publishing.publish_due()
        assert brokers.taken == [("known-answers", b"k-1")]
        served.desk.caught_up = False
        served.state.apply([DeskRecord(0, 2, a_review(review_id="r-2", outcome="reject"))], {})
        assert await served.publishing.publish_due()  # the state may lack reviews: nothing is published
        assert len(brokers.taken) == 1
        served.desk.caught_up = True
        assert await served.publishing.publish_due()
        assert len(brokers.taken) == 2


def token_of(served: ServedDesk, browser: httpx2.AsyncClient) -> str:
    session = served.sessions.read(browser.cookies[COOKIE])
    assert session
    return served.sessions.form_token(session)
