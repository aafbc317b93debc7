"""What people could try at the desk who write answers, questions or documents, or who reach its port."""

import asyncio
import csv
import re
import time
from collections.abc import AsyncIterator
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.async_api import expect

from schemas import (
    Codec,
    Verdict,
    VerdictClaim,
    VerdictClaimSource,
    VerdictEvidence,
    VerdictFeature,
    VerdictPassage,
    VerdictSpan,
)
from streams.desk.access import ROUTES
from streams.desk.desk_state import DeskRecord
from streams.desk.sessions import COOKIE, Sessions
from streams.kafka.topics import Topics
from streams.settings import DeskRole, DeskSettings, Settings
from tests.support.chromium import chromium, opened
from tests.support.commands import truthgate, variables
from tests.support.desk import held
from tests.support.oidc_issuer import CLIENT, oidc_issuer
from tests.support.pages import opinion
from tests.support.records import Outgoing, produce
from tests.support.reviews import a_review
from tests.support.served_desk import ServedDesk, serving_desk

LEAD, REVIEWER, AUDITOR = DeskRole
TOKENS = {
    "token": "t-reviewer-123456",
    "lead_token": "t-lead-1234567890",
    "auditor_token": "t-auditor-1234567",
}
BIDI = "\u202e\u2066\u200f\u061c\ufeff"
SCRIPT = f"\"'></textarea></title><script>alert(1)</script><img src=x onerror=alert(2)>{BIDI}{{{{7*7}}}}"
POSTS = [route.split()[1] for route, roles in ROUTES.items() if roles and route.startswith("POST")]
MAX_PAGE_BYTES = 2_000_000


