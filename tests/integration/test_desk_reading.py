"""What a reviewer has in sight, and how few keys he needs, in a real browser."""

import re
from dataclasses import replace
from datetime import timedelta, timezone
from pathlib import Path

from aiohttp import web
from playwright.async_api import Page, expect

from schemas import Verdict, VerdictPassage, VerdictSpan
from streams.embedded.broker_properties import LOOPBACK
from tests.support.chromium import chromium, opened, shows_answer
from tests.support.desk import held
from tests.support.pages import with_claims
from tests.support.ports import hold_port, port_of
from tests.support.served_desk import serving_desk

expect.set_options(timeout=30_000)
TABLE = "| | Plus | Household |\n|---|---|---|\n| Monthly fee | 9.50 | 17.50 |"


def an_answer() -> Verdict:
    answer = "You can wash today. It costs 9.50 a month. It is blue. " + "The rest is said. " * 8
    verdict = with_claims(
        held(1, answer=answer, missing_context_ids=("d-9",)),
        ("similar", "You can wash today."),
        ("contradicted", "It costs 9.50 a month."),
        ("not_found", "It is blue."),
        ("supported", "The rest is said."),
        passage=TABLE,
    )
    similar = replace(verdict.claims[0], lacking=(VerdictSpan(8, 12),))
    context = (VerdictPassage("d-1", "v1", title="Prices", url="https://help.example/prices"),)
    return replace(verdict, claims=(similar, *verdict.claims[1:]), context=context)


async def log_in(page: Page) -> None:
    await page.keyboard.type("Kim")
    await page.keyboard.press("Enter")
    await expect(page.locator(".who")).to_have_text("Kim")


async def chosen(page: Page) -> str:
    found: str = await page.evaluate("getSelection().toString()")
    return found


async def test_marked_words_are_chosen_by_one_key_each(tmp_path: Path) -> None:
    async with (
        chromium() as browser,
        serving_desk(tmp_path, an_answer()) as served,
        opened(browser, served.address) as watched,
    ):
        page = watched.page
        await log_in(page)
        await page.keyboard.press("w")
        await expect(page.locator("[data-kind=number]")).to_be_in_viewport()
        for key, words in (
            ("ArrowDown", "wash"),
            ("ArrowDown", "It costs 9.50 a month."),
            ("ArrowDown", "It is blue."),
            ("ArrowDown", "wash"),
            ("ArrowUp", "It is blue."),
        ):
            await page.keyboard.press(key)
            assert await chosen(page) == words
        await page.keyboard.press("h")
        await expect(page.locator("#wrong")).to_have_value("hallucination: It is blue.\n")
        await page.keyboard.press("e")  # another key means what it always means
        await expect(page.locator("[name=text]")).to_be_focused()
        await expect(page.locator("#wrong")).to_have_value("hallucination: It is blue.\n")
        await page.keyboard.press("Escape")
        for key in ("w", "ArrowUp", "n"):
            await page.keyboard.press(key)
        marked = "hallucination: It is blue.\nnumber: It costs 9.50 a month.\n"
        await expect(page.locator("#wrong")).to_have_value(marked)
        assert watched.complaints == []


async def test_times_are_those_of_the_readers_place_and_utc_is_in_reach(tmp_path: Path) -> None:
    verdict = an_answer()
    at = verdict.produced_at
    there = at.astimezone(timezone(timedelta(hours=5, minutes=30)))
    async with chromium() as browser, serving_desk(tmp_path, verdict) as served:
        page = await browser.new_page(timezone_id="Asia/Kolkata", locale="en")
        await page.goto(served.address)
        await log_in(page)
        time = page.locator("time").first
        await expect(time).to_have_text(re.compile(f"{there:%b} {there.day}, .*:{there:%M:%S}"))
        await expect(time).to_have_attribute("title", f"{at:%Y-%m-%d %H:%M:%S} UTC")


async def test_the_evidence_is_in_sight_beside_the_answer_and_on_a_phone_before_the_form(
    tmp_path: Path,
) -> None:
    async with (
        chromium() as browser,
        serving_desk(tmp_path, an_answer()) as served,
        opened(browser, served.address) as watched,
    ):
        page = watched.page
        await log_in(page)
        for number in (1, 2, 3):
            await expect(page.locator(f"#claim-{number}")).to_be_in_viewport()
        await expect(page.locator("#claim-2 td").nth(2)).to_have_text("Household")
        await expect(page.locator("#claim-4")).to_be_hidden()  # supported: not what is looked for
        link = page.locator("#claim-2 a")
        await expect(link).to_have_attribute("href", "https://help.example/prices#:~:text=Plus")
        await expect(page.locator("section:has(#documents) li")).to_have_text(
            ["Prices", "d-9 truthgate does not have it"]
        )
        assert await page.locator(".ref").count() == 3  # one for each claim that is in doubt
        await page.set_viewport_size({"width": 390, "height": 844})
        places = "[...document.querySelectorAll('#words, #claims, fieldset')].map(e => e.offsetTop)"
        words, claims, form = (await page.evaluate(places))[:3]
        assert words < claims < form
        for offset in (0, 10_000):
            await page.evaluate(f"scrollTo(0, {offset})")
            await expect(page.locator("[data-key=s]")).to_be_in_viewport(ratio=1)
            await expect(page.locator("[data-key=r]")).to_be_in_viewport(ratio=1)


