"""Leads see which policy decides and change it; nobody else does, and nothing is done by half."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from structlog.testing import capture_logs

from schemas import PolicyChange
from scoring.guarantees.estimates import WeightedShare
from scoring.guarantees.policy_comparison import DecidedShares, PolicyDifference
from streams.delivery.publisher import RecordLocation
from streams.desk.policy_charts import policy_charts
from streams.kafka.kafka_records import Headers
from streams.observability.failures import BadAnswer, InfrastructureFailure, Stage
from streams.reviews.policy_records import CODEC
from streams.settings import DeskRole
from tests.support.pauses import WHEN, raw_record
from tests.support.policies import a_change, a_fitted_policy, change_record, some_figures
from tests.support.served_desk import ServedDesk, serving_desk

PATH, NL, EN = "/lead/policies", "instruction nl", "instruction en"


def proposed(version: str, **values: Any) -> PolicyChange:
    """Give a proposal with what its fit showed."""
    change = a_change(version, "proposed")
    assert change.content
    return replace(change, content=replace(change.content, figures=some_figures()), **values)


class Topic:
    """Takes records and lets the desk read them, or fails as Kafka does."""

    def __init__(self, served: ServedDesk) -> None:
        self.failure: Exception | None = None
        self.answers = True
        self.read_after_seconds = 0.0
        self.changes: list[PolicyChange] = []
        self._state = served.watch.state

    async def publish(
        self, topic: str, key: bytes, value: bytes, _: Headers, partition: int
    ) -> RecordLocation:
        if self.failure:
            raise self.failure
        if not self.answers:
            await asyncio.Event().wait()
        assert (topic, partition) == ("policies", 0)
        self.changes.append(CODEC.decode(value, PolicyChange))
        offset = self._state.next_offset
        record = raw_record(key, value, offset)
        asyncio.get_running_loop().call_later(self.read_after_seconds, self._state.apply, [record])
        return RecordLocation(partition, offset)


@asynccontextmanager
async def desk_with(
    folder: Path, *changes: PolicyChange, **settings: Any
) -> AsyncIterator[tuple[ServedDesk, Topic, httpx2.AsyncClient]]:
    """Serve a desk that has read these changes, to a lead."""
    async with serving_desk(folder, **settings) as served:
        served.watch.apply(change_record(each, offset) for offset, each in enumerate(changes))
        served.watch.freshness.confirm(served.watch._clock())
        served.policies.publisher = topic = Topic(served)  # type: ignore[assignment]
        async with served.client(DeskRole.LEAD) as lead:
            yield served, topic, lead


async def shown(browser: httpx2.AsyncClient) -> str:
    answer = await browser.get(PATH)
    assert answer.status_code == 200
    return " ".join(answer.text.split())


async def change(browser: httpx2.AsyncClient, action: str, **values: str) -> str:
    """Send the form of the page with other values, and return the notice's code."""
    page = (await browser.get(PATH)).text
    found = {name: re.search(f'name="{name}" value="(.*?)"', page) for name in ("form_token", "seen")}
    form = {name: match[1] for name, match in found.items() if match}
    answer = await browser.post(f"{PATH}/{action}", data={**form, "reason": "prices", **values})
    assert answer.status_code == 303
    return answer.headers["location"].removeprefix(f"{PATH}?notice=")


async def test_what_has_drifted_is_named_with_the_policy_that_decides_the_farthest_first(
    tmp_path: Path,
) -> None:
    changes = proposed("v-0"), proposed("v-1"), a_change("v-1", "approved")
    async with desk_with(tmp_path, *changes) as (served, _, lead):
        assert "have drifted" not in await shown(lead)
        served.watch.drift = {("length",): 0.3, ("score",): 0.41, ("judge",): 0.2}
        page = await shown(lead)
    assert page.count("have drifted") == 1
    assert "by the stability index of: score 0.41, length 0.30</p>" in page


async def test_a_candidate_is_shown_beside_what_was_decided_since_it_was_proposed(tmp_path: Path) -> None:
    decided = DecidedShares("instruction nl", 40, 12, 0, None, None, None, None, None)
    share = WeightedShare(0.25, 0.1, 0.5, 8)
    difference = PolicyDifference(decided, replace(decided, sent=20), 2, 10, None, share)
    async with desk_with(tmp_path, proposed("v-1")) as (served, _, lead):
        assert "Beside what decides" not in await shown(lead)
        served.watch.candidates = {"v-1": (difference,)}
        page = await shown(lead)
    row = page.partition("Beside what decides</th>")[2]
    cells = "</th><td>40</td><td>12</td><td>20</td><td>10</td><td>25.0% "
    assert f'<th scope="row">instruction nl{cells}' in row
    assert "[10.0%, 50.0%] of 8 rated</span></td><td>2</td><td>–</td>" in row


