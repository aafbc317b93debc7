"""What the tests in a cluster share: one cluster and one Kafka a session, and the image in it."""

from collections.abc import Iterator

import pytest
import yaml

from tests.cluster.surroundings import PRIORITY, PROGRAMS
from tests.support.charts import CHART
from tests.support.cluster import Cluster, cluster
from tests.support.cluster.definitions import definitions
from tests.support.cluster.kafka import KafkaForPods, kafka_for_pods
from tests.support.cluster.release import IMAGE
from tests.support.image import Image, image
from tests.support.java_start import quick_java

__all__ = ["image", "quick_java"]


@pytest.fixture(scope="session")
def kubernetes(image: Image) -> Iterator[Cluster]:
    """Run a cluster that has the image and knows the custom resources; skips where there can be none."""
    with cluster() as running:
        running.give_image(image.id, IMAGE)
        for name, program in {**PROGRAMS, _libretranslate(): "healthy"}.items():
            running.give_program(program, name)
        for file in definitions():
            running.client.kubectl("apply", "--server-side", f"--filename={file}")
        running.client.apply(PRIORITY)
        yield running


@pytest.fixture(scope="session")
def kafka(kubernetes: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaForPods]:
    """Run a Kafka that pods and this machine reach at the same addresses."""
    with kafka_for_pods(kubernetes.network, tmp_path_factory.mktemp("certificates")) as running:
        yield running


def _libretranslate() -> str:
    """Name the image that the chart runs for translation."""
    image = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))["libretranslate"]["image"]
    return f"{image['registry']}/{image['repository']}:{image['tag']}"