async def test_blocked_answers_are_decided_one_after_the_other_from_their_list(tmp_path: Path) -> None:
    blocked = [held(number, decision="blocked") for number in (1, 2, 3)]
    async with (
        chromium() as browser,
        serving_desk(tmp_path, *blocked, held(4)) as served,
        opened(browser, served.address) as watched,
    ):
        page = watched.page
        await log_in(page)
        await page.goto(f"{served.address}/blocked")
        for number, key in ((3, "r"), (2, "n"), (2, "r")):
            await page.keyboard.press("Enter")
            await shows_answer(page, f"Answer {number}.")
            await expect(page.locator("#why")).to_have_text("Why it is blocked")
            await page.keyboard.press(key)
            await expect(page.get_by_role("heading", name="Blocked answers")).to_be_visible()
        await expect(page.locator(".blocked li")).to_have_count(1)


async def test_a_decision_and_its_undoing_are_in_sight_though_the_form_is_longer_than_the_screen(
    tmp_path: Path,
) -> None:
    async with (
        chromium() as browser,
        serving_desk(tmp_path, held(1), held(2), undo_seconds=60) as served,
        opened(browser, served.address) as watched,
    ):
        page = watched.page
        await page.set_viewport_size({"width": 1280, "height": 600})
        await log_in(page)
        await shows_answer(page, "Answer 1.")
        await page.keyboard.press("s")
        await shows_answer(page, "Answer 2.")
        await expect(page.locator(".passing")).not_to_be_in_viewport(ratio=1)
        await expect(page.locator(".decisions li")).to_be_in_viewport(ratio=1)
        await page.locator("[data-key=u]").click()
        await shows_answer(page, "Answer 1.")


PASSAGE = "We keep **bags that** nobody collects for 60 days & then give them to a shop of the city."
HELP_PAGE = (
    "<p>x</p>" * 300
    + "<p id=it>We keep <b>bags that</b> nobody collects for 60 days &amp; then give them to a shop "
    + "of the city.</p>"
    + "<p>y</p>" * 300
)


async def test_a_link_opens_the_document_at_the_passage(tmp_path: Path) -> None:
    async def show(_: web.Request) -> web.Response:
        return web.Response(text=HELP_PAGE, content_type="text/html")

    pages = web.Application()
    pages.router.add_get("/help", show)
    runner = web.AppRunner(pages)
    await runner.setup()
    with hold_port() as port:
        url = f"http://127.0.0.1:{port_of(port)}/help"
        await web.TCPSite(runner, LOOPBACK, port_of(port), reuse_address=True).start()
        verdict = with_claims(held(1), ("similar", "Answer"), passage=PASSAGE)
        context = (VerdictPassage("d-1", "v1", title="Help", url=url),)
        async with (
            chromium() as browser,
            serving_desk(tmp_path, replace(verdict, context=context)) as served,
            opened(browser, served.address) as watched,
        ):
            await log_in(watched.page)
            async with watched.page.context.expect_page() as other:
                await watched.page.locator("#claim-1 a").click()
            await expect((await other.value).locator("#it")).to_be_in_viewport()
        await runner.cleanup()


async def test_on_a_phone_the_last_decision_can_be_undone_where_one_is_after_a_tap(tmp_path: Path) -> None:
    async with (
        chromium() as browser,
        serving_desk(tmp_path, *(held(number) for number in (1, 2, 3)), undo_seconds=60) as served,
        opened(browser, served.address) as watched,
    ):
        page = watched.page
        await log_in(page)
        await page.set_viewport_size({"width": 390, "height": 844})
        for number in (1, 2):
            await shows_answer(page, f"Answer {number}.")
            await page.wait_for_selector("body[data-keys=ready]")
            await page.locator("[data-key=s]").click()
        await shows_answer(page, "Answer 3.")
        undo = page.locator("#decided button:visible")
        await expect(undo).to_have_count(1)
        await expect(undo).to_be_in_viewport(ratio=1)
        assert await page.evaluate("document.documentElement.scrollWidth") <= 390
        await undo.click()
        await shows_answer(page, "Answer 2.")
