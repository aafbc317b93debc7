"""Every values file of the chart in a real cluster: it comes, judges, changes, and goes without a trace."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from streams.kafka.topics import create_topics
from streams.settings import KafkaSettings, Settings, TopicSettings
from tests.cluster.surroundings import Surroundings, surroundings
from tests.support.charts import FEATURES, feature
from tests.support.cluster import Cluster
from tests.support.cluster.kafka import KafkaForPods
from tests.support.cluster.release import Release, namespace

pytestmark = pytest.mark.timeout(3600)  # the cluster is in the first one, and Kubernetes may be built in it

#: So many at once, since each of them mostly waits.
_AT_ONCE = 3


@pytest.fixture(scope="module")
def courses(
    kubernetes: Cluster, kafka: KafkaForPods, request: pytest.FixtureRequest
) -> Iterator[Mapping[str, Future[str]]]:
    """Take every file that is asked for through its course, in a namespace of its own."""
    own = [item for item in request.session.items if item.path == request.path]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        try:
            asked = [item.callspec.params["name"] for item in own]
            yield {name: pool.submit(_course, kubernetes, kafka, name) for name in asked}
        finally:
            pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("name", FEATURES)
def test_a_release_judges_changes_and_goes_without_a_trace(courses, name, tell):
    tell(courses[name].result())


def _course(cluster: Cluster, kafka: KafkaForPods, name: str) -> str:
    """Take one file through its course, and tell what was measured."""
    needs = surroundings(name, kafka)
    with namespace(cluster.client, f"values-{name}") as own_namespace:
        own = {"replicaCount": 1, **needs.values}
        release = Release(cluster, own_namespace, needs.servers(kafka), [feature(name)], values=own)
        cluster.volumes.add(2)
        cluster.client.apply(*needs.objects(own_namespace))
        if needs.topics:
            asyncio.run(create_topics(_of_others(kafka, release, needs)))
        before, began = release.around(), time.monotonic()
        release.install()
        ready = time.monotonic()
        release.test()
        tried = time.monotonic()
        release.upgrade("commonAnnotations.changed=yes")
        release.rollback()
        release.uninstall()
        release.wait_gone(before, needs.kept)
        gone = time.monotonic()
    return (
        f"{name}: ready after {ready - began:.0f} s, tested in {tried - ready:.0f} s, "
        f"upgraded, rolled back and gone after {gone - began:.0f} s"
    )


def _of_others(kafka: KafkaForPods, release: Release, needs: Surroundings) -> Settings:
    """Give the settings of topics that somebody else makes, under the names that the chart derives."""
    assert needs.topics
    prefix = f"{release.namespace}.{release.name}."
    return Settings(
        kafka=KafkaSettings(bootstrap_servers=kafka.bootstrap_servers, topic_prefix=prefix),
        topics=TopicSettings(partitions=needs.topics),
    )
