"""The desk at an issuer that keeps to OpenID Connect, and at one that does not."""

import re
import time
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from streams.desk.sessions import COOKIE
from tests.support.oidc_issuer import CLIENT, SECRET, Fault, OidcIssuer, oidc_issuer
from tests.support.ports import NOBODY
from tests.support.served_desk import ServedDesk, serving_desk

LOGIN_COOKIE = "truthgate_desk_login"


@pytest.fixture
async def issuer() -> AsyncIterator[OidcIssuer]:
    async with oidc_issuer() as started:
        yield started


@pytest.fixture
async def served(issuer: OidcIssuer, tmp_path: Path) -> AsyncIterator[ServedDesk]:
    oidc = {"issuer": issuer.url, "client_id": CLIENT, "client_secret": SECRET, "role_claim": "realm.roles"}
    values = {"oidc": {**oidc, "timeout_seconds": 3}, "roles": {"desk-lead": "lead", "audit": "auditor"}}
    async with serving_desk(
        tmp_path, public_url="{address}", login_attempts_per_minute=100, **values
    ) as desk:
        yield desk


async def to_the_issuer(browser: httpx2.AsyncClient) -> httpx2.Response:
    """Begin a login, and return what the issuer answers: a redirect back, with a code."""
    begun = await browser.get("/oidc/login")
    assert begun.status_code == 303, begun.text
    async with httpx2.AsyncClient(trust_env=False) as elsewhere:
        return await elsewhere.get(begun.headers["location"])


async def log_in(browser: httpx2.AsyncClient) -> httpx2.Response:
    back = await to_the_issuer(browser)
    return await browser.get(back.headers["location"])


def problem(answer: httpx2.Response) -> str:
    assert answer.status_code == 403
    assert COOKIE not in answer.cookies
    found = re.search(r"The login failed: (.*)\.</p>", answer.text)
    assert found, answer.text
    return found[1]


async def test_a_person_logs_in_reads_and_logs_out(served: ServedDesk, issuer: OidcIssuer) -> None:
    async with served.client() as browser:
        assert (await browser.get("/")).headers["location"] == "/login"
        assert 'href="/oidc/login"' in (await browser.get("/login")).text
        done = await log_in(browser)
        assert done.status_code == 200
        assert 'http-equiv="refresh" content="0; url=/"' in done.text
        assert LOGIN_COOKIE not in browser.cookies
        page = (await browser.get("/")).text
        assert "Kim" in page
        session = served.sessions.read(browser.cookies[COOKIE])
        assert session is not None
        assert session.role == "lead"
        out = await browser.post("/logout", data={"form_token": served.sessions.form_token(session)})
        found = re.search(rf'href="({re.escape(issuer.url)}/logout\?[^"]*)"', out.text)
        assert found
        query = parse_qs(urlsplit(found[1].replace("&amp;", "&")).query)
        assert query == {"client_id": [CLIENT], "post_logout_redirect_uri": [f"{served.address}/login"]}
        assert (await browser.get("/")).headers["location"] == "/login"


async def test_names_and_secrets_stay_out_of_the_address_and_tokens_out_of_cookies(
    served: ServedDesk,
) -> None:
    async with served.client() as browser:
        begun = await browser.get("/oidc/login")
        asked = parse_qs(urlsplit(begun.headers["location"]).query)
        assert set(asked) == {
            *("response_type", "client_id", "redirect_uri", "scope", "state", "nonce"),
            *("code_challenge", "code_challenge_method"),
        }
        assert "SameSite=Lax" in begun.headers["set-cookie"]
        assert "HttpOnly" in begun.headers["set-cookie"]
        again = parse_qs(urlsplit((await browser.get("/oidc/login")).headers["location"]).query)
        for secret in ("state", "nonce", "code_challenge"):
            assert asked[secret] != again[secret]


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"realm": {"roles": ["staff"]}}, "you have no role at this desk"),
        ({"realm": None}, "you have no role at this desk"),
        ({"preferred_username": None}, "the issuer names no reviewer (preferred_username)"),
        ({"preferred_username": "a\u202eb"}, "the issuer names no reviewer (preferred_username)"),
        ({"preferred_username": 5}, "the issuer names no reviewer (preferred_username)"),
    ],
)
async def test_who_has_no_name_or_no_role_is_refused(
    served: ServedDesk, issuer: OidcIssuer, claims: dict[str, object], reason: str
) -> None:
    issuer.claims |= claims
    async with served.client() as browser:
        assert problem(await log_in(browser)) == reason
        assert (await browser.get("/")).status_code == 303


