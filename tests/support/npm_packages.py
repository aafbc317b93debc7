"""Packages of npm for tests, each with its hash in a lock: fetched once by the npm of this machine into the
user's cache. Where there is no npm, a test that asks is skipped in one line."""

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from platformdirs import user_cache_path

from tests.support.locks import locked

_LOCK_SECONDS = 240.0
_INSTALL_SECONDS = 200.0


def need_node(purpose: str) -> None:
    """Skip the test where node or npm is not there; ``purpose``: what is done with them, in a few words."""
    if missing := [tool for tool in ("node", "npm") if not shutil.which(tool)]:
        pytest.skip(f"{purpose} with {' and '.join(missing)}, which are not on PATH")


def installed(packages: Path, purpose: str) -> Path:
    """Give a folder with ``packages`` installed in ``node_modules``; skips the test where there is no npm.

    Args:
        packages: the folder of ``package.json`` and ``package-lock.json``.
        purpose: what they are for, for the line that says why a test is skipped.
    """
    need_node(purpose)
    lock = hashlib.sha256((packages / "package-lock.json").read_bytes()).hexdigest()[:16]
    folder = user_cache_path("truthgate") / "npm" / lock
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(folder.parent / f"{lock}.lock", _LOCK_SECONDS):
            if not folder.exists():
                _install(packages, folder)
    return folder


def _install(packages: Path, folder: Path) -> None:
    """Make the folder, which is there whole or not at all."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        made = Path(work) / "packages"
        made.mkdir()
        for name in ("package.json", "package-lock.json"):
            shutil.copy(packages / name, made)
        done = subprocess.run(
            ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
            cwd=made,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_INSTALL_SECONDS,
            check=False,
        )
        if done.returncode:
            pytest.fail(f"npm cannot fetch packages: {done.stdout.decode(errors='replace')[-500:]}")
        made.rename(folder)
