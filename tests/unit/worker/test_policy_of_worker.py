"""A worker decides by the policy of the topic at that moment, says so, and stops when it cannot read it."""

import asyncio
import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from aiokafka import ConsumerRecord
from prometheus_client import generate_latest
from structlog.testing import capture_logs

from schemas import ChatbotAnswer, ContextPassage, PolicyChange, Verdict
from scoring.policy import Policy
from scoring.policy.risk import rating_versions
from scoring.values.exchange import Exchange, MessageType
from scoring.values.scored_answer import SCORER_VERSION, ScoredAnswer
from streams.observability.stages import Stages
from streams.pipeline.context import StaticDocuments
from streams.pipeline.pipeline import Deadline
from streams.reviews.policy_follower import PolicyFollower
from streams.reviews.policy_records import Change
from streams.reviews.policy_state import STALE_SECONDS, PolicyState
from streams.settings import Settings
from streams.worker import worker_components
from streams.worker.worker_metrics import WorkerMetrics
from tests.support.clock import Clock
from tests.support.pauses import raw_record
from tests.support.policies import a_certificate, a_change, a_fitted_policy, change_record
from tests.support.virtual_time import run_virtually

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
ANSWER = ChatbotAnswer("a-1", "c-1", "How?", "x" * 256, NOW, (ContextPassage("d-1", "So."),), model="m-9")
SENDING = Policy(auto_send_at=4.5)
VERSIONS = tuple(rating_versions("truthgate", SCORER_VERSION, "m-9", ()))
CERTIFICATE = a_certificate(threshold=0.4, versions=VERSIONS)
PROPOSED = a_change("v1", Change.PROPOSED, fitted=a_fitted_policy(CERTIFICATE))
APPROVED, WITHDRAWN = a_change("v1", Change.APPROVED), a_change("v1", Change.WITHDRAWN)
GROUP_WITHDRAWN = a_change("v1", Change.WITHDRAWN, "instruction nl")


class Scoring:
    async def score(self, exchange: Exchange, degraded: tuple[str, ...]) -> ScoredAnswer:
        return ScoredAnswer(4.6, MessageType.INSTRUCTION, "nl", degraded=degraded, profile="truthgate")