def hostile(value: Any) -> Any:
    """Give a record whose every text that no contract limits is a script."""
    if isinstance(value, str):
        return SCRIPT
    if isinstance(value, tuple):
        return tuple(hostile(each) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        kept = {"verdict_id", "decision", "status", "document_id", "url"}
        changed = {
            each.name: hostile(getattr(value, each.name)) for each in fields(value) if each.name not in kept
        }
        return replace(value, **changed)
    return value


def a_full_verdict(number: int, **changes: Any) -> Verdict:
    """Give a verdict that fills every part of the page."""
    source = VerdictClaimSource("d-1", "v1", "| Passage | 2 |\nIt costs more.", 0, 10)
    statuses = ("contradicted", "not_found", "similar", "supported")
    claims = tuple(
        VerdictClaim("Answer", 0, 6, status, "words", "number", 0.5, source, "1 + 1 = 2")
        for status in statuses
    )
    evidence = (VerdictEvidence("number", "Answer", 0, 6),)
    judged = opinion("Answer", ("number", "Answer"))
    context = (VerdictPassage("d-1", "v1", title="Title", url="javascript:alert(3)"),)
    values = {
        "claims": claims,
        "opinions": (judged, opinion("Answer", label=None)),
        "features": (VerdictFeature("numbers_known", 0.0, evidence),),
        "context": context,
        "missing_context_ids": ("d-2",),
        "reasons": ("middle_score",),
        "metadata": {"tenant": "t"},
    }
    return held(number, **{**values, **changes})


async def test_no_text_of_an_answer_a_document_or_a_reviewer_is_run_or_hides_what_is_there(
    tmp_path: Path,
) -> None:
    verdict = hostile(a_full_verdict(1))
    verdict = replace(verdict, metadata={"tenant": SCRIPT})
    blocked = replace(hostile(a_full_verdict(2)), decision="blocked")
    proposals = [
        a_review(
            review_id=f"r-{n}", outcome="none", proposal=each, reviewer=SCRIPT, comment=SCRIPT, text=text
        )
        for n, (each, text) in enumerate((("send_edited", SCRIPT), ("reject", None)))
    ]
    settings = {"tenant_key": "tenant", "reviews_required": {"general": 2}}
    async with chromium() as browser, serving_desk(tmp_path, verdict, blocked, **settings) as served:
        served.state.apply([DeskRecord(0, 10 + n, each) for n, each in enumerate(proposals)], {})
        async with opened(browser, served.address) as watched:
            page = watched.page
            await page.keyboard.type("Kim <script>alert(4)</script>")
            await page.keyboard.press("Enter")
            await expect(page.locator(".who")).to_contain_text("<script>")
            for path in ("/", "/?answer=v-1", "/?answer=v-2", "/blocked", "/filter", "/lead"):
                await page.goto(served.address + path)
                await expect(page.locator("main")).to_be_visible()
                assert await page.locator("img, script:not([src='/desk.js'])").count() == 0, path
                assert await page.locator("a[href^=javascript], [onerror]").count() == 0, path
                shown: str = await page.evaluate("document.body.innerText")
                # What is in the field for editing is the text itself: it is what would be sent.
                assert not set(shown) & set(BIDI), path
                titles = await page.eval_on_selector_all("[title]", "all => all.map(each => each.title)")
                assert not set("".join(titles)) & set(BIDI), path
            await page.goto(f"{served.address}/?answer=v-1")
            await expect(page.locator(".proposed")).to_have_count(2)
            await expect(page.locator(".answer")).to_contain_text("⟨U+202E⟩")
            await expect(page.locator(".answer")).to_contain_text("{{7*7}}")
            await page.keyboard.press("p")
            await page.keyboard.type(SCRIPT[:200])
            async with page.expect_navigation():
                await page.keyboard.press("Enter")
            await page.goto(f"{served.address}/?answer=v-1")
            await expect(page.locator(".passed")).to_contain_text("<script>alert(1)</script>")
        assert watched.complaints == []
        assert all(request.startswith(served.address) for request in watched.requests)


MANY = 10_000
LONG = "word " * 200_000


@pytest.mark.parametrize(
    "changes",
    [
        {"answer": LONG, "question": LONG},
        {"answer": "\u202e" * 300_000},
        {"claims": (VerdictClaim("A", 0, 1, "not_found", "words", None, 0.0, None),) * MANY},
        {
            "claims": (
                VerdictClaim(
                    "A", 0, 1, "similar", "words", None, 0.0, None, None, (VerdictSpan(0, 1),) * MANY
                ),
            )
        },
        {
            "claims": (
                VerdictClaim(
                    "A",
                    0,
                    1,
                    "similar",
                    "words",
                    None,
                    0.0,
                    VerdictClaimSource("d", "v", "|a" * 450_000, 0, 1),
                ),
            )
        },
        {"features": (VerdictFeature("f", 0.0, (VerdictEvidence("number", "A", 0, 1),) * MANY),)},
        {"opinions": (replace(opinion("A", label=None), models=("m",) * 99),) * MANY},
        {"context": tuple(VerdictPassage(f"d-{n}", title="T" * 50) for n in range(MANY))},
        {"reasons": tuple(f"r-{n}" for n in range(MANY))},
    ],
    ids=[
        "a megabyte",
        "marks of direction",
        "claims",
        "spans of a claim",
        "a table",
        "spans",
        "opinions",
        "documents",
        "reasons",
    ],
)
async def test_a_huge_verdict_is_shown_soon_on_a_page_of_bounded_size(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    async with serving_desk(tmp_path, held(1, **changes)) as served, served.client(LEAD) as kim:
        began = time.process_time()  # the machine may have much else to do
        page = await kim.get("/", timeout=30)
        assert time.process_time() - began < 5
        assert page.status_code == 200
        assert "data-key" in page.text
        texts = sum(len(changes.get(name, "").encode()) for name in ("answer", "question"))
        assert len(page.content) < MAX_PAGE_BYTES + 4 * texts
        assert "word" not in (await kim.get("/blocked")).text


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[ServedDesk]:
    verdicts = (held(1), held(2), held(3, decision="blocked"))
    async with serving_desk(tmp_path, *verdicts, known_answers=True, **TOKENS) as desk:
        yield desk


def forms(served: ServedDesk, browser: httpx2.AsyncClient) -> dict[str, str]:
    """Give what a form of this browser's session carries."""
    session = served.sessions.read(browser.cookies[COOKIE])
    assert session
    return {"form_token": served.sessions.form_token(session)}


def undecided(served: ServedDesk) -> bool:
    return served.desk.counts().unpublished == 0


async def test_a_forged_cookie_is_nobodys(served: ServedDesk) -> None:
    _, real = served.sessions.start("Kim", REVIEWER)
    other, promoted = Sessions(b"x" * 32, DeskSettings(**TOKENS)), real.replace("cmV2aWV3ZXI", "bGVhZA")
    unsigned = real.rpartition(".")[0]
    forged = [
        other.start("Kim", LEAD)[1],
        served.sessions.seal("login", "id", "lead", "Kim"),
        promoted,
        unsigned,
        f"{unsigned}.",
        "0." + real,
        "",
        "%00",
        "a" * 7_000,
        "' OR 1=1 --",
        "é",
    ]
    assert promoted != real
    for cookie in forged:
        async with served.client() as thief:
            headers = [(b"Cookie", f"{COOKIE}={cookie}".encode())]
            for path in ("/", "/lead", "/news?answer=v-1", "/known-answers"):
                answer = await thief.get(path, headers=headers)
                assert (answer.status_code, answer.headers.get("location")) == (303, "/login"), cookie
                assert "Answer 1." not in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"X-User": "boss"},
        {"X-Forwarded-User": "boss", "X-Forwarded-Groups": "lead", "X-Role": "lead"},
        {"Authorization": f"Bearer {TOKENS['lead_token']}"},
        {"X-Forwarded-Proto": "https"},
        {"X-Original-URL": "/lead", "X-Rewrite-URL": "/lead"},
        {"X-HTTP-Method-Override": "POST"},
        {"HX-Request": "true"},
        {"Cookie": "truthgate_desk=\\"},
    ],
)
async def test_a_forged_header_opens_nothing(served: ServedDesk, headers: dict[str, str]) -> None:
    async with served.client() as stranger:
        answer = await stranger.get("/", headers=headers)
        assert answer.status_code in {303, 401}
        assert "Answer" not in answer.text
        assert COOKIE not in answer.headers.get("set-cookie", "")
    async with served.client(REVIEWER) as kim:
        assert (await kim.get("/lead", headers={**headers, "Cookie": kim_cookie(kim)})).status_code != 200


