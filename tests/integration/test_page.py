"""The page for people, in a real browser, fed by real workers on a real Kafka."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, expect

from schemas import Codec, Pause, VerdictPassage
from streams.kafka.topics import Topics, create_topics
from streams.settings import Settings
from tests.support.chromium import chromium, opened
from tests.support.commands import truthgate, variables
from tests.support.pages import blocked_verdict, opinion, rate_alert, with_claims
from tests.support.pauses import a_pause, pause_record, resumed
from tests.support.rates import publish_verdicts, sample_verdict, with_rates
from tests.support.records import Outgoing, produce
from tests.support.workers import Worker, changed

HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> Klik op Opslaan."
)
PRICED = "Hallo! 🎉 Klik op Opslaan. Het kost 50 euro. Het is blauw."
expect.set_options(timeout=30_000)

#: Stands in a question and an answer below.
SECRET = "Zwaluwstaart-4711"


@pytest.fixture
async def counted(settings: Settings) -> Settings:
    """Give settings for quick workers that count rates, with their topics."""
    threshold = {"name": "instructions", "message_type": "instruction", "window_seconds": 60, "rate": 0.25}
    quick = changed(
        with_rates(settings),
        scoring={"enabled": False},
        alerts={"thresholds": [threshold]},
        flow={"session_timeout_seconds": 6},
    )
    await create_topics(quick)
    return quick


@pytest.fixture
def workers(counted: Settings, tmp_path: Path) -> Iterator[tuple[Worker, Worker]]:
    """Give two workers of one deployment: the first shows texts, the second does not."""
    own = {"web": {"texts": True}, "desk": {"public_url": "https://desk.example.com/"}}
    showing = Worker(changed(counted, **own), tmp_path, "showing")
    with showing, Worker(counted, tmp_path, "silent") as silent:
        showing.wait_ready()
        silent.wait_ready()
        yield showing, silent


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as started:
        yield started


async def publish_rates(settings: Settings, when: datetime, numbers: range) -> None:
    await publish_verdicts(settings, [sample_verdict(n, when, message_type="instruction") for n in numbers])


async def publish_blocked(settings: Settings) -> None:
    """Publish blocked answers that are too old to count in a rate, and an alert."""
    topics, codec = Topics(settings.kafka.topic_prefix), Codec()
    now = datetime.now(UTC)
    fault = ("undefined_component", "Opslaan")
    verdicts = [
        blocked_verdict(
            f"{SECRET} 🎉 Klik op **Opslaan** of op Annuleren.",
            fault,
            ("defined_component", "Annuleren"),
            begin=now,
        ),
        replace(
            blocked_verdict(HOSTILE, fault, begin=now, number=2, question=f"<b>{SECRET}</b>"),
            opinions=(opinion(HOSTILE, label=None), opinion(HOSTILE, ("order", "Opslaan"))),
        ),
    ]
    await produce(settings.kafka, topics.blocked, [Outgoing(codec.encode(verdict)) for verdict in verdicts])
    alert = rate_alert(name="instructions", message_type="instruction")
    await produce(settings.kafka, topics.rate_alerts, [codec.encode(alert)])


async def publish_claims(settings: Settings, number: int) -> None:
    """Publish a blocked answer with claims, whose documents are hostile."""
    blocked = blocked_verdict(
        PRICED, ("undefined_component", "Opslaan"), begin=datetime.now(UTC), number=number
    )
    verdict = with_claims(
        blocked,
        ("not_checkable", "Hallo!"),
        ("supported", "Klik op Opslaan."),
        ("contradicted", "Het kost 50 euro."),
        ("not_found", "Het is blauw."),
        passage=HOSTILE,
    )
    context = (
        VerdictPassage("d-1", "v1", title=HOSTILE, url="https://help.example/opslaan"),
        VerdictPassage("d-2", "v1", title="Twee", url="javascript:document.title='owned'"),
    )
    verdict = replace(verdict, context=context, model="gpt-7", metadata={"tenant": "theirs alone"})
    topic = Topics(settings.kafka.topic_prefix).blocked
    await produce(settings.kafka, topic, [Outgoing(Codec().encode(verdict))])


async def expect_opinions(answer: Locator) -> None:
    """Expect that what language models said of this answer is shown, and of it alone."""
    told = ["no label: cut off single by gpt_small", "FALSE, 93% sure single by gpt_small: order"]
    await expect(answer.get_by_label("Second opinions").locator("li")).to_have_text(told)
    await expect(answer.page.get_by_label("Second opinions")).to_have_count(1)


async def expect_no_markdown(answers: Locator) -> None:
    """Expect that a fault is marked in what Markdown stresses, and that its marks are not shown."""
    await expect(answers.locator("mark.fault").first).to_contain_text("Opslaan")
    await expect(answers.locator("mark.fault strong")).to_have_text("Opslaan")
    await expect(answers.page.locator("#answers")).not_to_contain_text("**")


async def publish_pause(settings: Settings, pause: Pause) -> None:
    record = pause_record(pause)
    topic = Topics(settings.kafka.topic_prefix).controls
    await produce(settings.kafka, topic, [Outgoing(record.value, record.key)])


async def test_the_page_shows_rates_as_they_come_and_blocked_answers_with_their_evidence(
    counted, workers, browser, tmp_path
):
    showing, silent = workers
    when = datetime.now(UTC).replace(second=30, microsecond=0) - timedelta(minutes=20)
    await publish_rates(counted, when, range(50))
    await publish_rates(counted, when + timedelta(minutes=1), range(50, 100))
    await publish_blocked(counted)
    async with opened(browser, showing.address) as watched:
        page = watched.page
        card = page.locator("[data-type=rates-instruction]")
        # Of 50 answers 10 are blocked and 10 have no score.
        await expect(card.locator(".value")).to_contain_text("25%10 untrue of 40 scored, 95%: 14% to 40%")
        await expect(card.locator(".legend")).to_have_text("30 sent10 review10 blocked")
        await expect(card.locator(".line, .band")).to_have_count(2)
        await expect(card.locator(".limit-name")).to_have_text("instructions 25%")
        await expect(card.locator(".tag")).to_be_visible()
        await expect(page.locator("#alert-list li")).to_contain_text("45% untrue of 40 scored within 5m")
        bars = page.locator("[data-type=decisions] .bar-blocked")
        await expect(bars).to_have_count(2)

        await publish_rates(counted, when + timedelta(minutes=2), range(100, 120))
        await expect(card.locator(".value")).to_contain_text("4 untrue of 16 scored")
        await expect(bars).to_have_count(3)
        await card.locator("svg").press("ArrowLeft")
        await expect(card.locator(".value")).to_contain_text("10 untrue of 40 scored")
        await page.keyboard.press("Escape")

        await page.get_by_label("5m").check()
        await expect(card.locator(".value")).to_contain_text("24 untrue of 96 scored")
        await page.locator("#language").select_option("nl")
        await expect(page).to_have_title("(1) truthgate")
        await expect(card.locator(".value")).not_to_contain_text("96 scored")

        answers = page.locator("#answers > li", has_text="a-")
        hostile = page.locator("#answers > li", has_text="a-2")
        await expect(hostile.locator(".answer")).to_contain_text("onerror=\"document.title='owned'\"")
        await expect_opinions(hostile)
        await expect_no_markdown(answers)
        await expect(page.locator("#answers mark.seen")).to_have_text("Annuleren")
        assert await page.locator("main script, main img, main b >> text=Zwaluw").count() == 0
        await page.screenshot(path=tmp_path / "page.png", full_page=True)

        async with opened(browser, silent.address, "dark", 390) as dark:
            await expect(dark.page.locator("#answers")).to_contain_text("a-2")
            await expect(dark.page.locator("#texts-off")).to_be_visible()
            assert SECRET not in await dark.page.content()
            assert SECRET not in silent.get("/api/answers")[1]
            width = await dark.page.evaluate("document.documentElement.scrollWidth")
            assert width == 390
            await dark.page.screenshot(path=tmp_path / "narrow.png", full_page=True)

        assert watched.complaints == dark.complaints == []
        assert all(url.startswith(showing.address) for url in watched.requests)
        assert all(url.startswith(silent.address) for url in dark.requests)

        showing.kill()
        await expect(page.locator("#notice")).to_contain_text("This worker has not answered since")
        await expect(card.locator(".value")).to_contain_text("scored")
    assert SECRET not in showing.log + silent.log


async def test_the_page_shows_pauses_with_who_and_why_while_they_last(counted, browser, tmp_path):
    pause = replace(a_pause("instruction", "nl"), reason=HOSTILE)
    with Worker(counted, tmp_path) as worker:
        worker.wait_ready()
        async with opened(browser, worker.address) as watched:
            page = watched.page
            await expect(page.locator("#version")).to_contain_text("truthgate")
            zone = await page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone")
            await expect(page.locator("footer")).to_contain_text(f"in the time zone of this browser, {zone}.")
            await expect(page.locator("#sending")).to_be_hidden()
            await expect(page.get_by_text("publishes a chat log")).to_be_visible()
            await publish_pause(counted, pause)
            await expect(page.locator("#pauses li")).to_contain_text("instruction answers in Dutch")
            await expect(page.locator("#pauses li")).to_contain_text(f"by anna: {HOSTILE}")
            await page.screenshot(path=tmp_path / "pauses.png", full_page=True)
            await publish_pause(counted, resumed(pause))
            await expect(page.locator("#sending")).to_be_hidden()
            # What to do about an empty page is for one that is empty, not for one that is loading.
            await page.route("**/api/live*", lambda route: route.abort())
            await page.goto(worker.address)
            await expect(page.get_by_text("No answer", exact=True)).to_be_visible()
            await expect(page.get_by_text("publishes a chat log")).to_be_hidden()
            watched.complaints.clear()  # of what is aborted above
        assert watched.complaints == []
    assert "onerror" not in worker.log


async def test_the_page_marks_claims_by_status_and_shows_their_passages_to_pointer_and_keyboard(
    counted, browser, tmp_path
):
    await publish_claims(counted, 1)
    with Worker(changed(counted, web={"texts": True}), tmp_path) as worker:
        worker.wait_ready()
        async with opened(browser, worker.address) as watched:
            page = watched.page
            answer = page.locator("#answers > li", has_text="a-1")
            claims, passages = answer.locator("a.claim"), answer.locator("blockquote")
            await expect(claims).to_have_text(
                [
                    "(supported) Klik op Opslaan (undefined component) .",
                    "(contradicted: number) Het kost 50 euro.",
                    "(not found) Het is blauw.",
                ]
            )
            counts = answer.get_by_label("Claims", exact=True).locator("li")
            await expect(counts).to_have_text(["1 × contradicted", "1 × not found", "1 × supported"])
            await expect(answer).to_contain_text("Faithfulness 50%")
            await expect(passages).to_have_text([HOSTILE] * 3)
            sources = ["d-1 version v1", "d-1 version v1", "nearest passage, in d-1 version v1"]
            await expect(answer.locator("figcaption")).to_have_text(sources)
            assert [await passages.nth(at).is_visible() for at in range(3)] == [False, True, False]
            await claims.first.click()
            await expect(passages.first).to_be_visible()
            await claims.nth(1).focus()
            await page.keyboard.press("Tab")
            await expect(claims.nth(2)).to_be_focused()
            await page.keyboard.press("Enter")
            await expect(passages.nth(2)).to_be_visible()

            # What comes later leaves open what was opened, and the focus where it is.
            await publish_claims(counted, 2)
            await expect(page.locator("#answers > li", has_text="a-2")).to_be_visible()
            await expect(answer.locator("details[open]")).to_have_count(3)
            await expect(answer.locator("summary").nth(2)).to_be_focused()
            assert await page.locator("main script, main img").count() == 0
            await page.screenshot(path=tmp_path / "claims.png", full_page=True)
        async with opened(browser, worker.address, "dark", 390) as dark:
            await expect(dark.page.locator("a.claim")).to_have_count(6)
            assert await dark.page.evaluate("document.documentElement.scrollWidth") == 390
            await dark.page.screenshot(path=tmp_path / "narrow.png", full_page=True)
        assert watched.complaints == dark.complaints == []
    assert "onerror" not in worker.log


async def publish_of_each_decision(settings: Settings) -> None:
    """Publish 25 sent answers, one for review, and one that was for review and then sent."""
    topics, codec, now = Topics(settings.kafka.topic_prefix), Codec(), datetime.now(UTC)
    verdicts = [blocked_verdict(PRICED, begin=now, number=number) for number in range(26)]
    sent = [replace(each, decision="auto_send", reasons=("verbatim_document",)) for each in verdicts[1:]]
    review = replace(verdicts[0], decision="review", reasons=("low_score",), language="en")
    again = replace(sent[0], decision="review", reasons=("sending_paused", "verbatim_document"))
    await produce(settings.kafka, topics.auto_send, [codec.encode(each) for each in sent])
    await produce(settings.kafka, topics.review, [codec.encode(each) for each in (review, again)])


async def test_the_page_shows_answers_of_each_decision_as_they_are_chosen(
    counted, workers, browser, tmp_path
):
    showing, _ = workers
    await publish_of_each_decision(counted)
    await publish_claims(counted, 50)
    async with opened(browser, showing.address) as watched:
        page = watched.page
        shown, filters = page.locator("#answers > li"), page.locator("#filter")
        await expect(shown).to_have_count(1)
        await filters.get_by_label("Decision").select_option("sent")
        await expect(shown).to_have_count(20)
        await expect(page.locator("#answers-when")).to_have_text("20 of 25")
        await page.get_by_role("button", name="Show more").click()
        await expect(shown).to_have_count(25)
        await expect(page.get_by_role("button", name="Show more")).to_be_hidden()
        await filters.get_by_label("Decision").select_option("all")
        await filters.get_by_label("Language").select_option("English")
        await expect(shown).to_have_count(1)
        await expect(shown).to_contain_text("review")
        await filters.get_by_label("Language").select_option("all")
        await filters.get_by_label("Reason").select_option("sending paused")
        await filters.get_by_label("Since").select_option("an hour")
        await filters.get_by_label("Type").select_option("instruction")
        await expect(shown).to_have_count(1)
        await expect(shown).to_contain_text("a-1")

        await page.get_by_role("button", name="Explain a-1").click()
        told = page.get_by_role("dialog", name="a-1")
        await expect(told).to_contain_text("`truthgate resume` resumes it")
        await expect(told).to_contain_text("differs in decision, reasons")
        await page.keyboard.press("Escape")
        await expect(told).to_be_hidden()
        await expect(page.get_by_role("button", name="Explain a-1")).to_be_focused()
        await page.screenshot(path=tmp_path / "chosen.png", full_page=True)
    assert watched.complaints == []


async def test_the_page_explains_a_verdict_as_the_command_does_and_without_texts_where_they_are_off(
    counted, workers, browser, tmp_path
):
    showing, silent = workers
    await publish_claims(counted, 50)
    async with opened(browser, showing.address) as watched:
        page = watched.page
        await expect(page.locator("#desk")).to_have_attribute("href", "https://desk.example.com")
        await page.get_by_role("button", name="Explain a-50").click()
        told = page.get_by_role("dialog", name="a-50")
        await expect(told).to_contain_text("→ Look the marked name up in the product")
        await expect(told).to_contain_text("contradicted: number Het kost 50 euro. 26–43")
        await expect(told).to_contain_text("undefined component: block, and decided")
        await expect(told.locator("mark.fault")).to_contain_text("Opslaan")
        await expect(told.locator("blockquote").first).to_have_text(HOSTILE)
        document = told.locator("section", has_text="Documents").get_by_role("link", name=HOSTILE)
        await expect(document).to_have_attribute("href", "https://help.example/opslaan")
        await expect(told.locator("a[target]")).to_have_count(1)  # an address of no web page is no link
        await expect(told).to_contain_text("Twee d-2 version v1")
        await expect(told).to_contain_text("by gpt-7")
        assert "theirs alone" not in await page.content()
        command = truthgate("explain", "a-50", "--json", environment=variables(counted))
        place = json.loads(command.stdout)["place"]
        await expect(told).to_contain_text(f"at {place['topic']} {place['partition']}:{place['offset']}")
        await page.screenshot(path=tmp_path / "explained.png")
        await told.get_by_role("button", name="Close").click()
        await expect(told).to_be_hidden()
        assert await page.locator("dialog script, dialog img").count() == 0
        assert all(url.startswith(showing.address) for url in watched.requests)
    async with opened(browser, silent.address, "dark", 390) as dark:
        await expect(dark.page.get_by_role("link", name="Metrics")).to_be_visible()
        await expect(dark.page.locator("#desk")).to_be_hidden()
        await dark.page.get_by_role("button", name="Explain a-50").click()
        told = dark.page.get_by_role("dialog", name="a-50")
        await expect(told).to_contain_text("contradicted: number 26–43")
        await expect(told).to_contain_text("are not shown (web.texts)")
        await expect(told).not_to_contain_text("euro")
        assert "euro" not in silent.get("/api/answers")[1]
        assert "onerror" not in await dark.page.content()
        await dark.page.screenshot(path=tmp_path / "narrow.png")
        assert await dark.page.evaluate("document.documentElement.scrollWidth") == 390
    assert watched.complaints == dark.complaints == []
