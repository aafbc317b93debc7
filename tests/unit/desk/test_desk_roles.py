"""What each role may do at the desk, and from where a person has his role."""

import re
from pathlib import Path
from typing import Any

import httpx2
import pytest

from streams.desk.access import ROUTES, claim_values, role_from
from streams.desk.sessions import COOKIE, ReviewerSession, Sessions
from streams.settings import DeskRole, DeskSettings
from tests.support.desk import held
from tests.support.served_desk import KEY, ServedDesk, serving_desk

LEAD, REVIEWER, AUDITOR = DeskRole
TOKENS = {
    "token": "t-reviewer-123456",
    "lead_token": "t-lead-1234567890",
    "auditor_token": "t-auditor-1234567",
}
OIDC = {"issuer": "https://login.example.com", "client_id": "desk"}
READ = {"GET /", "GET /blocked", "GET /news", "GET /filter", "POST /filter", "POST /logout"}
DECIDE = {"POST /decide", "POST /pass", "POST /undo"}
FIGURES = {"GET /lead", "GET /lead/policies"}
LEADING = {"POST /lead/policies/approve", "POST /lead/policies/withdraw"}
MAY = {LEAD: READ | DECIDE | FIGURES | LEADING, REVIEWER: READ | DECIDE, AUDITOR: READ | FIGURES}


def routes(served: ServedDesk) -> set[str]:
    found = {(each.method, each.resource) for each in served.pages.router.routes()}
    return {f"{method} {resource.canonical}" for method, resource in found if resource and method != "HEAD"}


@pytest.mark.parametrize(
    "login", [{}, TOKENS, {"user_header": "X-User"}, {"oidc": OIDC, "public_url": "{address}"}]
)
async def test_every_route_is_in_the_table(tmp_path: Path, login: dict[str, Any]) -> None:
    async with serving_desk(tmp_path, **login) as served:
        assert routes(served) <= set(ROUTES)


async def test_each_route_serves_the_roles_that_it_is_for_and_nobody_without_a_login(tmp_path: Path) -> None:
    async with serving_desk(tmp_path, held(1), **TOKENS) as served:
        for_roles = {route for route in routes(served) if ROUTES[route] is not None}
        assert for_roles == READ | DECIDE | FIGURES | LEADING
        for route in for_roles:
            method, path = route.split()
            async with served.client() as stranger:
                answer = await stranger.request(method, path)
                assert (answer.status_code, answer.headers["location"]) == (303, "/login")
            for role, allowed in MAY.items():
                session, cookie = served.sessions.start("Kim", role)
                async with served.client() as browser:
                    browser.cookies.set(COOKIE, cookie)
                    data = {"form_token": served.sessions.form_token(session), "action": "next"}
                    async with browser.stream(
                        method, path, data=data if method == "POST" else None
                    ) as answer:
                        assert answer.status_code in ({200, 303} if route in allowed else {403}), (
                            role,
                            route,
                        )


async def test_a_route_that_the_table_lacks_is_for_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("streams.desk.desk_login.ROUTES")
    monkeypatch.setattr("streams.desk.desk_login.ROUTES", {}, raising=False)
    async with serving_desk(tmp_path) as served, served.client(LEAD) as lead:
        assert (await lead.get("/")).status_code == 403
        assert (await lead.get("/no-such-page")).status_code == 404


async def test_an_auditor_reads_answers_and_takes_none_from_a_reviewer(tmp_path: Path) -> None:
    async with (
        serving_desk(tmp_path, held(1), held(2), **TOKENS) as served,
        served.client(AUDITOR) as auditor,
        served.client(REVIEWER) as kim,
    ):
        assert "Answer 1." in (page := (await auditor.get("/")).text)
        assert 'action="/decide"' not in page
        assert "data-answer" not in page
        assert "Answer 1." in (page := (await kim.get("/")).text)
        assert 'action="/decide"' in page
        assert "Answer 1." in (await auditor.get("/?answer=v-1")).text
        assert "decided already" in (await auditor.get("/?answer=v-9")).text