def kim_cookie(browser: httpx2.AsyncClient) -> str:
    return f"{COOKIE}={browser.cookies[COOKIE]}"


@pytest.mark.parametrize("path", POSTS)
async def test_a_form_of_another_site_or_session_does_nothing(served: ServedDesk, path: str) -> None:
    async with served.client(LEAD) as kim, served.client(LEAD) as alex:
        data = {"verdict_id": "v-1", "action": "send", "reason": "x", "key": "k", "name": "x"}
        own, others = forms(served, kim), forms(served, alex)
        for token in ({}, others, {"form_token": ""}, {"form_token": "0" * 64}):
            assert (await kim.post(path, data={**data, **token})).status_code == 403, token
        for site in ("cross-site", "same-site", "none"):
            answer = await kim.post(path, data={**data, **own}, headers={"Sec-Fetch-Site": site})
            assert answer.status_code == 403, site
        assert (await kim.get(path, params={**data, **own})).status_code in {200, 405}
        for kind in ("text/plain", "application/json"):  # what a page of another site could send as well
            body = str({**data, **own}).encode()
            assert (await kim.post(path, content=body, headers={"Content-Type": kind})).status_code == 403
        assert undecided(served)
        assert (await kim.get("/")).status_code == 200  # nobody was logged out


async def test_a_reviewer_does_not_have_what_is_a_leads_or_another_reviewers(served: ServedDesk) -> None:
    async with served.client(REVIEWER) as kim, served.client(REVIEWER) as alex, served.client(AUDITOR) as sam:
        own = forms(served, kim)
        assert "Answer 1." in (await kim.get("/")).text
        assert "Answer 2." in (await alex.get("/")).text
        for path in ("/lead", "/lead/policies", "/known-answers", "/lead?days=30"):
            assert (await kim.get(path)).status_code == 403
        assert (await kim.post("/known-answers/end", data={**own, "key": "k"})).status_code == 403
        # What a colleague has on the screen is not opened, decided, passed on or followed by its address.
        assert (await kim.get("/?answer=v-2")).headers["location"] == "/?notice=taken"
        for path in ("/decide", "/pass"):
            data = {**own, "verdict_id": "v-2", "action": "send", "reason": "x", "lead": "yes"}
            assert (await kim.post(path, data=data)).headers["location"] == "/?notice=taken"
        refused = await kim.post("/pass", data={**own, "verdict_id": "v-1"})  # only a lead needs no reason
        assert refused.headers["location"] == "/?notice=no_reason"
        decided = await alex.post(
            "/decide", data={**forms(served, alex), "verdict_id": "v-2", "action": "send"}
        )
        assert decided.headers["location"] == "/"
        review_id = re.search(r'name="review_id" value="([^"]*)"', (await alex.get("/blocked")).text)
        assert review_id
        undone = await kim.post("/undo", data={**own, "review_id": review_id[1]})
        assert undone.headers["location"] == "/?notice=late"
        assert served.desk.counts().unpublished == 1
        for path in ("/decide", "/pass", "/undo", "/known-answers/end"):
            assert (await sam.post(path, data=forms(served, sam))).status_code == 403


