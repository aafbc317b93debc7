"""A login at an issuer in a real browser, which decides what cookies it sends and where forms may lead."""

from pathlib import Path

from playwright.async_api import expect

from tests.support.chromium import chromium, opened, shows_answer
from tests.support.desk import held
from tests.support.oidc_issuer import CLIENT, SECRET, oidc_issuer
from tests.support.served_desk import serving_desk

expect.set_options(timeout=30_000)


async def test_a_reviewer_comes_back_from_the_issuer_decides_and_logs_out(tmp_path: Path) -> None:
    # For a browser localhost and 127.0.0.1 are two sites.
    async with chromium() as browser, oidc_issuer("localhost") as issuer:
        oidc = {"issuer": issuer.url, "client_id": CLIENT, "client_secret": SECRET, "timeout_seconds": 30}
        async with (
            serving_desk(tmp_path, held(1), oidc=oidc, public_url="{address}") as served,
            opened(browser, f"{served.address}/") as watched,
        ):
            page = watched.page
            await page.get_by_role("link", name="Log in").click()
            await shows_answer(page, "Answer 1.")
            await expect(page.locator(".who")).to_have_text("Kim")
            assert any(each.startswith(f"{issuer.url}/authorize?") for each in watched.requests)
            cookies = {each["name"]: each for each in await page.context.cookies()}
            assert set(cookies) == {"truthgate_desk"}
            assert (cookies["truthgate_desk"]["sameSite"], cookies["truthgate_desk"]["httpOnly"]) == (
                "Strict",
                True,
            )

            await page.keyboard.press("s")
            await expect(page.locator(".empty")).to_have_text("No answer waits.")
            await page.get_by_role("button", name="Log out").click()
            await expect(page.get_by_role("heading")).to_have_text("You are logged out of the desk")
            link = page.get_by_role("link", name="Log out of your account too")
            assert str(await link.get_attribute("href")).startswith(f"{issuer.url}/logout?")
            await page.goto(f"{served.address}/")
            await expect(page).to_have_url(f"{served.address}/login")
            assert watched.complaints == []