REFUSED = "the issuer&#39;s answer is refused"
UNREADABLE = "the issuer&#39;s answer cannot be read"
NOW = int(time.time())


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault(claims={"nonce": "another"}), f"{REFUSED} (invalid_claim)"),
        (Fault(claims={"nonce": None}), f"{REFUSED} (missing_claim)"),
        (Fault(claims={"exp": NOW - 120}), f"{REFUSED} (expired_token)"),
        (Fault(claims={"exp": None}), f"{REFUSED} (missing_claim)"),
        (Fault(claims={"iat": NOW + 3600}), f"{REFUSED} (invalid_claim)"),
        (Fault(claims={"nbf": NOW + 3600}), f"{REFUSED} (invalid_claim)"),
        (Fault(claims={"iss": "https://evil.example"}), f"{REFUSED} (invalid_claim)"),
        (Fault(claims={"aud": "another-client"}), f"{REFUSED} (invalid_claim)"),
        (Fault(claims={"aud": [CLIENT, "another"], "azp": "another"}), f"{REFUSED} (invalid_claim)"),
        (Fault(claims={"at_hash": "AAAA"}), f"{REFUSED} (invalid_claim)"),
        (Fault(algorithm="none"), f"{REFUSED} (unsupported_algorithm)"),
        (Fault(algorithm="HS256"), f"{REFUSED} (unsupported_algorithm)"),
        (Fault(own_key=False), f"{REFUSED} (bad_signature)"),
        (Fault(broken_at="/keys"), f"{UNREADABLE} (JSONDecodeError)"),
        (Fault(broken_at="/token"), f"{UNREADABLE} (ValueError)"),
        (Fault(hangs_at="/token"), "the issuer does not answer in time"),
        (Fault(hangs_at="/keys"), "the issuer does not answer in time"),
    ],
)
async def test_what_an_issuer_must_not_do_logs_nobody_in(
    served: ServedDesk, issuer: OidcIssuer, fault: Fault, reason: str
) -> None:
    issuer.fault = fault
    async with served.client() as browser:
        assert problem(await log_in(browser)) == reason
        assert (await browser.get("/")).status_code == 303


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault(hangs_at="/.well-known/openid-configuration"), "the issuer does not answer in time"),
        (Fault(broken_at="/.well-known/openid-configuration"), f"{UNREADABLE} (JSONDecodeError)"),
        (
            Fault(metadata={"issuer": "https://evil.example"}),
            "the issuer has another name than desk.oidc.issuer",
        ),
        (Fault(metadata={"token_endpoint": None}), "an endpoint of the issuer is not https"),
        (Fault(metadata={"jwks_uri": "file:///etc/passwd"}), "an endpoint of the issuer is not https"),
    ],
)
async def test_an_issuer_that_describes_itself_wrong_is_not_gone_to(
    served: ServedDesk, issuer: OidcIssuer, fault: Fault, reason: str
) -> None:
    issuer.fault = fault
    async with served.client() as browser:
        assert problem(await browser.get("/oidc/login")) == reason
        issuer.fault = Fault()
        assert (await log_in(browser)).status_code == 200


async def test_an_issuer_that_is_down_leaves_the_desk_up(tmp_path: Path) -> None:
    oidc = {"issuer": f"http://{NOBODY}", "client_id": CLIENT}
    async with (
        serving_desk(tmp_path, oidc=oidc, public_url="{address}") as served,
        served.client() as browser,
    ):
        reason = problem(await browser.get("/oidc/login"))
        assert reason == "the issuer cannot be reached (ConnectError)"
        assert (await browser.get("/login")).status_code == 200


async def test_a_forged_state_and_a_login_of_another_browser_are_refused(served: ServedDesk) -> None:
    async with served.client() as kim, served.client() as thief:
        address = (await to_the_issuer(kim)).headers["location"]
        # His browser began no login, or another one: a code that comes with an address is of no use.
        assert problem(await thief.get(address)) == "this login was not started here, or too long ago"
        await thief.get("/oidc/login")
        assert problem(await thief.get(address)) == "the state is not that of this login"
        forged = re.sub(r"state=[^&]*", "state=guess", address)
        cookies = dict(kim.cookies)
        assert problem(await kim.get(forged)) == "the state is not that of this login"
        # A refused login is over, and a cookie of the desk's own is not one of a login.
        assert problem(await kim.get(address)) == "this login was not started here, or too long ago"
        kim.cookies.set(LOGIN_COOKIE, cookies[LOGIN_COOKIE][:-1] + "x")
        assert problem(await kim.get(address)) == "this login was not started here, or too long ago"


async def test_a_code_is_good_once_and_for_its_own_login(served: ServedDesk) -> None:
    async with served.client() as kim:
        address = (await to_the_issuer(kim)).headers["location"]
        cookie = kim.cookies[LOGIN_COOKIE]
        assert (await kim.get(address)).status_code == 200
    async with served.client() as thief:
        thief.cookies.set(LOGIN_COOKIE, cookie)  # even with everything that the browser had
        assert problem(await thief.get(address)) == f"{REFUSED} (invalid_grant)"
    async with served.client() as kim, served.client() as thief:
        stolen = parse_qs(urlsplit((await to_the_issuer(kim)).headers["location"]).query)["code"][0]
        own = (await to_the_issuer(thief)).headers["location"]
        injected = re.sub(r"code=[^&]*", f"code={stolen}", own)
        assert problem(await thief.get(injected)) == f"{REFUSED} (invalid_grant)"  # PKCE


async def test_an_answer_of_another_issuer_or_without_a_code_is_refused(served: ServedDesk) -> None:
    for changed, reason in (
        ("iss=https%3A%2F%2Fevil.example", "another issuer answered"),
        ("error=access_denied", "the issuer gave no code"),
    ):
        async with served.client() as kim:
            address = (await to_the_issuer(kim)).headers["location"]
            name = "iss" if changed.startswith("iss") else "code"
            assert problem(await kim.get(re.sub(rf"{name}=[^&]*", changed, address))) == reason


async def test_no_token_or_name_logs_in_beside_the_issuer(served: ServedDesk) -> None:
    async with served.client() as browser:
        assert (await browser.post("/login", data={"name": "Kim", "token": ""})).status_code == 405