FORM = "application/x-www-form-urlencoded"
PART = b"--x\r\nContent-Disposition: form-data; name=form_token\r\n\r\n"


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"text=" + b"x" * 9_000_000, FORM, 413),
        (b"a=1&" * 3_000_000, FORM, 413),
        (b"name=\xff", FORM, 400),
        (b"name=x", f"{FORM}; charset=bogus", 400),
        (b"x", "multipart/form-data", 400),
        (PART + b"cut off", "multipart/form-data; boundary=x", 400),
        (PART + b"\xff\r\n--x--\r\n", "multipart/form-data; boundary=x", 400),
    ],
    ids=["huge", "fields", "no text", "encoding", "no boundary", "cut off", "part"],
)
async def test_an_oversized_or_broken_form_is_refused(
    served: ServedDesk, body: bytes, kind: str, status: int
) -> None:
    async with served.client(LEAD) as kim:
        for path in ("/login", "/decide"):
            answer = await kim.post(path, content=body, headers={"Content-Type": kind}, timeout=30)
            assert answer.status_code == status, path
            assert "Traceback" not in answer.text
        assert (await kim.get("/")).status_code == 200
        assert undecided(served)


async def test_an_oversized_or_senseless_field_is_no_decision(served: ServedDesk) -> None:
    async with served.client(LEAD) as kim:
        data = {**forms(served, kim), "verdict_id": "v-1"}

        async def answered(**more: str) -> str:
            answer = await kim.post("/decide", data={**data, **more})
            return answer.headers.get("location", str(answer.status_code))

        assert await answered(action="delete") == "400"
        assert await answered(action="rate", rating="9", label="MAYBE") == "/?notice=empty"
        assert await answered(action="edit", text=" \n ") == "/?notice=empty"
        assert await answered(action="send", verdict_id="v-1\0") == "/?notice=gone"
        assert await answered(action="send", verdict_id="' OR 1=1 --") == "/?notice=gone"
        assert await answered(action="send", comment="x" * 1_100_000) in {"413", "/?notice=too_large"}
        assert (await kim.post("/pass", data={**data, "reason": "x" * 301})).status_code == 400
        assert (await kim.post("/pass", data={**data, "reason": "x", "reviewer": "a\0"})).status_code == 400
        assert undecided(served)


async def test_bytes_that_are_no_text_in_cookies_and_addresses_are_no_failure(served: ServedDesk) -> None:
    _, cookie = served.sessions.start("Kim", LEAD)
    host, port = served.address.removeprefix("http://").split(":")
    for target, more, status in (
        (b"/", b"truthgate_filter=tenant=\xff", b"200"),
        (b"/", b"truthgate_language=\xff; truthgate_filter=%00%ff", b"200"),
        (b"/", b"truthgate_filter=tenant=' OR 1=1 --&no_such=1", b"200"),
        (b"/?answer=%ff%00&notice=%ff&language=%ff", b"a=b", b"303"),
        (b"/?answer=\xff", b"a=b", b"400"),
    ):
        reader, writer = await asyncio.open_connection(host, int(port))
        line = b"GET " + target + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        writer.write(line + b"Cookie: truthgate_desk=" + cookie.encode() + b"; " + more + b"\r\n\r\n")
        async with asyncio.timeout(10):
            answer = await reader.read()
        writer.close()
        assert answer.split(b" ")[1] == status, (target, more)


