"""A release of the chart, in a namespace of its own that admits nothing but hardened pods."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from streams.settings import Settings, load_settings
from tests.support.charts import CHART
from tests.support.cluster.client import Client, Done
from tests.support.cluster.whole import Cluster

IMAGE = "localhost/truthgate:test"
_READY_SECONDS = 240
_GONE_SECONDS = 240
#: One look asks for everything of every kind, and takes a second of a processor.
_POLL_SECONDS = 3.0


@contextmanager
def namespace(client: Client, name: str) -> Iterator[str]:
    """Make a namespace that enforces the strictest standard, and remove it with what is in it."""
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    for each in ("configmap/kube-root-ca.crt", "serviceaccount/default"):  # Kubernetes' own, a moment later
        client.kubectl("wait", f"--namespace={name}", each, "--for=create", "--timeout=30s")
    try:
        yield name
    finally:
        # Pods first: a namespace waits for those that it meets half of the time that they are granted.
        for what in (["statefulset,deployment,job,pod", "--all", f"--namespace={name}"], ["namespace", name]):
            client.kubectl("delete", *what, f"--timeout={_GONE_SECONDS}s", seconds=_GONE_SECONDS + 10)


@dataclass
class Release:
    """One release, which is not there before it is installed.

    Args:
        cluster: where it runs.
        namespace: the namespace, which is there.
        bootstrap_servers: where pods reach Kafka.
        files: files of values, the later ones winning.
        name: names it.
        values: more values, which win over the files and over what any release has here.
    """

    cluster: Cluster
    namespace: str
    bootstrap_servers: str
    files: Sequence[Path] = ()
    name: str = "gate"
    values: Mapping[str, Any] = field(default_factory=dict)

    def install(self) -> None:
        """Install it and wait until all of it is ready."""
        self._change("install")

    def upgrade(self, *changes: str) -> None:
        """Upgrade it to changed values, as helm's ``--set`` has them, and wait until all of it is ready."""
        self._change("upgrade", *(f"--set={each}" for each in changes))

    def rollback(self) -> None:
        """Go back to the revision before, and wait until all of it is ready."""
        self._helm("rollback", self.name, "--wait", f"--timeout={_READY_SECONDS}s")

    def uninstall(self) -> None:
        """Uninstall it and wait until its pods are gone."""
        self._helm("uninstall", self.name, "--wait", f"--timeout={_GONE_SECONDS}s")

    def test(self) -> Done:
        """Run the release's own test."""
        return self._helm("test", self.name, f"--timeout={_READY_SECONDS}s", "--logs")

    def wait_ready(self) -> None:
        """Wait until the workers are those that were asked for last, and all are ready."""
        status = ["rollout", "status", f"statefulset/{self.workers}", f"--timeout={_READY_SECONDS}s"]
        self.kubectl(*status, seconds=_READY_SECONDS + 10)

    def wait_gone(self, before: set[str], kept: str | None = None) -> None:
        """Wait until nothing is left that was not there ``before``, but for what is of kind ``kept``.

        AssertionError that names what is.
        """
        end = time.monotonic() + _GONE_SECONDS
        while left := {
            each
            for each in self.around() - before
            if not kept or not each.startswith((f"{kept}.", f"{kept}/"))
        }:
            assert time.monotonic() < end, left
            time.sleep(_POLL_SECONDS)

    def around(self) -> set[str]:
        """Name everything in the namespace, of every kind that there is."""
        kinds = self.kubectl("api-resources", "--verbs=list", "--namespaced", "--output=name").output.split()
        asked = ",".join(kind for kind in kinds if not kind.startswith("events"))
        return set(self.kubectl("get", asked, "--output=name").output.split())

    @property
    def workers(self) -> str:
        """The name of the StatefulSet."""
        (found,) = self.cluster.client.get("statefulset", "--namespace", self.namespace)["items"]
        return str(found["metadata"]["name"])

    @property
    def settings(self) -> Settings:
        """The settings that its workers are started with, but for what is secret."""
        return load_settings(self.settings_file)

    @cached_property
    def settings_file(self) -> Path:
        """The file of these settings."""
        selector = "--selector=app.kubernetes.io/component=worker"
        found = self.cluster.client.get("configmap", "--namespace", self.namespace, selector)
        (text,) = (
            each["data"]["truthgate.toml"] for each in found["items"] if "truthgate.toml" in each["data"]
        )
        file = self.cluster.folder / f"{self.namespace}.toml"
        file.write_text(text, "utf-8")
        return file

    def kubectl(self, *arguments: str, **options: Any) -> Done:
        """Run kubectl in its namespace."""
        return self.cluster.client.kubectl(f"--namespace={self.namespace}", *arguments, **options)

    def _change(self, how: str, *options: str) -> None:
        own = [self._written("here", _overlay(self.bootstrap_servers)), self._written("more", self.values)]
        files = [f"--values={file}" for file in (*self.files, *own)]
        try:
            self._helm(how, self.name, str(CHART), *files, *options, "--wait", f"--timeout={_READY_SECONDS}s")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self._told()}") from error

    def _written(self, name: str, values: Mapping[str, Any]) -> Path:
        file = self.cluster.folder / f"{self.namespace}-{name}.json"
        file.write_text(json.dumps(values), "utf-8")
        return file

    def _helm(self, *arguments: str) -> Done:
        seconds = _READY_SECONDS + 30
        return self.cluster.client.helm(f"--namespace={self.namespace}", *arguments, seconds=seconds)

    def _told(self) -> str:
        """Tell what the pods and the events say, for who reads why it failed."""
        asked = (("get", "pods", "--output=wide"), ("get", "events", "--sort-by=.lastTimestamp"))
        logs = ("logs", "--selector=app.kubernetes.io/part-of=truthgate", "--tail=20", "--all-containers")
        return "\n".join(self.kubectl(*each, check=False).output[-3000:] for each in (*asked, logs))


def _overlay(bootstrap_servers: str) -> dict[str, Any]:
    """Give the values with which any release runs here: two processors are few."""
    repository, _, tag = IMAGE.rpartition(":")
    return {
        "image": {"repository": repository, "tag": tag, "pullPolicy": "Never"},
        "settings": {"kafka": {"bootstrap_servers": bootstrap_servers}},
        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}},
    }
