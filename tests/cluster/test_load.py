"""Workers of the chart under load: whatever Kubernetes does to their pods, every answer gets its verdict."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field

import pytest

from schemas.records import ChatbotAnswer
from tests.support.charts import feature
from tests.support.chatbot import Chatbot
from tests.support.cluster import Cluster
from tests.support.cluster.kafka import KafkaForPods
from tests.support.cluster.members import member_ids
from tests.support.cluster.node import NAME
from tests.support.cluster.pauses import longest_pauses
from tests.support.cluster.release import Release, namespace
from tests.support.figures import Tell
from tests.support.ledger import read_until_settled, sample_answers
from tests.support.records import eventually

pytestmark = pytest.mark.timeout(3600)  # the cluster is in the first one, and Kubernetes may be built in it

_PER_SECOND = 8
#: More than are sent while anything here goes on.
_MOST = 8_000
_WORKERS = 2
_DRAIN_SECONDS = 300


@dataclass
class Gate:
    """A release, and all that was published to it so far."""

    release: Release
    answers: list[ChatbotAnswer] = field(default_factory=list)

    def pods(self) -> set[str]:
        """Give what tells one pod of a worker from its successor of the same name, for all that there are."""
        selector = "--selector=app.kubernetes.io/component=worker"
        found = self.release.cluster.client.get("pods", f"--namespace={self.release.namespace}", selector)
        return {pod["metadata"]["uid"] for pod in found["items"]}

    async def member_pods(self) -> list[str]:
        """Give the pods whose names the group knows its static members by."""
        name, uuid = self.release.workers, r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
        known = [
            re.fullmatch(f"({name}-[0-9]+)-{uuid}", each)
            for each in await member_ids(self.release.settings.kafka)
        ]
        return [each[1] for each in known if each]

    async def under_load(self, what: str, harm: Callable[[], Awaitable[None]], tell: Tell) -> None:
        """Do harm while answers come at a steady rate; every one must get its verdict.

        Tells for how long each partition paused.
        """
        settings, published = self.release.settings, len(self.answers)
        async with Chatbot(settings, sample_answers(_MOST, what.replace(" ", "-")), _PER_SECOND) as chatbot:
            await chatbot.sent_at_least(5 * _PER_SECOND)
            await harm()
            await chatbot.sent_at_least(chatbot.sent + 5 * _PER_SECOND)
            self.answers += await chatbot.stop()
        ledger = await read_until_settled(settings, self.answers)
        ledger.assert_settled(self.answers)
        sent = self.answers[published:]
        pauses = await longest_pauses(settings, ledger, sent)
        repeated = len(ledger.verdicts) - len(self.answers)
        tell(
            f"{what}: {len(sent)} answers at {_PER_SECOND} a second, none lost, {repeated} verdicts repeated "
            f"so far; partitions paused for {', '.join(f'{each:.1f}' for each in pauses.values())} s at most"
        )


@pytest.fixture(scope="module")
def gate(kubernetes: Cluster, kafka: KafkaForPods) -> Iterator[Gate]:
    """Install the chart with two workers, and uninstall it at the end."""
    kubernetes.volumes.add(_WORKERS)
    with namespace(kubernetes.client, "load") as name:
        files = [feature("default")]
        release = Release(kubernetes, name, kafka.bootstrap_servers, files, values={"replicaCount": _WORKERS})
        release.install()
        yield Gate(release)
        release.uninstall()


async def test_answers_flow_while_nothing_happens(gate, tell):
    await gate.under_load("quiet", lambda: asyncio.sleep(0), tell)


async def test_workers_are_static_members_by_the_names_of_their_pods(gate):
    assert await gate.member_pods() == [f"{gate.release.workers}-{n}" for n in range(_WORKERS)]


async def test_a_rolling_upgrade_loses_nothing(gate, tell):
    before = gate.pods()
    await gate.under_load(
        "rolling upgrade", lambda: asyncio.to_thread(gate.release.upgrade, "podAnnotations.round=two"), tell
    )
    assert not before & gate.pods()
    assert await gate.member_pods() == [f"{gate.release.workers}-{n}" for n in range(_WORKERS)]


async def test_a_rollback_loses_nothing(gate, tell):
    before = gate.pods()
    await gate.under_load("rollback", lambda: asyncio.to_thread(gate.release.rollback), tell)
    assert not before & gate.pods()


async def test_a_deleted_pod_loses_nothing(gate, tell):
    pod = f"pod/{gate.release.workers}-0"

    async def delete() -> None:
        await asyncio.to_thread(gate.release.kubectl, "delete", pod, seconds=_DRAIN_SECONDS)
        await asyncio.to_thread(gate.release.wait_ready)

    await gate.under_load("deleted pod", delete, tell)


async def test_a_killed_pod_loses_nothing(gate, tell):
    pod = f"pod/{gate.release.workers}-1"

    async def kill() -> None:
        await asyncio.to_thread(gate.release.kubectl, "delete", pod, "--grace-period=0", "--force")
        await asyncio.to_thread(gate.release.wait_ready)

    await gate.under_load("killed pod", kill, tell)


async def test_a_drained_node_loses_nothing(gate, tell):
    """The node takes pods again as soon as the drain has begun, in place of a second node."""
    before, client = gate.pods(), gate.release.cluster.client
    selector = "--pod-selector=app.kubernetes.io/part-of=truthgate"
    drain = ("drain", NAME, selector, "--delete-emptydir-data", f"--timeout={_DRAIN_SECONDS}s")

    def evicted() -> bool:
        return bool(before - gate.pods())

    async def drained() -> None:
        draining = asyncio.create_task(asyncio.to_thread(client.kubectl, *drain, seconds=_DRAIN_SECONDS + 10))
        await eventually(lambda: asyncio.to_thread(evicted), "the first pod is evicted", _DRAIN_SECONDS)
        await asyncio.to_thread(client.kubectl, "uncordon", NAME)
        await draining
        await asyncio.to_thread(gate.release.wait_ready)

    await gate.under_load("drained node", drained, tell)
    assert not before & gate.pods()
