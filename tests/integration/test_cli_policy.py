"""`truthgate policy` on a real Kafka: from ratings on the topics to a policy that decides, and back."""

import asyncio
import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from structlog.testing import capture_logs

from schemas import Review, Verdict, VerdictOpinion
from streams.cli.policy.policy_topic import read_policies
from streams.kafka.topics import Topics
from streams.reviews.policy_records import Change
from streams.reviews.policy_state import PolicyVersion
from streams.settings import Settings
from tests.integration.test_ratings_follower import publish
from tests.support.commands import truthgate_here, variables
from tests.support.policies import a_change, write_changes
from tests.support.reviews import a_review
from tests.support.verdicts import any_verdict

_BUDGET = "--judge-calls", "100", "--reviewer-minutes", "60"
_NOW = datetime.now(UTC).replace(microsecond=0)


def rated_stream(number: int) -> list[Verdict | Review]:
    """Give held answers with a judge who is right about most, half of them untrue, each rated."""
    chance, found = random.Random(1), list[Verdict | Review]()
    for n in range(number):
        untrue = chance.random() < 0.5
        said = untrue if chance.random() < 0.995 else not untrue
        at = _NOW - timedelta(days=9) + timedelta(seconds=n)
        opinion = VerdictOpinion(
            method="single",
            models=("m",),
            prompt_version="1",
            label="FALSE" if said else "TRUE",
            confidence=round(chance.uniform(0.7, 1), 3),
            score=1.0 if said else 5.0,
        )
        score = chance.uniform(1, 3.5) if untrue else chance.uniform(2.5, 5)
        verdict = any_verdict(
            verdict_id=f"v-{n}",
            decision="review",
            score=score,
            scored_at=at,
            answer=f"Answer {n}.",
            opinions=(opinion,),
        )
        rating = a_review(
            review_id=f"r-{n}", verdict_id=f"v-{n}", rating=1 if untrue else 5, reviewed_at=at, source="desk"
        )
        found += [verdict, rating]
    return found


def check_figures(version: PolicyVersion, certificate: dict[str, Any]) -> None:
    """Check that a proposal carries what the fit showed, the certificate's point among it."""
    proposal, fitted = version.proposal, version.fitted
    assert fitted
    assert fitted.certificates[0].coverage > 0.3
    assert proposal
    assert proposal.change
    assert proposal.change.content
    figures = proposal.change.content.figures
    assert figures
    (tested,) = figures.tested
    assert (tested.decision, tested.groups, tested.level) == ("auto_send", ("binary en",), 0.05)
    assert [certificate["coverage"], certificate["bound"]] in [
        [each.coverage, each.bound] for each in tested.points
    ]
    costs = [each for each in figures.costs if each.group == "all"]
    assert [each.alpha for each in costs] == [0.02, 0.05, 0.1]
    assert costs[0].sent <= costs[1].sent <= costs[2].sent
    assert {each.group for each in figures.costs} == {"all", "binary en"}
    assert figures.calibration
    assert sum(each.ratings for each in figures.calibration.bins) == figures.calibration.ratings


def check_asking(version: PolicyVersion, text: str) -> None:
    """Check that a proposal carries the order of asking, and that the command says what comes first."""
    assert "judges first: 100 of 700 answers" in text
    assert "reviewers first: 30 of 700 answers" in text
    fitted = version.fitted
    assert fitted
    assert fitted.asking
    assert not fitted.asking.comes_first({"score": -1.0}), "what is certain is not asked about"


