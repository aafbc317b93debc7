"""The review desk in a real browser, by keyboard alone."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from streams.kafka.topics import Topics
from streams.settings import Settings
from tests.support.chromium import chromium, opened, shows_answer
from tests.support.desk import DeskProcess, held, publish, reviews
from tests.support.pages import with_claims

expect.set_options(timeout=30_000)
HOSTILE = "<img src=x onerror=\"document.title='owned'\">\u202e"


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as started:
        yield started


async def mark_wrong_words(page: Page) -> None:
    """Mark a number of the first answer, label it and comment on it."""
    await page.keyboard.press("w")
    for key in (*["ArrowRight"] * 5, "Shift+ArrowRight"):
        await page.keyboard.press(key)
    await page.keyboard.press("n")
    await expect(page.locator("#wrong")).to_have_value("number: 50 euro\n")
    await page.keyboard.press("Escape")
    await page.keyboard.press("f")
    await page.keyboard.press("c")
    await page.keyboard.type("It is 40.")
    await page.keyboard.press("Escape")


async def test_ten_answers_are_decided_by_keyboard_alone(
    topics: Topics, settings: Settings, tmp_path: Path, browser: Browser
) -> None:
    answer = f"Click Save. It costs 50 euro. It is blue. {HOSTILE}"
    marked = with_claims(
        held(1, answer=answer),
        ("supported", "Click Save."),
        ("contradicted", "It costs 50 euro."),
        ("not_found", "It is blue."),
        passage=f"It costs 40 euro. {HOSTILE}",
    )
    with DeskProcess(settings, tmp_path, undo_seconds=5) as desk:
        desk.wait_ready()
        async with opened(browser, desk.address) as watched:
            page = watched.page
            await page.keyboard.type("Kim")
            await page.keyboard.press("Enter")
            await expect(page.locator(".empty")).to_have_text("No answer waits.")
            await publish(settings, [marked])  # comes without a reload
            await expect(page.locator("mark.contradicted")).to_contain_text("It costs 50 euro.")
            await expect(page.locator("mark.not_found")).to_contain_text("It is blue.")
            await expect(page.locator("#claim-2 blockquote")).to_contain_text("It costs 40 euro.")
            await expect(page.locator(".answer")).to_contain_text("⟨U+202E⟩")
            await publish(settings, [held(number) for number in range(2, 11)])
            await expect(page.locator("#waiting")).to_have_text("10")
            await page.screenshot(path=tmp_path / "desk.png", full_page=True)

            await mark_wrong_words(page)
            await page.keyboard.press("2")
            await page.keyboard.press("r")
            await shows_answer(page, "Answer 2.")
            await page.keyboard.press("s")
            await shows_answer(page, "Answer 3.")
            await page.keyboard.press("u")
            await shows_answer(page, "Answer 2.")
            await page.keyboard.press("s")
            await shows_answer(page, "Answer 3.")
            await page.get_by_label("Comment").press("Enter")  # decides nothing
            await page.keyboard.press("Escape")
            await page.keyboard.press("e")
            await page.keyboard.press("Control+A")
            await page.keyboard.type("Corrected: s, r and n are letters.")
            await page.keyboard.press("Control+Enter")
            for number in range(4, 11):
                await shows_answer(page, f"Answer {number}.")
                await page.keyboard.press("s")
            await expect(page.locator(".empty")).to_have_text("No answer waits.")
            await expect(page.locator(".decisions")).to_contain_text("can be undone")
            async with asyncio.timeout(20):
                while len(found := await reviews(settings)) < 10:  # noqa: ASYNC110 - another process publishes
                    await asyncio.sleep(0.1)
            await expect(page.locator("[data-status=undoable], [data-status=publishing]")).to_have_count(0)
            assert await page.title() != "owned"
        assert watched.complaints == []
        assert all(request.startswith(desk.address) for request in watched.requests)
    (first,) = (each for each in found if each.verdict_id == "v-1")
    assert (first.label, first.comment) == ("FALSE", "It is 40.")
    assert [(each.kind, each.text) for each in first.wrong_spans] == [("number", "50 euro")]
    decided = {each.verdict_id: (each.outcome, each.rating, each.text) for each in found}
    assert decided == {
        "v-1": ("reject", 2, None),
        "v-2": ("send", None, "Answer 2."),
        "v-3": ("send_edited", None, "Corrected: s, r and n are letters."),
        **{f"v-{number}": ("send", None, f"Answer {number}.") for number in range(4, 11)},
    }


async def test_a_key_pressed_twice_decides_nothing_about_the_answer_that_comes_next(
    topics: Topics, settings: Settings, tmp_path: Path, browser: Browser
) -> None:
    await publish(settings, [held(1)])
    with DeskProcess(settings, tmp_path) as desk:
        desk.wait_ready()
        async with opened(browser, desk.address) as watched:
            page = watched.page
            await page.clock.install(time=0)
            await page.clock.pause_at(1000)
            await page.keyboard.type("Kim")
            await page.keyboard.press("Enter")
            await expect(page.locator(".answer")).to_have_text("Answer 1.")
            await page.wait_for_load_state()
            await page.keyboard.press("s")  # came too soon after the page
            await page.clock.run_for(300)
            await page.keyboard.press("r")
            await expect(page.locator(".empty")).to_be_visible()
    assert [(each.verdict_id, each.outcome) for each in await reviews(settings)] == [("v-1", "reject")]


async def test_who_writes_for_long_keeps_the_answer(
    topics: Topics, settings: Settings, tmp_path: Path, browser: Browser
) -> None:
    await publish(settings, [held(1)])
    with DeskProcess(settings, tmp_path, lease_seconds=10) as desk:
        desk.wait_ready()
        async with opened(browser, desk.address) as kim, opened(browser, desk.address) as alex:
            await kim.page.clock.install(time=0)
            await kim.page.clock.pause_at(1_000)
            for each, name in ((kim, "Kim"), (alex, "Alex")):
                await each.page.keyboard.type(name)
                await each.page.keyboard.press("Enter")
                await expect(each.page.locator(".answer" if each is kim else ".empty")).to_be_visible()
            began = time.monotonic()
            while time.monotonic() - began < 12:  # longer than the lease
                await kim.page.clock.run_for(31_000)
                async with kim.page.expect_response("**/?answer=v-1"):
                    await kim.page.locator("[name=text]").press("x")
                await alex.page.reload()
                await expect(alex.page.locator(".empty")).to_be_visible()
            assert kim.complaints == alex.complaints == []


async def test_what_was_entered_outlives_a_reload_and_an_undo(
    topics: Topics, settings: Settings, tmp_path: Path, browser: Browser
) -> None:
    await publish(settings, [held(1)])
    with DeskProcess(settings, tmp_path, undo_seconds=300) as desk:
        desk.wait_ready()
        async with opened(browser, desk.address) as watched:
            page = watched.page

            async def shows_what_was_entered() -> None:
                await shows_answer(page, "Answer 1.")
                await expect(page.locator("[name=text]")).to_have_value("Corrected.")
                await expect(page.get_by_role("radio", name="2")).to_be_checked()
                await expect(page.locator("[name=comment]")).to_have_value("It was wrong.")

            await page.keyboard.type("Kim")
            await page.keyboard.press("Enter")
            await shows_answer(page, "Answer 1.")
            await page.keyboard.press("2")
            await page.locator("[name=comment]").fill("It was wrong.")
            await page.locator("[name=text]").fill("Corrected.")
            await page.reload()
            await shows_what_was_entered()
            await page.locator("[name=text]").press("Control+Enter")
            await expect(page.locator(".empty")).to_be_visible()
            await page.keyboard.press("u")
            await shows_what_was_entered()
            await page.keyboard.press("s")  # which would send the mistake
            await expect(page.get_by_text("The text was edited.")).to_be_visible()
            await shows_what_was_entered()
            await page.get_by_role("button", name="Restore the answer").click()
            await expect(page.locator("[name=text]")).to_have_value("Answer 1.")
            await page.reload()
            await shows_answer(page, "Answer 1.")
            await expect(page.locator("[name=text]")).to_have_value("Answer 1.")
            await page.get_by_role("button", name="Log out").click()
            await expect(page.locator("[name=name]")).to_be_visible()
            assert await page.evaluate("sessionStorage.length") == 0
            assert watched.complaints == []


async def test_a_blocked_answer_that_was_written_about_is_audited_by_keyboard_later(
    topics: Topics, settings: Settings, tmp_path: Path, browser: Browser
) -> None:
    await publish(settings, [held(1, decision="blocked")])
    with DeskProcess(settings, tmp_path, audit_share=1) as desk:
        desk.wait_ready()
        async with opened(browser, desk.address) as watched:
            page = watched.page
            await page.keyboard.type("Kim")
            await page.keyboard.press("Enter")
            await expect(page.locator(".who")).to_have_text("Kim")  # else the next page ends the login
            await page.goto(f"{desk.address}?answer=v-1&list=blocked")
            await page.locator("[name=comment]").fill("I wonder.")
            await page.goto(desk.address)
            await shows_answer(page, "Answer 1.")
            await expect(page.locator("[name=text]")).to_have_count(0)
            await expect(page.locator("[name=comment]")).to_have_value("I wonder.")
            await page.wait_for_selector("body[data-keys=ready]")
            await page.keyboard.press("4")
            await page.keyboard.press("o")
            await expect(page.locator(".empty")).to_be_visible()
            assert watched.complaints == []


async def test_an_answer_is_passed_on_by_keyboard_to_another_reviewer_who_sees_why(
    topics: Topics, settings: Settings, tmp_path: Path, browser: Browser
) -> None:
    await publish(settings, [held(1), held(2)])
    with DeskProcess(settings, tmp_path) as desk:
        desk.wait_ready()
        async with opened(browser, desk.address) as kim, opened(browser, desk.address) as alex:
            await kim.page.keyboard.type("Kim")
            await kim.page.keyboard.press("Enter")
            await shows_answer(kim.page, "Answer 1.")
            await kim.page.keyboard.press("p")
            await kim.page.keyboard.press("Enter")  # without a reason: what is typed next must not be keys
            await kim.page.keyboard.type(f"Is this legal? snr {HOSTILE}")
            await kim.page.keyboard.press("Enter")
            await shows_answer(kim.page, "Answer 2.")
            await alex.page.keyboard.type("Alex")
            await alex.page.keyboard.press("Enter")
            await shows_answer(alex.page, "Answer 1.")
            await expect(alex.page.locator(".passed")).to_contain_text(
                "Kim passed this on: Is this legal? snr"
            )
            await alex.page.screenshot(path=tmp_path / "passed.png", full_page=True)
            await alex.page.keyboard.press("s")
            await expect(alex.page.locator(".empty")).to_be_visible()
            assert kim.complaints == alex.complaints == []
    assert [each.verdict_id for each in await reviews(settings)] == ["v-1"]