async def test_workers_in_shadow_are_shown_beside_what_was_decided_and_their_names_are_escaped(
    tmp_path: Path,
) -> None:
    decided = DecidedShares("all", 40, 12, 0, None, None, None, None, None)
    difference = PolicyDifference(
        decided, replace(decided, sent=9), 5, 2, WeightedShare(0.5, 0.2, 0.8, 4), None
    )
    async with desk_with(tmp_path) as (served, _, lead):
        assert "Workers in shadow" not in await shown(lead)
        served.watch.shadows = {"strict": (difference,), "<b>": (difference,)}
        page = await shown(lead)
    assert page.count("<h2>Workers in shadow</h2>") == 1
    section = page.partition("<code>strict</code>")[2]
    assert "answers that both judged</th>" in section
    assert '<th scope="row">all</th><td>40</td><td>12</td><td>9</td><td>2</td><td>–</td>' in section
    assert "<td>5</td><td>50.0% " in section
    assert "<code>&lt;b&gt;</code>" in page


async def test_the_page_says_what_decides_since_when_by_whom_and_why_and_what_it_promises(
    tmp_path: Path,
) -> None:
    changes = proposed("v-1"), a_change("v-1", "approved"), a_change("v-1", "withdrawn", NL)
    async with desk_with(tmp_path, *changes) as (served, _, lead):
        served.watch.latest = served.watch.watched()
        page = await shown(lead)
        assert f'<a href="{PATH}">' in (await lead.get("/lead")).text
    assert re.search(r"<code>v-1</code> <span class=.tag.>active</span> <strong>decides</strong>", page)
    when = f'<time datetime="{WHEN.isoformat()}">{WHEN:%Y-%m-%d %H:%M:%S} UTC</time>'
    assert f"withdrawn for {NL}, {when}, anna: <q" in page
    assert "ratings of October" in page
    decided = page.partition("</summary>")[2].partition("<div")[0]
    assert re.findall(r"<p>(\w+)", decided) == ["approved", "withdrawn", "instruction"]
    cells = "≤&nbsp;0.300", "60% of 2000", "120", "1", "4.0%", "≤ 5.0% mistakes, 95% sure"
    assert "</td><td>".join(cells) in page
    assert "2025-11-24" in page
    assert "more than 10% of the documents changed, or anything but <code>judge=none</code>" in page
    assert "Brier score 0.125, 0.250 by the score alone, 0.375 by none" in page
    assert re.search(r"5%</th><td>60% of 2000</td><td>71%</td>", page)
    assert re.search(r"5%, instruction en</th><td>5% of 800</td><td>6%</td>", page)
    assert page.count("<svg") == 2
    assert f"{NL}, {EN}: 0 mistakes in 0 audited answers, 5% of the evidence that withdraws it" in page
    assert '<meter value="0.05"' in page
    assert "nobody watches" not in page.lower()


async def test_before_any_approval_the_settings_decide_and_without_an_audit_sample_nobody_watches(
    tmp_path: Path,
) -> None:
    async with desk_with(tmp_path, audit_share=0.0) as (_, _, lead):
        page = await shown(lead)
    assert "The policy of the settings decides" in page
    assert "No version was proposed" in page
    assert "Nobody watches what is sent: desk.audit_share is 0." in page


async def test_what_decides_comes_first_then_what_changed_last_and_of_many_not_the_oldest(
    tmp_path: Path,
) -> None:
    versions = [proposed(f"v-{number}") for number in range(52)]
    async with desk_with(tmp_path, versions[0], a_change("v-0", "approved"), *versions[1:]) as (_, _, lead):
        page = await shown(lead)
    names = re.findall(r"<summary><code>(.*?)</code>", page)
    assert names == ["v-0", *(f"v-{number}" for number in range(51, 2, -1))]
    assert "Older versions" in page
    assert "The policy of the settings decides" not in page


