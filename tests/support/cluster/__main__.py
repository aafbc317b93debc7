"""A cluster to look at: the chart in it, Kafka, and a replayed log; ``make cluster`` runs it until Ctrl-C."""

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.resources import files
from pathlib import Path

import pytest

from streams.embedded import EmbeddedKafka
from tests.support.charts import feature
from tests.support.cluster import cluster
from tests.support.cluster.release import IMAGE, Release, namespace
from tests.support.commands import clean_environment, command
from tests.support.image import build_image
from tests.support.kubernetes_tools import kubernetes_tool

_NAMESPACE = "support"
_WORKERS = 2
_PER_SECOND = 2
_SAMPLE = files("streams") / "sample"
_PUBLISH_SECONDS = 120.0
_END_SECONDS = 20.0


def main() -> int:
    """Run it; returns the exit code, 2 where there can be no cluster."""
    try:
        with _ended_in_order():
            _run()
    except KeyboardInterrupt:
        _say("all of it is gone")
    except pytest.skip.Exception as reason:
        _say(f"there can be no cluster here: {reason}")
        return 2
    return 0


def _run() -> None:
    """Start everything and wait; never returns but by Ctrl-C."""
    with ExitStack() as parts:
        _say("building the image")
        image = build_image()
        _say("starting Kubernetes; the first time on this machine it is built, which takes some ten minutes")
        running = parts.enter_context(cluster())
        running.give_image(image.id, IMAGE)
        kafka = parts.enter_context(EmbeddedKafka(host=str(running.network.gateway)))
        running.volumes.add(_WORKERS)
        parts.enter_context(namespace(running.client, _NAMESPACE))
        # The customers of the sample are invented.
        values = {"replicaCount": _WORKERS, "settings": {"web": {"texts": True}}}
        release = Release(
            running,
            _NAMESPACE,
            kafka.bootstrap_servers,
            [feature("default")],
            values=values,
        )
        _say("installing the chart")
        release.install()
        replaying = parts.enter_context(_replay(release))
        _tell(release)
        code = replaying.wait()
        _say(f"the log is replayed (exit code {code}); everything stays until Ctrl-C")
        signal.pause()


@contextmanager
def _replay(release: Release) -> Iterator[subprocess.Popen[bytes]]:
    """Publish the sample's documents, and its chat log at a rate that people can follow."""
    configured = f"--config={release.settings_file}"
    documents, answers = (str(_SAMPLE / f"{name}.nl.jsonl") for name in ("documents", "answers"))
    publish = command("publish-documents", documents, configured)
    subprocess.run(publish, env=clean_environment(), check=True, timeout=_PUBLISH_SECONDS)
    with subprocess.Popen(
        command("replay", answers, f"--rate={_PER_SECOND}", configured),
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_END_SECONDS)
            process.kill()


def _tell(release: Release) -> None:
    client, name = release.cluster.client, release.namespace
    pods = client.get("pods", f"--namespace={name}", "--selector=app.kubernetes.io/component=worker")["items"]
    kubectl, helm = kubernetes_tool("kubectl"), kubernetes_tool("helm")
    _say(
        f"{len(pods)} workers are ready, and a chat log is replayed at {_PER_SECOND} answers a second. Look:"
    )
    for pod in pods:
        port = pod["spec"]["containers"][0]["ports"][0]["containerPort"]
        _say(f"  http://{pod['status']['podIP']}:{port}/    the page of {pod['metadata']['name']}")
    _say(f"  export KUBECONFIG={client.kubeconfig}")
    _say(f"  {kubectl} get all --namespace {name}")
    _say(f"  {helm} test {release.name} --namespace {name} --logs")
    _say(f"  {Path(sys.executable).parent}/truthgate tail --from-beginning --config {release.settings_file}")
    _say("Ctrl-C ends all of it.")


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Let a request to end, or the terminal's going away, clear up as Ctrl-C does, which counts once."""

    def end(*_: object) -> None:
        for number in signals:
            signal.signal(number, signal.SIG_IGN)
        _say("ending")
        raise KeyboardInterrupt

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(each, end) for each in signals]
    try:
        yield
    finally:
        for each, handler in zip(signals, before, strict=True):
            signal.signal(each, handler)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
