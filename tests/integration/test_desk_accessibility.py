"""Every page of the desk by axe-core's rules of WCAG 2.2 AA in a real browser: wide, on a phone, dark, in Dutch."""

from pathlib import Path
from typing import Any, Final, Literal

from playwright.async_api import Page, expect

from streams.settings import DeskRole
from tests.support.chromium import chromium, opened
from tests.support.desk import held
from tests.support.npm_packages import installed
from tests.support.pages import with_claims
from tests.support.served_desk import ServedDesk, serving_desk

PACKAGES: Final = Path(__file__).parents[1] / "support/npm_pages"
RULES: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
LOOKS: Final[tuple[tuple[Literal["light", "dark"], int, str], ...]] = (
    ("light", 1280, "en"),
    ("dark", 1280, "nl"),
    ("light", 360, "nl"),
    ("dark", 360, "en"),
)
PAGES: Final = ("/", "/?answer=v-2", "/?notice=late", "/blocked", "/filter", "/no-such-page", "/login")


async def violations(page: Page) -> list[str]:
    """Return what axe-core finds, a line each, and what is wider than the screen."""
    result: dict[str, Any] = await page.evaluate(
        "(tags) => axe.run(document, {runOnly: tags, resultTypes: ['violations']})", RULES
    )
    found = [
        f"{each['id']}: {node['target']} {node['html'][:120]}"
        for each in result["violations"]
        for node in each["nodes"]
    ]
    wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return [*found, *([f"{wide} px wider than the screen"] if wide > 0 else [])]


def an_answer() -> Any:
    return with_claims(
        held(
            1, answer="Click Save. It costs 50 euro. It is blue.", reasons=("middle_score", "unknown_number")
        ),
        ("supported", "Click Save."),
        ("contradicted", "It costs 50 euro."),
        ("not_found", "It is blue."),
        passage="It costs 40 euro.",
    )


async def test_no_page_of_the_desk_has_a_violation(tmp_path: Path) -> None:
    axe = (installed(PACKAGES, "pages are checked") / "node_modules/axe-core/axe.min.js").read_text("utf-8")
    found = []
    async with (
        chromium() as browser,
        serving_desk(tmp_path, an_answer(), held(2, decision="blocked"), held(3)) as served,
    ):
        for scheme, width, language in LOOKS:
            async with opened(
                browser, f"{served.address}/login?language={language}", scheme, width
            ) as watched:
                page = watched.page
                await page.context.add_init_script(axe)
                for path in ("/login", *PAGES):
                    await page.goto(f"{served.address}{path}")
                    await expect(page.locator("html")).to_have_attribute("lang", language)
                    look = f"{path} {scheme} {width} {language}"
                    found += [f"{look}: {each}" for each in await violations(page)]
                    name = path.strip("/?").replace("=", "-") or "answer"
                    await page.screenshot(
                        path=tmp_path / f"{name}-{scheme}-{width}-{language}.png", full_page=True
                    )
                    if path == "/login" and await page.locator("[name=name]").count():
                        await page.locator("[name=name]").fill("Kim")
                        await page.keyboard.press("Enter")
                        await expect(page.locator(".who")).to_have_text("Kim")
    assert found == []
