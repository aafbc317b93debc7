"""kubectl and helm, asked with a time limit for everything."""

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.kubernetes_tools import kubernetes_tool

_COMMAND_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Done:
    """What a command came to."""

    code: int
    output: str
    errors: str


class Client:
    """Asks one cluster, and sees nothing of the user's own settings of these tools.

    Args:
        kubeconfig: names the cluster.
        folder: where the tools keep what they keep.
    """

    def __init__(self, kubeconfig: Path, folder: Path) -> None:
        self._kubectl, self._helm = kubernetes_tool("kubectl"), kubernetes_tool("helm")
        self.kubeconfig = kubeconfig
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "KUBECONFIG": str(kubeconfig),
            "KUBECACHEDIR": str(folder / "kubectl"),
        }

    def kubectl(
        self, *arguments: str, stdin: str = "", check: bool = True, seconds: float = _COMMAND_SECONDS
    ) -> Done:
        """Run kubectl; AssertionError with what it said where it fails and ``check`` is set."""
        return self._run([str(self._kubectl), *arguments], stdin, check, seconds)

    def helm(self, *arguments: str, check: bool = True, seconds: float = _COMMAND_SECONDS) -> Done:
        """Run helm; AssertionError with what it said where it fails and ``check`` is set."""
        return self._run([str(self._helm), *arguments], "", check, seconds)

    def apply(self, *objects: dict[str, Any]) -> None:
        """Make these objects, or change them to this; none are fine."""
        if not objects:
            return
        listed = {"apiVersion": "v1", "kind": "List", "items": objects}
        self.kubectl("apply", "--server-side", "--filename=-", stdin=json.dumps(listed))

    def get(self, *arguments: str) -> dict[str, Any]:
        """Give what ``kubectl get`` finds."""
        found: dict[str, Any] = json.loads(self.kubectl("get", "--output=json", *arguments).output)
        return found

    def _run(self, command: Sequence[str], stdin: str, check: bool, seconds: float) -> Done:
        done = subprocess.run(
            command,
            env=self._environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        told = f"{' '.join(map(str, command[1:]))}: {done.stderr[-3000:]}{done.stdout[-1000:]}"
        assert not (check and done.returncode), told
        return Done(done.returncode, done.stdout, done.stderr)
