"""Every page of the desk by the rules of axe-core for WCAG 2.2 AA: wide, on a phone, dark, in Dutch."""

import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Literal

from playwright.async_api import Page, expect

from schemas import PolicyChange, Verdict
from streams.desk.desk_state import DeskRecord
from streams.kafka.topic_reader import Freshness
from streams.known_answers.known_state import KnownAnswerState
from tests.support.chromium import chromium, opened
from tests.support.desk import held
from tests.support.known_answers import a_known_answer
from tests.support.npm_packages import installed
from tests.support.pages import with_claims
from tests.support.policies import a_change, change_record, some_figures
from tests.support.reviews import a_review
from tests.support.served_desk import serving_desk

PACKAGES: Final = Path(__file__).parents[1] / "support/npm_pages"
RULES: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
LOOKS: Final[tuple[tuple[Literal["light", "dark"], int, str], ...]] = (
    ("light", 1280, "en"),
    ("dark", 1280, "nl"),
    ("light", 360, "nl"),
    ("dark", 360, "en"),
)
PAGES: Final = (
    "/",
    "/?answer=v-2",
    "/?notice=late",
    "/blocked",
    "/filter",
    "/lead",
    "/lead/policies",
    "/known-answers",
    "/no-such-page",
)


async def violations(page: Page) -> list[str]:
    """Return what axe-core finds, a line each, and what is wider than the screen."""
    result: dict[str, Any] = await page.evaluate(
        "(tags) => axe.run(document, {runOnly: tags, resultTypes: ['violations']})", RULES
    )
    assert result["passes"]
    found = [
        f"{each['id']}: {node['target']} {node['html'][:120]}"
        for each in result["violations"]
        for node in each["nodes"]
    ]
    wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return [*found, *([f"{wide} px wider than the screen"] if wide > 0 else [])]


class Looks:
    """One reviewer's pages in one look: what is wrong with each is added to ``found``."""

    def __init__(self, page: Page, look: str, folder: Path, found: list[str]) -> None:
        self._page, self._look, self._folder, self._found = page, look, folder, found

    async def check(self, name: str) -> None:
        self._found += [f"{name} {self._look}: {each}" for each in await violations(self._page)]
        await self._page.screenshot(path=self._folder / f"{name}-{self._look}.png", full_page=True)


def an_answer() -> Verdict:
    return with_claims(
        held(
            1,
            answer="Click Save. It costs 50 euro. It is blue.",
            reasons=("middle_score", "unknown_number"),
            known_answer_key="0" * 64,
        ),
        ("supported", "Click Save."),
        ("contradicted", "It costs 50 euro."),
        ("not_found", "It is blue."),
        passage="It costs more.\n\n| | Plus | Household |\n|---|---|---|\n| Costs | 40 euro | 60 euro |",
    )


def reviewed() -> list[DeskRecord]:
    """Give what fills the page of figures: verdicts that three people decided about and rated."""
    verdicts = [held(n, verdict_id=f"f-{n}", reasons=("middle_score",)) for n in range(100, 130)]
    decided = [
        a_review(
            review_id=f"{each.verdict_id} {name}",
            verdict_id=each.verdict_id,
            outcome=("send", "send_edited", "reject")[number % 3] if name == "kim" else "none",
            text="Text.",
            rating=1 + (number + (name == "alex")) % 5,
            label="TRUE" if number % 3 else "FALSE",
            reviewer=name,
            reviewed_at=each.scored_at + timedelta(seconds=20 + number),
        )
        for number, each in enumerate(verdicts)
        for name in ("kim", "alex")
    ]
    return [DeskRecord(0, 1_000 + number, each) for number, each in enumerate((*verdicts, *decided))]


def changed_policies() -> list[PolicyChange]:
    """Give an older version, and the current one: what its fit showed, and a group that was withdrawn."""
    proposal = a_change("fitted-20261128T0500Z-3f2a9c1d", "proposed")
    assert proposal.content
    content = replace(proposal.content, figures=some_figures())
    changes = ("proposed", None), ("approved", None), ("withdrawn", "instruction nl")
    current = [replace(proposal, change=change, group=group) for change, group in changes]
    current = [each if each.change == "proposed" else replace(each, content=None) for each in current]
    return [replace(proposal, version="fitted-1"), replace(current[0], content=content), *current[1:]]


async def test_no_page_of_the_desk_has_a_violation(tmp_path: Path) -> None:
    axe = (installed(PACKAGES, "pages are checked") / "node_modules/axe-core/axe.min.js").read_text("utf-8")
    found = list[str]()
    answers = (an_answer(), held(2, decision="blocked"), *(held(10 + number) for number in range(len(LOOKS))))
    known = [DeskRecord(0, n, a_known_answer(f"{n}" * 64, each)) for n, each in enumerate(KnownAnswerState)]
    async with chromium() as browser, serving_desk(tmp_path, *answers, known_answers=True) as served:
        served.state.apply([*known, *reviewed()], {})
        served.watch.apply(change_record(each, offset) for offset, each in enumerate(changed_policies()))
        served.watch.state.freshness = Freshness(3_600)
        served.watch.state.freshness.confirm(time.time())
        served.watch.latest = served.watch.watched()
        for number, (scheme, width, language) in enumerate(LOOKS):
            address = f"{served.address}/login?language={language}"
            async with opened(browser, address, scheme, width) as watched:
                page = watched.page
                await page.context.add_init_script(axe)
                await page.reload()
                looks = Looks(page, f"{scheme}-{width}-{language}", tmp_path, found)
                await looks.check("login")
                await page.keyboard.type("Kim")
                await page.keyboard.press("Enter")
                await expect(page.locator(".who")).to_have_text("Kim")
                for path in PAGES:
                    await page.goto(f"{served.address}{path}")
                    await expect(page.locator("html")).to_have_attribute("lang", language)
                    for folded in await page.locator("details.policy, .policy details").all():
                        await folded.evaluate("each => { each.open = true }")
                    await looks.check(path.strip("/?").replace("=", "-") or "answer")
                await page.goto(f"{served.address}/?answer=v-{10 + number}")
                await expect(page.locator("body[data-keys=ready]")).to_have_count(1)
                await page.keyboard.press("s")
                await expect(page.locator("mark.contradicted")).to_be_visible()
                await page.keyboard.press("w")
                await expect(page.locator("[data-kind]").first).to_be_visible()
                await looks.check("decided")
                await page.locator("header button").click()
                await expect(page.locator("[name=name]")).to_be_focused()
    assert found == []