async def test_a_lead_approves_goes_back_and_withdraws_and_the_log_says_who(tmp_path: Path) -> None:
    async with desk_with(tmp_path, proposed("v-1"), proposed("v-2")) as (_, topic, lead):
        with capture_logs() as logs:
            assert await change(lead, "approve", version="v-2", reason=" spring ") == "approved"
            assert await change(lead, "withdraw", version="v-2", group=EN) == "withdrawn"
            assert await change(lead, "approve", version="v-1") == "approved"
            assert await change(lead, "withdraw", version="v-1", group="") == "withdrawn"
            assert "until a version is approved" in await shown(lead)
            assert await change(lead, "approve", version="settings") == "approved"
        assert "by it within seconds" in (await lead.get(f"{PATH}?notice=approved")).text
        page = await shown(lead)
    assert [(each.version, each.change, each.group, each.by, each.reason) for each in topic.changes] == [
        ("v-2", "approved", None, "a lead", "spring"),
        ("v-2", "withdrawn", EN, "a lead", "prices"),
        ("v-1", "approved", None, "a lead", "prices"),
        ("v-1", "withdrawn", None, "a lead", "prices"),
        ("settings", "approved", None, "a lead", "prices"),
    ]
    assert re.search(r"<code>settings</code> <span class=.tag.>active", page)
    assert re.search(r"<code>v-2</code> <span class=.tag.>replaced", page)
    (logged, *_) = [each for each in logs if each["event"] == "desk_policy_change"]
    assert logged == {
        "event": "desk_policy_change",
        "log_level": "info",
        "version": "v-2",
        "change": "approved",
        "group": None,
        "lead": "a lead",
        "outcome": "approved",
    }


async def test_of_two_leads_at_once_the_second_is_told_what_the_first_has_changed(tmp_path: Path) -> None:
    async with desk_with(tmp_path, proposed("v-1"), proposed("v-2")) as (_, topic, lead):
        topic.read_after_seconds = 0.2
        both = [change(lead, "approve", version=version) for version in ("v-1", "v-2")]
        assert sorted(await asyncio.gather(*both)) == ["approved", "changed"]
        assert len(topic.changes) == 1
        assert f'<code>{topic.changes[0].version}</code> <span class="tag">active' in await shown(lead)


async def test_nothing_is_changed_by_what_is_wrong_outdated_or_without_a_reason(tmp_path: Path) -> None:
    async with desk_with(tmp_path, proposed("v-1")) as (served, topic, lead):
        assert await change(lead, "approve", version="v-9") == "refused"
        assert await change(lead, "withdraw", version="v-1", group="orders nl") == "refused"
        assert await change(lead, "withdraw", version="settings") == "refused"
        for reason in ("", "  ", "x" * 1_001):
            assert await change(lead, "approve", version="v-1", reason=reason) == "no_reason"
        assert await change(lead, "approve", version="v-1", reason="x" * 1_000, seen="0") == "changed"
        assert topic.changes == []
        served.watch.apply([change_record(a_change("v-1", "withdrawn"), 1)])
        stale = served.watch.state.next_offset - 1
        assert await change(lead, "approve", version="v-1", seen=str(stale)) == "changed"
        assert topic.changes == []
        assert "changed since this page was loaded" in (await lead.get(f"{PATH}?notice=changed")).text


async def test_an_outage_is_one_clear_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk_with(tmp_path, proposed("v-1")) as (served, topic, lead):
        topic.failure = InfrastructureFailure("away")
        assert await change(lead, "approve", version="v-1") == "unsure"
        topic.failure = TimeoutError()
        assert await change(lead, "approve", version="v-1") == "unsure"
        topic.failure = BadAnswer(Stage.PUBLISH, "MessageSizeTooLargeError", "no")
        assert await change(lead, "approve", version="v-1") == "refused"
        topic.failure, topic.answers = None, False
        monkeypatch.setattr("streams.desk.policy_publishing._WRITE_SECONDS", 0.05)
        assert await change(lead, "approve", version="v-1") == "unsure"
        seen = str(served.watch.state.next_offset)
        served.policies.publisher = None
        assert await change(lead, "approve", version="v-1", seen=seen) == "unreachable"
        served.policies.publisher = topic  # type: ignore[assignment]
        monkeypatch.setattr(served.watch.freshness, "_complete_at", served.watch._clock() - 60)
        page = await shown(lead)
        assert "cannot be read now" in page
        assert "v-1" not in page
        token = served.sessions.form_token(served.sessions.read(lead.cookies["truthgate_desk"]))  # type: ignore[arg-type]
        form = {"form_token": token, "seen": seen, "version": "v-1", "reason": "prices"}
        answer = await lead.post(f"{PATH}/approve", data=form)
        assert answer.headers["location"] == f"{PATH}?notice=unreachable"
        assert "Nothing was changed: Kafka" in (await lead.get(answer.headers["location"])).text
        assert topic.changes == []


