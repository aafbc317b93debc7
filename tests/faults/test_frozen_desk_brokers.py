"""A reviewer in a real browser whose brokers freeze for half a minute in the middle of a decision."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import Page, expect

from streams.embedded import EmbeddedKafka
from streams.kafka.topics import create_topics
from tests.support.brokers import isolated_settings, unique_prefix
from tests.support.chromium import chromium, opened, shows_answer
from tests.support.desk import DeskProcess, held, publish, reviews

pytestmark = pytest.mark.timeout(300)
expect.set_options(timeout=30_000)
FROZEN_SECONDS: Final = 30
UNDO_SECONDS: Final = 3
TEXT: Final = "Corrected while nothing moved: s, r and n are letters."


@pytest.fixture
def kafka() -> Iterator[EmbeddedKafka]:
    """Start a cluster of the test's own, which it may freeze."""
    with EmbeddedKafka() as kafka:
        yield kafka


async def decide_while_frozen(page: Page) -> None:
    """Finish what was begun, undo a decision, and reload the page: three decisions wait then."""
    waiting = page.locator("[data-status=publishing]")
    # What is being written stays, though the page is told of others.
    await expect(waiting).to_have_count(1)
    await page.keyboard.type(TEXT[20:])
    await page.keyboard.press("Control+Enter")
    await shows_answer(page, "Answer 3.")
    await page.keyboard.press("s")
    await shows_answer(page, "Answer 4.")
    await page.keyboard.press("u")
    await shows_answer(page, "Answer 3.")
    await page.keyboard.press("r")
    await shows_answer(page, "Answer 4.")
    await expect(waiting).to_have_count(3)
    await page.reload()
    await shows_answer(page, "Answer 4.")
    await expect(waiting).to_have_count(3)


async def test_what_is_decided_while_brokers_are_frozen_is_seen_to_wait_and_published_once(
    kafka: EmbeddedKafka, tmp_path: Path
) -> None:
    settings = isolated_settings(kafka.bootstrap_servers, tmp_path, unique_prefix())
    await create_topics(settings)
    await publish(settings, [held(number) for number in range(1, 7)])
    async with chromium() as browser:
        with DeskProcess(settings, tmp_path, undo_seconds=UNDO_SECONDS) as desk:
            desk.wait_ready()
            async with opened(browser, desk.address) as watched:
                page = watched.page
                await page.keyboard.type("Kim")
                await page.keyboard.press("Enter")
                await shows_answer(page, "Answer 1.")
                await page.keyboard.press("s")  # can still be undone when the brokers freeze
                await shows_answer(page, "Answer 2.")
                await page.keyboard.press("e")
                await page.keyboard.press("Control+A")
                await page.keyboard.type(TEXT[:20])
                for broker in kafka.brokers:
                    broker.pause()
                frozen_at = time.monotonic()
                try:
                    await decide_while_frozen(page)
                    await asyncio.sleep(max(0.0, FROZEN_SECONDS - (time.monotonic() - frozen_at)))
                    await page.screenshot(path=tmp_path / "frozen.png", full_page=True)
                    await page.keyboard.press("s")  # and the brokers are back before this one is due
                finally:
                    for broker in kafka.brokers:
                        broker.resume()
                await shows_answer(page, "Answer 5.")
                await page.keyboard.press("r")
                await shows_answer(page, "Answer 6.")
                async with asyncio.timeout(90):
                    while desk.log.count('"review_published"') < 5:  # noqa: ASYNC110 - another process
                        await asyncio.sleep(0.2)
                await expect(page.locator("[data-status=undoable], [data-status=publishing]")).to_have_count(
                    0
                )
                await expect(page.locator("#waiting")).to_have_text("1")
                assert watched.complaints == []
            assert desk.terminate() == 0
    found = await reviews(settings)
    once = {each.review_id: each for each in found}
    assert Counter(each.verdict_id for each in once.values()) == {f"v-{n}": 1 for n in range(1, 6)}
    assert {each.verdict_id: (each.outcome, each.text) for each in found} == {
        "v-1": ("send", "Answer 1."),
        "v-2": ("send_edited", TEXT),
        "v-3": ("reject", None),
        "v-4": ("send", "Answer 4."),
        "v-5": ("reject", None),
    }
