"""Who saw and did what at the desk is in its log, without any text."""

from pathlib import Path

from structlog.testing import capture_logs

from streams.desk.sessions import COOKIE
from streams.settings import DeskRole
from tests.support.desk import held
from tests.support.served_desk import serving_desk

TOKENS = {"token": "t-reviewer-123456", "auditor_token": "t-auditor-1234567"}


async def test_the_log_names_who_saw_and_decided_what_and_quotes_nothing(tmp_path: Path) -> None:
    blocked = held(2, decision="blocked", answer="Secret two.")
    with capture_logs() as lines:
        async with serving_desk(tmp_path, held(1, answer="Secret one."), blocked, **TOKENS) as served:
            async with served.client() as kim:
                await kim.post("/login", data={"name": "Kim", "token": "Secret guess, none of the tokens"})
                await kim.post("/login", data={"name": "Kim", "token": TOKENS["token"]})
                await kim.get("/")
                await kim.get("/blocked")
                session = served.sessions.read(kim.cookies[COOKIE])
                assert session
                form = {"form_token": served.sessions.form_token(session), "verdict_id": "v-1"}
                await kim.post("/decide", data={**form, "action": "next"})
                await kim.post("/decide", data={**form, "action": "edit", "text": "Secret three."})
                await kim.post("/pass", data={**form, "verdict_id": "v-2", "reason": "Secret."})
                await kim.post("/logout", data=form)
            async with served.client(DeskRole.AUDITOR) as auditor:
                await auditor.post("/decide", data={"verdict_id": "v-2", "action": "send"})
    found = [
        {name: value for name, value in each.items() if name not in {"log_level", "address", "review_id"}}
        for each in lines
    ]
    kim_is = {"reviewer": "Kim", "role": "reviewer"}
    assert found == [
        {"event": "desk_login_refused", "reason": "wrong token"},
        {"event": "desk_logged_in", **kim_is},
        {"event": "desk_viewed", **kim_is, "verdict_ids": ["v-1"]},
        {"event": "desk_viewed", **kim_is, "verdict_ids": ["v-2"]},
        {"event": "review_skipped", "reviewer": "Kim", "verdict_id": "v-1"},
        {"event": "review_decided", "reviewer": "Kim", "verdict_id": "v-1", "outcome": "send_edited"},
        {"event": "review_passed_on", "reviewer": "Kim", "verdict_id": "v-2", "to": "anyone"},
        {"event": "desk_logged_out", "reviewer": "Kim"},
        {"event": "desk_forbidden", "reviewer": "a auditor", "role": "auditor", "route": "POST /decide"},
    ]
    assert "Secret" not in str(lines)