async def test_others_than_leads_and_other_sites_change_nothing(tmp_path: Path) -> None:
    tokens = {"token": "t-reviewer-123456", "lead_token": "t-lead-1234567890"}
    async with desk_with(tmp_path, proposed("v-1"), **tokens) as (served, topic, lead):
        for data, headers in (
            ({"version": "v-1"}, {}),
            ({"version": "v-1", "form_token": "guess"}, {}),
            ({"version": "v-1"}, {"Sec-Fetch-Site": "cross-site"}),
        ):
            for action in ("approve", "withdraw"):
                answer = await lead.post(f"{PATH}/{action}", data=data, headers=headers)
                assert answer.status_code == 403
        async with served.client(DeskRole.AUDITOR) as auditor:
            page = await shown(auditor)
            assert "v-1" in page
            assert "<form" not in page.partition("<main>")[2].partition("</main>")[0]
            assert (await auditor.post(f"{PATH}/approve")).status_code == 403
        async with served.client(DeskRole.REVIEWER) as reviewer:
            assert (await reviewer.get(PATH)).status_code == 403
            assert (await reviewer.post(f"{PATH}/withdraw")).status_code == 403
        assert topic.changes == []


async def test_texts_of_operators_groups_and_records_that_cannot_be_read_are_shown_as_texts(
    tmp_path: Path,
) -> None:
    evil = "<b>\u202e"
    certificate = replace(a_fitted_policy().certificates[0], groups=(evil,), versions=(f"judge={evil}",))
    change = a_change("v-1", "proposed", fitted=a_fitted_policy(certificate))
    hostile = replace(change, by=f"by {evil}", reason=f"why {evil}")
    async with desk_with(tmp_path, hostile, a_change("v-1", "withdrawn", evil)) as (served, _, lead):
        served.watch.apply([raw_record(b"v-2/approved", b"x", 2), raw_record(b"v-3/approved", None, 3)])
        page = await shown(lead)
    assert "<b>" not in page
    assert "\u202e" not in page.replace('value="&lt;b&gt;\u202e"', "")
    assert page.count("&lt;b&gt;") > 6
    assert "it cannot be read" in page


def test_a_chart_has_the_points_of_the_fit_within_its_area_and_the_certificate_s_own() -> None:
    risk, calibration = policy_charts(some_figures(), a_fitted_policy())
    assert (risk.kind, risk.decision, risk.groups, risk.top) == ("risk", "auto_send", (NL, EN), 0.2)
    assert risk.lines == {
        "level": "0,135 300,135",
        "estimate": "90,180 180,171 240,0",
        "bound": "90,153 180,144 240,0",
    }
    (mark,) = risk.marks
    assert (mark.x, mark.y, mark.low, mark.high) == (180.0, 144.0, 171.0, 144.0)
    assert (calibration.kind, calibration.top) == ("calibration", 1.0)
    assert calibration.lines == {"level": "0,180 300,0"}
    # 4 of 40 and 9 of 10, with Wilson's intervals: [.040, .231] and [.596, .982].
    places = [(each.x, each.y, each.low, each.high) for each in calibration.marks]
    assert places == [(30.0, 162.0, 172.9, 138.5), (240.0, 18.0, 72.7, 3.2)]
    other = replace(a_fitted_policy().certificates[0], groups=("orders nl",))
    assert next(policy_charts(some_figures(), a_fitted_policy(other))).marks == ()


@pytest.mark.parametrize(("level", "top"), [(0.5, 1.0), (0.25, 1.0), (0.1, 0.4), (0.0, 1.0)])
def test_the_axis_of_mistakes_ends_at_four_times_what_is_allowed_or_at_all(level: float, top: float) -> None:
    figures = some_figures()
    tested = replace(figures.tested[0], level=level)
    chart = next(policy_charts(replace(figures, tested=(tested,)), a_fitted_policy()))
    assert chart.top == top