async def test_a_name_with_line_ends_adds_no_header_and_no_line_to_the_log(served: ServedDesk) -> None:
    async with served.client() as browser:
        data = {"name": "Kim\r\nSet-Cookie: owned=1\r\n\r\n<script>", "token": TOKENS["token"]}
        answer = await browser.post("/login", data=data)
        assert "owned" not in answer.cookies
        assert "owned" not in str(answer.headers)
        session = served.sessions.read(browser.cookies[COOKIE])
        assert session
        assert session.reviewer == "Kim Set-Cookie: owned=1 <script>"
        assert "&lt;script&gt;" in (await browser.get("/")).text
    async with served.client(LEAD) as kim:
        for name in ("language", "notice", "answer"):
            answer = await kim.get("/", params={name: "x\r\nSet-Cookie: owned=1"})
            assert "owned" not in str(answer.headers)
        ended = await kim.post(
            "/known-answers/end", data={**forms(served, kim), "key": "k\r\nX-Owned: 1&id=//"}
        )
        assert ended.headers["location"] == "/known-answers?id=k%0D%0AX-Owned%3A%201%26id%3D//&notice=failed"


@pytest.mark.parametrize(
    "path",
    [
        "/desk.js/../../../../etc/passwd",
        "/..%2f..%2fetc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/desk.css%00.html",
        "/assets/desk.js",
        "/templates/answer.html",
        "/decisions.sqlite3",
        "/session.key",
        "//evil.example/",
        "/\\evil.example",
    ],
)
async def test_no_path_leads_to_a_file_or_to_another_site(served: ServedDesk, path: str) -> None:
    host, port = served.address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    async with asyncio.timeout(10):
        answer = (await reader.read()).decode()
    writer.close()
    assert answer.split()[1] in {"400", "404"}
    assert "root:" not in answer
    assert "location:" not in answer.lower()
    async with served.client(LEAD) as kim:
        page = await kim.get("/", params={"language": f"..{path}", "notice": path})
        assert page.status_code == 200
        assert path not in page.text


async def test_no_redirect_leads_to_another_site(tmp_path: Path, served: ServedDesk) -> None:
    async with served.client(LEAD) as kim:
        own = forms(served, kim)
        for path in ("/decide", "/pass", "/filter"):
            for evil in ("//evil.example", "https://evil.example", "/\\evil.example"):
                data = {**own, "action": "next", "list": evil, "next": evil, "reason": "x", "tenant": evil}
                answer = await kim.post(path, data={**data, "verdict_id": "v-1"}, headers={"Referer": evil})
                assert answer.headers["location"].partition("?")[0] in {"/", "/blocked"}
    evil = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "Forwarded": "host=evil.example"}
    (tmp_path / "oidc").mkdir()
    async with oidc_issuer() as issuer:
        oidc = {"issuer": issuer.url, "client_id": CLIENT}
        async with (
            serving_desk(tmp_path / "oidc", public_url="{address}", oidc=oidc) as desk,
            desk.client() as browser,
        ):
            for path in ("/", "/login?next=//evil.example", "/oidc/login?next=//evil.example"):
                answer = await browser.get(path, headers=evil)
                assert "evil" not in answer.text
                assert "evil" not in answer.headers.get("location", "")
            for query in ("state=x&code=y&redirect_uri=//evil.example", "error_description=//evil.example"):
                refused = await browser.get(f"/oidc/callback?{query}", headers=evil)
                assert refused.status_code == 403
                assert "evil" not in refused.text


async def test_no_cell_of_an_export_is_a_formula_and_each_is_what_it_was_after_an_import(
    settings: Settings, topics: Topics, tmp_path: Path
) -> None:
    texts = [
        f"{begin}HYPERLINK(1)" for begin in ("=", "+", "-", "@", "\t=", "\r=", "\n=", "＝", "＋", "－", "＠")
    ]
    sent = [
        a_review(review_id=f"r-{n}", verdict_id=f"v-{n}", outcome="send_edited", text=each, comment=each)
        for n, each in enumerate(texts)
    ]
    sent += [a_review(review_id="r-name", verdict_id="v-name", reviewer="=cmd|' /C calc'!A0", comment="x")]
    records = [Outgoing(Codec().encode(each), b"c") for each in sent]
    await produce(settings.kafka, topics.reviews, records)
    file = tmp_path / "reviews.csv"
    environment = variables(settings)
    done = truthgate("reviews", "export", "--format", "csv", "-o", file, environment=environment)
    assert done.returncode == 0, done.stderr
    with file.open(newline="") as opened_file:
        rows = list(csv.DictReader(opened_file))
    assert len(rows) == len(sent)
    cells = [cell for row in rows for cell in row.values()]
    assert not [cell for cell in cells if re.match(r"\s*[=+@＝＋－＠]|\s*-\D", cell)]
    assert {row["text"] for row in rows if row["text"]} == {f"'{each}" for each in texts}