@pytest.mark.parametrize("role", list(DeskRole))
async def test_a_token_gives_its_role(tmp_path: Path, role: DeskRole) -> None:
    token = {LEAD: TOKENS["lead_token"], REVIEWER: TOKENS["token"], AUDITOR: TOKENS["auditor_token"]}[role]
    async with serving_desk(tmp_path, **TOKENS) as served, served.client() as browser:
        assert (await browser.post("/login", data={"name": "Kim", "token": token})).status_code == 303
        assert served.sessions.read(browser.cookies[COOKIE]).role is role  # type: ignore[union-attr]
        assert (await browser.post("/login", data={"name": "\u202e", "token": token})).status_code == 400


def heading(answer: httpx2.Response) -> str:
    found = re.search(r"<h1>(.*)</h1>", answer.text)
    assert found, answer.text
    return found[1]


PROXY = {"user_header": "X-User", "role_header": "X-Groups", "roles": {"heads": "lead", "audit": "auditor"}}


async def test_a_proxy_names_person_and_roles(tmp_path: Path) -> None:
    async with serving_desk(tmp_path, **PROXY) as served:

        async def role(*headers: tuple[str, str]) -> str:
            async with served.client() as browser:
                answer = await browser.get("/", headers=list(headers))
                cookie = served.sessions.read(browser.cookies.get(COOKIE, ""))
            return cookie.role if cookie else f"{answer.status_code} {heading(answer)}"

        kim, audit = ("X-User", "Kim"), ("X-Groups", "staff, audit")
        assert await role(kim, audit) == "auditor"
        assert await role(kim, ("X-Groups", "audit,heads")) == "lead"
        assert await role(kim, ("X-Groups", "staff")) == "403 You have no role at this desk."
        assert await role(kim) == "403 You have no role at this desk."
        assert await role(audit) == "403 The proxy names no reviewer."
        # The first of two headers may be the client's own.
        assert await role(("X-User", "Boss"), kim, audit) == "403 The proxy names no reviewer."
        assert await role(kim, ("X-Groups", "heads"), audit) == "403 You have no role at this desk."
        async with served.client(X_User="Kim", X_Groups="heads") as browser:
            assert (await browser.get("/")).status_code == 200
            assert (await browser.get("/login")).status_code == 404
            changed = await browser.post("/decide", headers={"X-Groups": "audit"})
            assert changed.status_code == 403  # the role is that of the request, not of the cookie


async def test_a_session_ends_with_its_logout_though_its_cookie_was_copied(tmp_path: Path) -> None:
    async with serving_desk(tmp_path, **TOKENS) as served, served.client(REVIEWER) as kim:
        copied = kim.cookies[COOKIE]
        form_token = re.search(r'name="form_token" value="(.*?)"', (await kim.get("/blocked")).text)
        assert form_token
        assert (await kim.post("/logout", data={"form_token": "guess"})).status_code == 403
        out = await kim.post("/logout", data={"form_token": form_token[1]})
        assert out.headers["location"] == "/login"
        assert "Max-Age=0" in out.headers["set-cookie"]
        async with served.client() as thief:
            thief.cookies.set(COOKIE, copied)
            assert (await thief.get("/")).status_code == 303


def test_other_tokens_or_another_way_to_log_in_end_all_sessions() -> None:
    _, cookie = Sessions(KEY, DeskSettings(**TOKENS)).start("Kim", LEAD)
    assert Sessions(KEY, DeskSettings(**TOKENS)).read(cookie)
    for other in ({**TOKENS, "token": "t-another-one-1234"}, {}, {"user_header": "X-User"}):
        assert Sessions(KEY, DeskSettings(**other)).read(cookie) is None


def test_other_roles_end_all_sessions() -> None:
    _, cookie = Sessions(KEY, DeskSettings(**PROXY)).start("Kim", LEAD)
    assert Sessions(KEY, DeskSettings(**PROXY)).read(cookie)
    for other in ({"roles": {"heads": "reviewer"}}, {"role_header": "X-Role"}):
        assert Sessions(KEY, DeskSettings(**{**PROXY, **other})).read(cookie) is None


async def test_whom_a_proxy_names_has_one_answer_with_and_without_a_cookie(tmp_path: Path) -> None:
    async with serving_desk(tmp_path, held(1), held(2), **PROXY) as served:
        for _ in range(5):
            async with served.client() as forgetful:
                page = await forgetful.get("/", headers={"X-User": "Kim", "X-Groups": "heads"})
                assert "Answer 1." in page.text
        async with served.client() as other:
            page = await other.get("/", headers={"X-User": "Alex", "X-Groups": "heads"})
            assert "Answer 2." in page.text


