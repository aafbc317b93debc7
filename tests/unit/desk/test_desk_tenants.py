"""A person of one tenant has nothing to do with the answers of another, whatever he asks for."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from streams.desk.desk_state import DeskRecord
from streams.desk.sessions import ReviewerSession, Sessions
from streams.settings import DeskRole, DeskSettings
from tests.support.desk import held
from tests.support.oidc_issuer import CLIENT, SECRET, oidc_issuer
from tests.support.served_desk import KEY, ServedDesk, serving_desk

PROXY = {"user_header": "X-User", "role_header": "X-Role", "tenant_header": "X-Tenant", "tenant_key": "shop"}


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[ServedDesk]:
    """Serve a desk on which an answer of each of two shops waits, one is blocked, and one is of no shop."""
    verdicts = [
        held(1, metadata={"shop": "north"}),
        held(2, metadata={"shop": "south"}),
        held(3, metadata={"shop": "north"}, decision="blocked"),
        held(4),
    ]
    async with serving_desk(tmp_path, *verdicts, known_answers=True, **PROXY) as desk:
        yield desk


def of(served: ServedDesk, tenant: str, role: str = "reviewer", name: str = "Kim") -> httpx2.AsyncClient:
    return served.client(X_User=name, X_Role=role, X_Tenant=tenant)


async def own_form(browser: httpx2.AsyncClient) -> dict[str, str]:
    found = re.search(r'name="form_token" value="(.*?)"', (await browser.get("/filter")).text)
    assert found
    return {"form_token": found[1]}


@pytest.mark.parametrize("role", ["lead", "reviewer", "auditor"])
async def test_an_answer_of_another_tenant_is_not_there(served: ServedDesk, role: str) -> None:
    async with of(served, "south", role) as kim:
        assert "Answer 2." in (await kim.get("/")).text
        for verdict_id in ("v-1", "v-3", "v-4"):
            shown = await kim.get(f"/?answer={verdict_id}", follow_redirects=True)
            assert "decided already" in shown.text, verdict_id
            assert f"Answer {verdict_id[2:]}." not in shown.text
        assert "Question 3?" not in (await kim.get("/blocked")).text
        assert "north" not in (await kim.get("/filter")).text
        form = await own_form(kim)
        await kim.post("/filter", data={**form, "tenant": "north"})
        assert "Answer 2." in (await kim.get("/")).text
        for path in ("/lead", "/lead/policies", "/known-answers"):
            assert (await kim.get(path)).status_code == 403
        assert 'href="/lead"' not in (await kim.get("/")).text
        if role != "auditor":
            for path in ("/decide", "/pass"):
                data = {**form, "verdict_id": "v-1", "action": "send", "reason": "x"}
                assert (await kim.post(path, data=data)).headers["location"] == "/?notice=gone"
            async with kim.stream("GET", "/news?answer=v-1") as news:
                lines = news.aiter_lines()
                assert any(["Somebody else decides" in line async for line in lines_until(lines)])
        assert served.desk.counts().unpublished == 0


async def test_every_number_that_somebody_sees_is_of_his_own_tenant(served: ServedDesk) -> None:
    more = [held(n, metadata={"shop": "south"}, language="fy", reasons=("known_untrue",)) for n in (5, 6)]
    served.state.apply([DeskRecord(0, n, each) for n, each in enumerate(more, start=10)], {})

    def numbers(page: str) -> list[str]:
        return re.findall(r'<span id="(?:waiting|blocked)">(\d+)</span>', page)

    async with of(served, "north") as kim, of(served, "south", name="Alex") as alex:
        for browser, seen in ((kim, ["1", "1"]), (alex, ["3", "0"])):
            assert numbers((await browser.get("/")).text) == seen
            assert numbers((await browser.get("/filter")).text) == seen
            async with browser.stream("GET", "/news?answer=v-1") as news:
                told = "".join([line async for line in lines_until(news.aiter_lines())])
                assert numbers(told) == seen
        assert "fy" not in re.findall(r'<option value="(.*?)"', (await kim.get("/filter")).text)
        assert "known_untrue (" not in (page := (await kim.get("/filter")).text), page
        assert "fy" in re.findall(r'<option value="(.*?)"', (await alex.get("/filter")).text)
        form = {**await own_form(alex), "verdict_id": "v-2", "action": "send"}
        await alex.get("/?answer=v-2")
        assert (await alex.post("/decide", data=form)).headers["location"] == "/"
        assert numbers((await alex.get("/filter")).text) == ["2", "0"]
        assert numbers((await kim.get("/filter")).text) == ["1", "1"]
    assert served.desk.counts().waiting == 4


async def lines_until(lines: AsyncIterator[str]) -> AsyncIterator[str]:
    """Read one event."""
    async for line in lines:
        yield line
        if not line:
            break


async def test_an_answer_that_is_passed_on_to_somebody_of_another_tenant_does_not_come_there(
    served: ServedDesk,
) -> None:
    async with of(served, "north", "lead") as kim, of(served, "south", "lead", "Alex") as alex:
        assert "Answer 1." in (await kim.get("/")).text
        data = {**await own_form(kim), "verdict_id": "v-1", "reason": "Secret.", "reviewer": "Alex"}
        assert (await kim.post("/pass", data=data)).headers["location"] == "/"
        assert "Answer 2." in (page := (await alex.get("/")).text)
        assert "Secret" not in page
        assert (await alex.get("/?answer=v-1")).headers["location"] == "/?notice=gone"


async def test_who_has_no_tenant_is_refused_and_another_tenant_is_another_session(served: ServedDesk) -> None:
    async with served.client(X_User="Kim", X_Role="lead") as kim:
        refused = await kim.get("/")
        assert refused.status_code == 403
        assert "You have no tenant at this desk." in refused.text
        twice = [("X-Tenant", "north"), ("X-Tenant", "south")]
        assert (await kim.get("/", headers=twice)).status_code == 403
    async with of(served, "south") as kim:
        assert "Answer 2." in (await kim.get("/")).text
        # The cookie is of the other tenant, which the proxy no longer names.
        assert "Answer 1." in (await kim.get("/", headers={"X-Tenant": "north"})).text


async def test_an_issuer_names_the_tenant(tmp_path: Path) -> None:
    async with oidc_issuer() as issuer:
        oidc = {
            "issuer": issuer.url,
            "client_id": CLIENT,
            "client_secret": SECRET,
            "tenant_claim": "org.shop",
        }
        verdicts = [held(n, metadata={"shop": shop}) for n, shop in enumerate(("north", "south"))]
        async with serving_desk(
            tmp_path, *verdicts, public_url="{address}", oidc=oidc, tenant_key="shop"
        ) as served:

            async def log_in(browser: httpx2.AsyncClient) -> httpx2.Response:
                begun = await browser.get("/oidc/login")
                async with httpx2.AsyncClient(trust_env=False) as elsewhere:
                    back = await elsewhere.get(begun.headers["location"])
                return await browser.get(back.headers["location"])

            async with served.client() as kim:
                refused = await log_in(kim)
                assert refused.status_code == 403
                assert "you have no tenant at this desk" in refused.text
                issuer.claims |= {"org": {"shop": "south"}}
                assert (await log_in(kim)).status_code == 200
                assert "Answer 1." in (await kim.get("/")).text
                assert "Answer 0." not in (await kim.get("/?answer=v-0", follow_redirects=True)).text


def test_the_tenant_is_in_the_cookie_and_cannot_be_changed() -> None:
    settings = DeskSettings(**PROXY)
    sessions = Sessions(KEY, settings)
    session, cookie = sessions.start("Kim", DeskRole.LEAD, "south")
    assert sessions.read(cookie) == session == ReviewerSession(session.id, "Kim", DeskRole.LEAD, "south")
    for forged in (cookie.replace("c291dGg", "bm9ydGg"), cookie.replace(".c291dGg", ".")):
        assert forged != cookie
        assert sessions.read(forged) is None
    # A desk that asked nobody for a tenant gave everybody all of them.
    before = DeskSettings(user_header="X-User", tenant_key="shop")
    assert sessions.read(Sessions(KEY, before).start("Kim", DeskRole.LEAD)[1]) is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"tenant_header": "X-Tenant", "tenant_key": "shop"}, "tenant_header needs user_header"),
        ({"tenant_header": "X-Tenant", "user_header": "X-User"}, "need tenant_key"),
        ({"oidc": {"tenant_claim": "shop"}}, "need tenant_key"),
    ],
)
def test_settings_of_tenants_that_do_not_fit_are_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DeskSettings(**values)  # type: ignore[arg-type]
