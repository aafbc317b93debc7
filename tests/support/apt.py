"""Debian packages unpacked into a folder: fetched and checked by the system's own apt, nothing installed.

No root is needed: apt works in folders of the user's, with the system's sources, keys and list of
installed packages, so it fetches what a package needs and the system does not have.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

_UPDATE_SECONDS = 90
_DOWNLOAD_SECONDS = 150
_UNPACK_SECONDS = 60


class NotFetched(Exception):
    """A package could not be had; the message says why, with the last words of apt."""


def has_apt() -> bool:
    """Whether this system has apt and dpkg."""
    return all(map(shutil.which, ("apt-get", "dpkg-deb")))


def unpack(packages: Sequence[str], folder: Path, *, needed: bool) -> None:
    """Fetch packages, and what they need where ``needed``, and unpack them into the new ``folder``.

    The folder is there whole or not at all. Raises NotFetched.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        made = Path(work) / "unpacked"
        made.mkdir()
        for archive in _download(packages, Path(work), needed=needed):
            _run(["dpkg-deb", "--extract", str(archive), str(made)], Path(work), _UNPACK_SECONDS)
        made.rename(folder)


def _download(packages: Sequence[str], work: Path, *, needed: bool) -> list[Path]:
    for each in ("state/lists/partial", "cache/archives/partial"):
        (work / each).mkdir(parents=True)
    # Its exit code is not asked for: a source of others that fails, or a hook that needs root, is no matter.
    _run(["apt-get", *_options(work), "update"], work, _UPDATE_SECONDS, check=False)
    if needed:
        wanted = ["install", "--download-only", "--yes", "--no-install-recommends", *packages]
        _run(["apt-get", *_options(work), *wanted], work, _DOWNLOAD_SECONDS)
    else:
        _run(["apt-get", *_options(work), "download", *packages], work / "cache/archives", _DOWNLOAD_SECONDS)
    return sorted((work / "cache/archives").glob("*.deb"))


def _options(work: Path) -> list[str]:
    options = {
        "Dir::State": work / "state",
        "Dir::State::status": "/var/lib/dpkg/status",
        "Dir::Cache": work / "cache",
        "Debug::NoLocking": "true",  # the lock of dpkg is root's; nothing is installed
        "APT::Sandbox::User": "",  # root's apt would fetch as a user who may not write here
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
        "Acquire::http::Timeout": "20",
        "Acquire::https::Timeout": "20",
    }
    return [part for name, value in options.items() for part in ("-o", f"{name}={value}")]


def _run(command: Sequence[str], folder: Path, seconds: float, *, check: bool = True) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NotFetched(f"{command[0]} took longer than {seconds:g} s") from None
    if check and done.returncode:
        raise NotFetched(f"{command[0]} failed: {done.stdout.decode(errors='replace')[-500:]}")