def test_a_cookie_is_for_one_purpose() -> None:
    sessions = Sessions(KEY, DeskSettings())
    assert sessions.read(sessions.seal("login", "id", "lead", "Kim")) is None
    session, _ = sessions.start("Kim", REVIEWER)
    assert isinstance(session, ReviewerSession)
    promoted = sessions.seal("session", session.id, REVIEWER, "Kim").replace("cmV2aWV3ZXI", "bGVhZA")
    assert sessions.read(promoted) is None


async def test_cookies_are_strict_and_over_tls_are_sent_over_it_alone(tmp_path: Path) -> None:
    data = {"name": "Kim", "token": TOKENS["token"]}

    async def flags(served: ServedDesk, **headers: str) -> list[str]:
        async with served.client(**headers) as browser:
            answer: httpx2.Response = await browser.post("/login", data=data)
        cookie, *found = answer.headers["set-cookie"].split("; ")
        return [cookie.partition("=")[0], *sorted(found)]

    common = ["HttpOnly", "Max-Age=43200", "Path=/", "SameSite=Strict"]
    async with serving_desk(tmp_path, **TOKENS) as served:
        assert await flags(served) == ["truthgate_desk", *common]
        assert await flags(served, X_Forwarded_Proto="https") == ["__Host-truthgate_desk", *common, "Secure"]
    async with serving_desk(tmp_path, **TOKENS, public_url="https://desk.example.com/") as served:
        assert await flags(served) == ["__Host-truthgate_desk", *common, "Secure"]


async def test_pages_run_no_script_and_load_nothing_but_the_desks_own(tmp_path: Path) -> None:
    async with serving_desk(tmp_path, held(1)) as served, served.client(LEAD) as browser:
        for path in ("/", "/blocked", "/login", "/no-such-page", "/healthz"):
            answer = await browser.get(path)
            policy = dict(
                each.split(" ", 1) for each in answer.headers["content-security-policy"].split("; ")
            )
            assert policy["default-src"] == "'none'"
            assert "unsafe" not in answer.headers["content-security-policy"]
            assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
            assert policy["form-action"] == policy["script-src"] == policy["style-src"] == "'self'"
            assert not re.search(r"<script(?! src=\"/desk.js\")|<style|style=|\son\w+=", answer.text)


def test_the_role_with_the_most_rights_counts() -> None:
    roles = {"a": AUDITOR, "b": REVIEWER, "c": LEAD}
    assert role_from(["a", "x", "b"], roles) is REVIEWER
    assert role_from(["a", "c", "b"], roles) is LEAD
    assert role_from(["x"], roles) is role_from([], roles) is None


def test_a_claim_may_be_a_text_a_list_or_in_objects() -> None:
    claims = {
        "roles": "lead",
        "groups": ["a", 1, "b"],
        "realm": {"roles": ["c"]},
        "https://x.example/r": ["d"],
    }
    assert claim_values(claims, "roles") == ["lead"]
    assert claim_values(claims, "groups") == ["a", "b"]
    assert claim_values(claims, "realm.roles") == ["c"]
    assert claim_values(claims, "https://x.example/r") == ["d"]
    for missing in ("none", "roles.x", "realm.x.y", ""):
        assert claim_values(claims, missing) == []


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"token": TOKENS["token"], "user_header": "X-User"}, "choose one"),
        ({"token": TOKENS["token"], "lead_token": TOKENS["token"]}, "should differ"),
        ({"role_header": "X-Groups"}, "needs user_header"),
        ({"oidc": OIDC}, "needs public_url"),
        ({"oidc": {"issuer": "https://x.example"}}, "needs client_id"),
        ({"oidc": {**OIDC, "issuer": "http://login.example.com"}}, "https"),
        ({"oidc": {**OIDC, "scope": "profile"}}, "openid"),
        ({"roles": {"heads": "boss"}}, "lead"),
    ],
)
def test_settings_that_do_not_fit_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DeskSettings(**values)
