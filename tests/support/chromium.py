"""A page in a real, headless Chromium, which remembers what a page must not do."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

from playwright.async_api import Browser, Page, Request, async_playwright, expect

from tests.support.debian import debian_tool

# It asks nobody by itself, and needs no graphics.
_ARGUMENTS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_WAIT_MILLISECONDS = 30_000


@dataclass
class Watched:
    """A page, and what it asked for and complained about."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def asked(self, request: Request) -> None:
        self.requests.append(request.url)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Start a browser; skips the test where there is none."""
    program = debian_tool("chromium")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(program), args=[*_ARGUMENTS])
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def opened(
    browser: Browser, address: str, scheme: Literal["light", "dark"] = "light", width: int = 1280
) -> AsyncIterator[Watched]:
    """Open an address in a profile of its own."""
    context = await browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    try:
        watched = Watched(await context.new_page())
        page = watched.page
        page.set_default_timeout(_WAIT_MILLISECONDS)
        page.on("request", watched.asked)
        page.on("console", lambda message: watched.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: watched.complaints.append(str(error)))
        page.on("dialog", lambda dialog: watched.complaints.append(dialog.message))
        await page.goto(address)
        yield watched
    finally:
        await context.close()


async def shows_answer(page: Page, text: str) -> None:
    """Wait until the desk shows this answer and takes keys for it."""
    await expect(page.locator(".answer")).to_have_text(text)
    await expect(page.locator("body[data-keys=ready]")).to_have_count(1)
