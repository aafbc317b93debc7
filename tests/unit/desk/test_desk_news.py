"""What the desk sends to an open page, and the scripts that take it."""

import asyncio
import hashlib
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from streams.desk.decisions import DecisionStore
from streams.settings import DeskRole
from tests.support.desk import held
from tests.support.npm_packages import installed
from tests.support.served_desk import serving_desk

ROOT = Path(__file__).parents[3]
ASSETS = ROOT / "streams/desk/assets"
NPM = {"htmx.min.js": "dist", "hx-sse.min.js": "dist/ext"}


async def until(lines: AsyncIterator[str], text: str) -> list[str]:
    """Read lines up to one with this text."""
    found = []
    async with asyncio.timeout(20):
        async for line in lines:
            found.append(line)
            if text in line:
                break
    assert text in found[-1], found
    return found


async def test_a_page_is_told_what_changes_and_nothing_after_the_session_has_ended(tmp_path: Path) -> None:
    async with serving_desk(tmp_path, held(1), held(2)) as served, served.client(DeskRole.LEAD) as kim:
        session = served.sessions.read(kim.cookies["truthgate_desk"])
        assert session
        await kim.get("/")
        async with kim.stream("GET", "/news?answer=v-1") as news:
            assert news.headers["content-type"] == "text/event-stream"
            lines = news.aiter_lines()
            await until(lines, '<span id="waiting">2</span>')
            served.desk.problem = "Kafka: NodeNotReadyError"
            served.desk.changes.notify()
            assert "Macro" not in str(await until(lines, "Kafka: NodeNotReadyError."))
            served.desk.problem = None
            form = {"form_token": served.sessions.form_token(session), "verdict_id": "v-1"}
            await kim.post("/decide", data={**form, "action": "send"})
            await until(lines, '<span id="waiting">1</span>')
            await until(lines, "can be undone")
            await until(lines, "Somebody else decides")
            await kim.post("/logout", data=form)
            await until(lines, "You are logged out.")
            async with asyncio.timeout(20):
                rest = [line async for line in lines]
        assert "event: over" in rest
        again = await kim.get("/news", headers={"HX-Request": "true"})
        assert again.status_code == 401


async def test_a_decision_is_shown_with_its_question_and_a_full_disk_is_told_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        serving_desk(tmp_path, held(1), held(2)) as served,
        served.client(DeskRole.REVIEWER) as kim,
    ):
        session = served.sessions.read(kim.cookies["truthgate_desk"])
        assert session
        form = {"form_token": served.sessions.form_token(session), "action": "send"}
        await kim.get("/")
        await kim.post("/decide", data={**form, "verdict_id": "v-1"})
        page = (await kim.get("/")).text
        assert "<code>v-1</code> <q>Question 1?</q>" in page
        assert "<q>Question 2?</q>" not in page

        def full(*_: object) -> None:
            raise sqlite3.OperationalError("database or disk is full")

        with monkeypatch.context() as patched, capture_logs() as logs:
            patched.setattr(DecisionStore, "store", full)
            refused = await kim.post("/decide", data={**form, "verdict_id": "v-2"})
            in_dutch = await kim.post("/decide?language=nl", data={**form, "verdict_id": "v-2"})
        assert (refused.status_code, "disk full" in refused.text) == (503, True)
        assert (in_dutch.status_code, "is de schijf vol?" in in_dutch.text) == (503, True)
        assert [each["event"] for each in logs] == ["desk_store_failed"] * 2
        assert "Question 2?" in (await kim.get("/")).text


async def test_a_page_that_waits_is_told_that_an_answer_is_there(tmp_path: Path) -> None:
    async with (
        serving_desk(tmp_path, held(1)) as served,
        served.client(DeskRole.REVIEWER) as kim,
        kim.stream("GET", "/news") as news,
    ):
        await until(news.aiter_lines(), "event: free")


def test_htmx_is_the_file_of_its_package_with_the_hash_that_is_written_down() -> None:
    written = dict(reversed(line.split()) for line in (ASSETS / "SHA256SUMS").read_text().splitlines())
    assert written.keys() == {*NPM, "htmx.LICENSE.txt"}
    for name, digest in written.items():
        assert hashlib.sha256((ASSETS / name).read_bytes()).hexdigest() == digest
    packages = installed(ROOT / "tests/support/npm_pages", "the scripts of pages are compared")
    package = packages / "node_modules/htmx.org"
    for name, folder in NPM.items():
        assert (package / folder / name).read_bytes() == (ASSETS / name).read_bytes()
    assert (package / "LICENSE").read_bytes() == (ASSETS / "htmx.LICENSE.txt").read_bytes()
