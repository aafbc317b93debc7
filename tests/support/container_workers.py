"""Workers in containers, hardened as a cluster that enforces the strictest standard runs them."""

import uuid
from pathlib import Path
from types import TracebackType
from typing import Any

from streams.settings import Settings
from tests.support.containers import Containers, Ran
from tests.support.workers import Worker, own_variables

#: Where the image keeps its state.
STATE = "/var/lib/truthgate"

#: Is where the image has it.
_OF_THE_IMAGE = {"TRUTHGATE_DOCUMENTS__STORE"}

HARDENED = (
    "--read-only",
    "--read-only-tmpfs=false",
    "--tmpfs=/tmp:rw,noexec,nosuid,nodev,size=128m",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--user=65532:65532",
    "--ulimit=host",
)


class ContainerWorker(Worker):
    """One worker in a container of its own, with its state on a volume that outlives the container.

    Args:
        containers: where it runs.
        image: the id of the image.
        settings: what it is configured with, by variables, but for where its state is.
        folder: where its log goes.
        options: further ones of podman's.
    """

    def __init__(
        self, containers: Containers, image: str, settings: Settings, folder: Path, *options: str
    ) -> None:
        super().__init__(settings, folder)
        self._environment = containers.environment
        self.containers = containers
        self.name = f"truthgate-{uuid.uuid4().hex[:12]}"
        variables = [
            f"--env={name}={value}"
            for name, value in own_variables(settings).items()
            if name not in _OF_THE_IMAGE
        ]
        self._arguments = [
            *("run", "--rm", f"--name={self.name}", f"--volume={self.name}:{STATE}", "--network=host"),
            *(*HARDENED, *options, *variables, image),
        ]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, traceback)
        self.containers.podman("volume", "rm", "--force", self.name)

    def _command(self) -> list[str]:
        return self.containers.command(*self._arguments)

    def kill(self) -> None:
        """End the container as a crash of the machine would, and wait until it is gone."""
        self.containers.podman("rm", "--force", "--time=0", self.name)
        self.wait(30)

    def terminate(self) -> int:
        """Ask the container to stop, as Kubernetes does, and return its exit code."""
        self.signal("TERM")
        return self.wait()

    def signal(self, name: str) -> None:
        """Send a signal to the container's first process."""
        self.containers.podman("kill", f"--signal={name}", self.name)

    @property
    def state(self) -> dict[str, Any]:
        """What podman knows of the container's state; nothing where there is no container yet."""
        there = self.containers.podman("container", "exists", self.name, check=False).code == 0
        return self.containers.inspect("container", self.name)["State"] if there else {}

    def python(self, program: str) -> Ran:
        """Run a Python program in the container, as the user that the worker is."""
        return self.containers.podman("exec", self.name, "python", "-c", program, check=False)
