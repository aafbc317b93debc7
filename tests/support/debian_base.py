"""The image that Debian's slim one stands for, made of Debian's packages where no registry can be asked.

It goes by the very name that the Dockerfile uses, which stays as its users need it.
"""

import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.support.locks import locked

_SECONDS = 600.0
_MIRROR = "http://deb.debian.org"
#: What slim images leave out, of every package that is installed later too.
_LEFT_OUT = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/info")
_EMPTIED = ("var/cache/apt", "var/lib/apt/lists")


class NotMade(Exception):
    """The base could not be made; the message says why, with the last words of debootstrap."""


def debian_base(release: str, cache: Path) -> Path:
    """Give the packed file system of a Debian release such as ``bookworm``, made the first time.

    Raises NotMade, and TimeoutError when another process is at it for too long.
    """
    archive = cache / f"debian-{release}-{platform.machine()}.tar"
    cache.mkdir(parents=True, exist_ok=True)
    with locked(archive.with_suffix(".lock"), _SECONDS):
        if not archive.exists():
            with tempfile.TemporaryDirectory(dir=cache) as work:
                _make(release, Path(work)).rename(archive)
    return archive


def _make(release: str, work: Path) -> Path:
    root, packed = work / "root", work / "packed.tar"
    _run(["debootstrap", "--variant=minbase", release, str(root)])
    _slim(root, release)
    _run(["tar", "--numeric-owner", "--create", f"--file={packed}", f"--directory={root}", "."])
    return packed


def _slim(root: Path, release: str) -> None:
    for folder in (*_LEFT_OUT, *_EMPTIED):
        shutil.rmtree(root / folder)
        (root / folder).mkdir()
    excluded = "".join(f"path-exclude /{folder}/*\n" for folder in _LEFT_OUT)
    (root / "etc/dpkg/dpkg.cfg.d/slim").write_text(excluded, "utf-8")
    sources = (
        f"deb {_MIRROR}/debian {release} main\n"
        f"deb {_MIRROR}/debian {release}-updates main\n"
        f"deb {_MIRROR}/debian-security {release}-security main\n"
    )
    (root / "etc/apt/sources.list").write_text(sources, "utf-8")


def _run(command: list[str]) -> None:
    done = subprocess.run(
        command,
        env={**os.environ, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode:
        raise NotMade(f"{command[0]} failed: {done.stdout.decode(errors='replace')[-500:]}")