async def test_ratings_become_a_policy_that_is_approved_withdrawn_and_compared(
    topics: Topics, settings: Settings, tmp_path: Path
) -> None:
    own = variables(settings)

    async def run(*arguments: str | Path, code: int = 0) -> tuple[str, str]:
        with capture_logs():  # which a command does not write
            done = await asyncio.to_thread(truthgate_here, "policy", *arguments, environment=own)
        assert done.returncode == code, done.stderr
        return done.stdout, done.stderr

    assert "no verdicts between" in (await run("fit", code=1))[1]
    await publish(settings, rated_stream(40))
    few, told = await run("fit", "--propose", "--by", "anna", code=1)
    assert "nothing is promised for auto send, binary en: too few ratings: at least" in few
    assert "60 ratings" in few
    assert "is noted as attempt 1, which counts" in told
    (noted,) = map(json.loads, (await run("list", "--json"))[0].splitlines())
    assert "promises nothing" in (await run("approve", noted["version"], "--by", "anna", code=1))[1]

    await publish(settings, rated_stream(700))
    plot = tmp_path / "fit.svg"
    text, told = await run("fit", "--alpha", "0.05", "--propose", "--by", "anna", "--plot", plot, *_BUDGET)
    version = next(word for word in told.replace(";", " ").split() if word.startswith("fitted-"))
    assert "700 answers, 700 rated: 700 held or drawn, 0 by the choice of a reviewer" in text
    assert "Brier score" in text
    assert b"<svg" in plot.read_bytes()[:1_000]
    listed = json.loads((await run("list", "--json"))[0].splitlines()[-1])
    assert (listed["version"], listed["status"], listed["current"]) == (version, "proposed", False)
    (certificate,) = listed["certificates"]
    assert round(certificate["delta_spent"], 5) == 0.00833, "it was the second attempt"
    assert certificate["bound"] <= 0.05
    state = await read_policies(settings)
    check_figures(state.version(version), certificate)
    check_asking(state.version(version), text)
    report = json.loads((await run("fit", "--alpha", "0.1", "--json"))[0])
    assert report["attempt"] == 3
    assert report["groups"][0]["true_sent"]["value"] > 0.7
    assert report["proposal"]["risk"]["calibration"]["bins"]

    assert "was not proposed" in (await run("approve", "fitted-x", "--by", "anna", code=1))[1]
    await run("approve", version, "--by", "anna", "--reason", "ratings of February")
    assert (await read_policies(settings)).current.version == version
    shown = (await run("show"))[0]
    assert f"{version}: active" in shown
    assert "ratings of February" in shown
    assert (
        "--group orders nl"
        in (await run("withdraw", version, "--by", "anna", "--reason", "x", "--group", "orders nl", code=2))[
            1
        ]
    )
    await run("withdraw", version, "--by", "anna", "--reason", "one group", "--group", "binary en")
    assert json.loads((await run("show", "--json"))[0])["withdrawn_groups"] == ["binary en"]
    compared = json.loads((await run("compare", "recorded", version, "--json"))[0])["groups"][0]
    assert (compared["only_first"], compared["first"]["sent"]) == (0, 0)
    assert compared["only_second"] == compared["second"]["sent"] > 200
    assert compared["only_second_mistakes"]["value"] <= 0.05
    assert "first: recorded" in (await run("compare", "recorded", version))[0]
    await run("withdraw", version, "--by", "anna", "--reason", "all of it")
    assert json.loads((await run("show", "--json"))[0])["status"] == "withdrawn"
    await run("approve", "settings", "--by", "anna")
    assert "the policy of the settings decides" in (await run("list"))[1]


async def test_a_job_that_fits_lets_its_proposal_decide_at_once(topics: Topics, settings: Settings) -> None:
    await publish(settings, rated_stream(700))

    async def fit(*options: str) -> tuple[int, str]:
        with capture_logs():
            arguments = ("policy", "fit", *options)
            done = await asyncio.to_thread(truthgate_here, *arguments, environment=variables(settings))
        return done.returncode, done.stderr

    code, told = await fit("--approve")
    assert code == 2
    assert "--approve needs --propose" in told
    code, told = await fit("--propose", "--approve", "--by", "weekly job")
    assert code == 0
    version = (await read_policies(settings)).current.version
    assert version.startswith("fitted-")
    assert f"{version} decides from now on" in told


async def test_who_approves_is_told_if_nobody_watches(topics: Topics, settings: Settings) -> None:
    await write_changes(settings, a_change("fitted-1", Change.PROPOSED))
    for share, version, is_told in (
        ("0", "fitted-1", True),
        ("0.02", "fitted-1", False),
        ("0", "settings", False),
    ):
        own = {**variables(settings), "TRUTHGATE_DESK__AUDIT_SHARE": share}
        with capture_logs():
            arguments = ("policy", "approve", version, "--by", "anna")
            done = await asyncio.to_thread(truthgate_here, *arguments, environment=own)
        assert done.returncode == 0, done.stderr
        assert ("nobody watches" in done.stderr) is is_told