class Working:
    """A worker's pipeline with its policy, whose topic a test writes."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.state = PolicyState(self.clock)
        self.follower = PolicyFollower(self.state, asks_judges=True)
        self.changed = 0.0
        self.asked: list[int] = []
        self._offset = 0

    async def share(self, since: int) -> float:
        self.asked.append(since)
        return self.changed

    def read(self, *changes: PolicyChange, raw: Iterable[ConsumerRecord] = ()) -> None:
        records = [change_record(each, self._offset + n) for n, each in enumerate(changes)]
        self._offset += len(records)
        self.follower.apply([*records, *raw])
        self.state.freshness.confirm(self.clock.now)
        self.follower.on_poll()

    async def approve(self) -> None:
        self.read(PROPOSED, APPROVED)
        await self.follower.measure_documents(self.share)

    async def verdict(self) -> Verdict:
        pipeline = worker_components.build_pipeline(
            Settings(policy=SENDING),
            None,
            StaticDocuments({}),
            Scoring(),
            None,
            None,
            None,
            WorkerMetrics(),
            Stages(),
            policies=self.follower,
        )
        return await pipeline.verdict(ANSWER, Deadline(None), lambda: NOW)

    async def decided(self) -> tuple[str, str, str]:
        verdict = await self.verdict()
        return verdict.decision, verdict.reasons[0], verdict.policy_version


@pytest.fixture
async def working() -> Working:
    return Working()


BY_SETTINGS = ("auto_send", "high_score", SENDING.identity)


async def test_a_worker_changes_over_as_the_topic_says(working):
    assert (await working.decided())[:2] == ("review", "policy_unknown")  # not read yet
    working.read()
    assert await working.decided() == BY_SETTINGS
    working.read(PROPOSED)
    assert await working.decided() == BY_SETTINGS
    await working.approve()
    assert await working.decided() == ("auto_send", "low_risk", "v1")
    working.read(GROUP_WITHDRAWN)
    assert await working.decided() == ("review", "policy_withdrawn", "v1")
    working.read(APPROVED)
    assert await working.decided() == ("auto_send", "low_risk", "v1")
    working.read(WITHDRAWN)
    assert await working.decided() == ("review", "policy_withdrawn", "v1")
    working.read(a_change("settings", Change.APPROVED))
    assert await working.decided() == BY_SETTINGS
    working.read(a_change("settings", Change.WITHDRAWN))
    assert await working.decided() == ("review", "policy_withdrawn", SENDING.identity)


async def test_a_worker_without_word_from_the_brokers_sends_nothing_by_the_policy(working):
    await working.approve()
    assert working.follower.impairment() is None
    working.clock.now += STALE_SECONDS + 0.1
    assert await working.decided() == ("review", "policy_unknown", "v1")
    assert working.follower.impairment()
    working.read()
    assert await working.decided() == ("auto_send", "low_risk", "v1")
    working.follower.on_lost("deleted")
    assert await working.decided() == ("review", "policy_unknown", SENDING.identity)
    assert working.follower.impairment() == "the policy is unknown: nothing is sent by score, opinion or risk"


async def test_a_version_without_content_that_can_be_read_sends_nothing(working):
    working.read(raw=[raw_record(b"v1/proposed", b"nonsense", 0), change_record(APPROVED, 1)])
    await working.follower.measure_documents(working.share)
    assert await working.decided() == ("review", "policy_unknown", "v1")


async def test_a_certificate_ends_when_too_many_documents_have_changed(working):
    working.changed = CERTIFICATE.max_documents_changed
    await working.approve()
    assert working.asked == [CERTIFICATE.last]
    assert await working.decided() == ("auto_send", "low_risk", "v1")
    assert working.follower.certificates == {("valid",): 1, ("void",): 0}
    working.changed += 0.001
    await working.follower.measure_documents(working.share)
    assert await working.decided() == ("review", "risk_not_covered", "v1")
    assert working.follower.certificates == {("valid",): 0, ("void",): 1}


@pytest.mark.parametrize(
    ("versions", "reason"), [((), "low_risk"), (("judge=single m p1",), "risk_not_covered")]
)
async def test_without_judges_a_certificate_of_a_time_with_judges_covers_nothing(working, versions, reason):
    """What a judge would have found untrue looks like what no judge had to be asked about."""
    working.follower = PolicyFollower(working.state, asks_judges=False)
    known = replace(CERTIFICATE, versions=(*CERTIFICATE.versions, *versions))
    working.read(a_change("v1", Change.PROPOSED, fitted=a_fitted_policy(known)), APPROVED)
    await working.follower.measure_documents(working.share)
    assert (await working.decided())[1] == reason


async def test_a_certificate_whose_documents_were_not_counted_yet_covers_nothing(working):
    working.read(PROPOSED, APPROVED)
    assert await working.decided() == ("review", "risk_not_covered", "v1")


def test_documents_are_counted_with_each_record_and_once_a_minute():
    async def main() -> tuple[list[int], tuple[str, str, str]]:
        working = Working()
        working.read()
        watching = asyncio.create_task(working.follower.watch_documents(working.share))
        await asyncio.sleep(1)
        assert working.asked == []  # the settings have no certificate
        working.read(PROPOSED)
        await asyncio.sleep(0.1)
        counted = [len(working.asked)]
        working.read(APPROVED)
        decided = await working.decided()  # at once: it was counted when it was proposed
        await asyncio.sleep(0.1)
        counted.append(len(working.asked))
        await asyncio.sleep(125)
        counted.append(len(working.asked))
        watching.cancel()
        return counted, decided

    assert run_virtually(main()) == ([1, 2, 4], ("auto_send", "low_risk", "v1"))


async def test_metrics_show_the_policy_and_whether_it_may_send(working):
    metrics, working.clock.now = WorkerMetrics(), time.time()
    metrics.policies.watch(working.follower)

    def shown() -> list[str]:
        lines = generate_latest(metrics.registry).decode().splitlines()
        return sorted(line for line in lines if line.startswith("truthgate_policy"))

    assert shown() == ['truthgate_policy{state="unknown",version="settings"} 1.0']
    await working.approve()
    assert shown() == [
        'truthgate_policy_certificates{state="valid"} 1.0',
        'truthgate_policy_certificates{state="void"} 0.0',
        'truthgate_policy{state="active",version="v1"} 1.0',
    ]
    working.read(GROUP_WITHDRAWN, WITHDRAWN)
    assert shown()[2:] == [
        'truthgate_policy_withdrawn{group="instruction nl"} 1.0',
        'truthgate_policy{state="withdrawn",version="v1"} 1.0',
    ]


async def test_changes_are_logged_without_their_reasons(working):
    with capture_logs() as logs:
        working.read(PROPOSED)
        working.read(APPROVED, raw=[raw_record(b"v2/withdrawn", b"nonsense", 2)])
        working.follower.apply([raw_record(b"v2/withdrawn", None, 3)])
        working.clock.now += STALE_SECONDS + 1
        working.follower.on_poll()
        working.read()
        working.follower.on_lost("replaced")
        working.read()
    by = {"change": "approved", "group": None, "by": "anna"}
    assert [{name: value for name, value in line.items() if name != "log_level"} for line in logs] == [
        {"event": "policy_current", "version": "settings", "state": "active"},
        {"event": "policy_changed", "version": "v1", "offset": 1, **by},
        {"event": "policy_unreadable", "version": "v2", "error_type": "unknown_format", "offset": 2},
        {"event": "policy_record_removed", "version": "v2", "offset": 3},
        {"event": "policies_unknown"},
        {"event": "policies_known_again"},
        {"event": "policies_lost", "error_type": "replaced"},
        {"event": "policies_known_again"},
    ]
    assert "ratings of October" not in str(logs)
