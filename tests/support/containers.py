"""Containers without a daemon or a registry, in a storage of the tests' own.

Debian's buildah, podman and runc build and run them, as root; where that or a tool is missing, a test that
asks is skipped in one line.
"""

import configparser
import json
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from platformdirs import user_cache_path

from tests.support.debian_base import debian_base
from tests.support.locks import locked

_TOOLS = ("buildah", "podman", "runc", "debootstrap")
_BUILD_SECONDS = 900.0
_COMMAND_SECONDS = 120.0
#: What was not used for so long is removed: a storage of many copies is large.
_KEPT = "24h"

# crun refuses hybrid cgroups; no systemd is asked for any; limits of files are the machine's.
_CONFIGURATION = """[containers]
default_ulimits = []
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
tmp_dir = "{run}/libpod"
"""

#: The certificates that this machine trusts, which may be more than the world's, and where a build has them.
_TRUSTED, _TRUSTED_INSIDE = Path("/etc/ssl/certs/ca-certificates.crt"), "/run/trusted.crt"
_PIP = Path("/etc/pip.conf")


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command in a container came to."""

    code: int
    output: str
    errors: str


class Containers:
    """Builds images and runs containers, in a storage that other processes of this user may share."""

    def __init__(self) -> None:
        self._cache = user_cache_path("truthgate") / "containers"
        self._cache.mkdir(parents=True, exist_ok=True)
        self._storage = self._cache / "storage"
        # Below /run, so that the machine's end is the end of what is there: podman looks for that.
        self._run = Path("/run/truthgate-tests")
        self._run.mkdir(parents=True, exist_ok=True)
        configuration = self._cache / "containers.conf"
        configuration.write_text(_CONFIGURATION.format(run=self._run), "utf-8")
        self.environment = {
            "BUILDAH_ISOLATION": "chroot",
            "DISABLE_HC_SYSTEMD": "true",
            **os.environ,
            "CONTAINERS_CONF": str(configuration),
        }

    def build(self, context: Path) -> str:
        """Build the Dockerfile of a folder and give the image's id; what was built before is used again.

        AssertionError with the last lines where it fails.
        """
        with locked(self._cache / "build.lock", _BUILD_SECONDS), tempfile.TemporaryDirectory() as folder:
            self._provide(base_of(context / "Dockerfile"))
            built = self._build(context, Path(folder))
            self.podman("image", "prune", "--all", "--force", "--filter", f"until={_KEPT}", check=False)
        return built

    def podman(
        self, *arguments: str, stdin: bytes = b"", check: bool = True, seconds: float = _COMMAND_SECONDS
    ) -> Ran:
        """Run podman to its end; AssertionError with what it said where it fails and ``check`` is set."""
        done = subprocess.run(
            self.command(*arguments),
            env=self.environment,
            input=stdin,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
        ran = Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert not (check and ran.code), f"podman {' '.join(arguments)}: {ran.errors[-2000:]}"
        return ran

    def command(self, *arguments: str) -> list[str]:
        """Give the command line of podman with the storage of the tests."""
        return ["podman", f"--root={self._storage}", f"--runroot={self._run}/storage", *arguments]

    def inspect(self, kind: str, name: str) -> dict[str, Any]:
        """Give what podman knows of an image or a container."""
        (found,) = json.loads(self.podman(kind, "inspect", name).output)
        return found

    def _provide(self, base: str) -> None:
        if self.podman("image", "exists", base, check=False).code:
            release = base.rpartition(":")[2].removesuffix("-slim")
            self.podman("import", str(debian_base(release, self._cache)), base)

    def _build(self, context: Path, work: Path) -> str:
        written = work / "image-id"
        command = [
            *("buildah", f"--root={self._storage}", f"--runroot={self._run}/storage", "bud"),
            *("--format=docker", "--layers", "--pull-never", "--network=host", f"--iidfile={written}"),
            *_as_this_machine(work),
            str(context),
        ]
        done = subprocess.run(
            command,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_BUILD_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout.decode(errors="replace")[-3000:]
        return written.read_text("utf-8").strip().removeprefix("sha256:")


def base_of(dockerfile: Path) -> str:
    """Give the full name of the image that a Dockerfile's stages build on, with its argument's default."""
    found = re.search(r"^ARG DEBIAN=(\S+)$", dockerfile.read_text("utf-8"), re.MULTILINE)
    assert found
    return f"docker.io/library/debian:{found[1]}"


def _as_this_machine(work: Path) -> list[str]:
    """Give the options with which a build's pip asks the index that this machine's asks, and trusts it."""
    settings = configparser.RawConfigParser()
    settings.read_dict({"global": {}})
    settings.read(_PIP)
    if index := os.environ.get("PIP_INDEX_URL"):
        settings["global"]["index-url"] = index
    options = []
    if _TRUSTED.exists():
        settings["global"]["cert"] = _TRUSTED_INSIDE
        options.append(f"--volume={_TRUSTED}:{_TRUSTED_INSIDE}:ro")
    written = work / "pip.conf"
    with written.open("w", encoding="utf-8") as file:
        settings.write(file)
    return [*options, f"--volume={written}:{_PIP}:ro"]


@cache
def containers() -> Containers:
    """Give the containers of this machine; skips the test where there cannot be any."""
    # Debian keeps some of the tools where the PATH of users does not lead.
    os.environ["PATH"] = os.pathsep.join([*os.environ["PATH"].split(os.pathsep), "/usr/sbin", "/sbin"])
    if missing := [tool for tool in _TOOLS if not shutil.which(tool)]:
        pytest.skip(f"no container is built or run without {', '.join(missing)} (Debian: apt install ...)")
    if os.geteuid():
        pytest.skip("containers are built and run as root")
    return Containers()
