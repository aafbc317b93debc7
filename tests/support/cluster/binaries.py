"""Kubernetes' own programs and small ones of ours, built by Go once a version into the user's cache.

``kubernetes/go.mod`` and ``go.sum`` beside this file pin the version and everything that is built with it.
"""

import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from platformdirs import user_cache_path

from tests.support.locks import locked

_PROGRAMS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet")
#: Run in images of their own, where there is nothing else.
_OWN = ("pause", "healthy", "wait")
_MODULE = Path(__file__).with_name("kubernetes")
#: Seven minutes on two idle cores; another process of this run may be at it.
_BUILD_SECONDS = 3000.0
_VERSION = "k8s.io/component-base/version"


def kubernetes() -> Path:
    """Give the folder of all programs, built the first time; skips without Go.

    AssertionError with the last lines where the build fails.
    """
    name = f"{version()}-{platform.machine()}-{_digest()}"
    folder = user_cache_path("truthgate") / "kubernetes" / name
    if folder.exists():
        return folder
    if not (go := shutil.which("go")):
        pytest.skip("Kubernetes is built by Go, which is not on PATH")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.with_name(f"{name}.lock"), _BUILD_SECONDS):
        if not folder.exists():
            with tempfile.TemporaryDirectory(dir=folder.parent) as work:
                made = Path(work) / "made"
                _build(go, made, [f"./{program}" for program in _OWN], {"CGO_ENABLED": "0"})
                _build(go, made, [f"k8s.io/kubernetes/cmd/{program}" for program in _PROGRAMS], {})
                made.rename(folder)
    return folder


def version() -> str:
    """Give the version that go.mod pins, such as ``v1.34.2``."""
    found = re.search(r"k8s\.io/kubernetes (v\S+)", (_MODULE / "go.mod").read_text("utf-8"))
    assert found
    return found[1]


def _digest() -> str:
    """Give what changes when anything of what is built does."""
    files = sorted(file for file in _MODULE.rglob("*") if file.is_file())
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:8]


def _build(go: str, target: Path, packages: list[str], environment: dict[str, str]) -> None:
    major, minor, _ = version().removeprefix("v").split(".")
    values = {"gitVersion": version(), "gitMajor": major, "gitMinor": minor}
    flags = " ".join(["-s", "-w", *(f"-X {_VERSION}.{name}={value}" for name, value in values.items())])
    done = subprocess.run(
        # Others may work on this machine meanwhile.
        ["nice", go, "build", "-mod=readonly", "-trimpath", "-ldflags", flags, "-o", f"{target}/", *packages],
        cwd=_MODULE,
        env={**os.environ, "GOWORK": "off", **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_BUILD_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-3000:]
