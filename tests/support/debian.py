"""Programs that Debian packages and Python's index does not, such as Prometheus and Chromium.

What is on PATH is used. Else the package is fetched once into the user's cache, as apt.py says.
"""

import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from platformdirs import user_cache_path

from tests.support.apt import NotFetched, has_apt, unpack
from tests.support.locks import locked

#: Below the time limit of one test, so that the reason is told and not a timeout.
_LOCK_SECONDS = 240.0


@dataclass(frozen=True, slots=True)
class _Tool:
    packages: tuple[str, ...]
    path: str
    needed: bool
    """Whether what the package depends on is needed to run it."""


_PROMETHEUS = ("prometheus",)
_TOOLS = {
    "etcd": _Tool(("etcd-server",), "usr/bin/etcd", needed=False),
    "containerd": _Tool(("containerd",), "usr/bin/containerd", needed=False),
    # No program of this name is on any PATH: another one that is, is called bridge.
    "cni-bridge": _Tool(("containernetworking-plugins",), "usr/lib/cni/bridge", needed=False),
    "prometheus": _Tool(_PROMETHEUS, "usr/bin/prometheus", needed=False),
    "promtool": _Tool(_PROMETHEUS, "usr/bin/promtool", needed=False),
    "chromium": _Tool(("chromium", "fonts-dejavu-core"), "usr/lib/chromium/chromium", needed=True),
}

_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>{root}/usr/share/fonts</dir>
  <cachedir>{root}/fontconfig</cachedir>
  <alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
  <alias><family>serif</family><prefer><family>DejaVu Serif</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
</fontconfig>
"""

# Its libraries lie where the loader does not look, and it draws no text without fonts.
_LAUNCHER = """#!/bin/sh
LD_LIBRARY_PATH="{libraries}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
FONTCONFIG_FILE="{root}/fonts.conf"
export LD_LIBRARY_PATH FONTCONFIG_FILE
exec "{program}" "$@"
"""


def debian_tool(name: str) -> Path:
    """Give the path of one of these programs, fetching it the first time.

    Where it cannot be had the test that asks is skipped if this is no Debian, and fails if it is, or on CI.
    """
    if found := shutil.which(name):
        return Path(found)
    if not has_apt():
        refuse = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        refuse(f"{name} is not on PATH, and there is no apt to fetch it with")
    try:
        return _fetched(_TOOLS[name])
    except (NotFetched, TimeoutError) as error:
        pytest.fail(f"{name} is not on PATH and could not be fetched: {error}")


def _fetched(tool: _Tool) -> Path:
    cache = user_cache_path("truthgate") / "debian" / f"{_release()}-{platform.machine()}"
    root = cache / tool.packages[0]
    program = root / ("launch" if tool.needed else tool.path)
    if not program.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with locked(cache / f"{tool.packages[0]}.lock", _LOCK_SECONDS):
            if not root.exists():
                unpack(tool.packages, root, needed=tool.needed)
            if tool.needed and not program.exists():
                _write_launcher(program, root, tool)
    return program


def _release() -> str:
    """Name the system's release, such as ``bookworm``: what is unpacked fits the libraries of one alone."""
    return platform.freedesktop_os_release().get("VERSION_CODENAME", "unknown")


def _write_launcher(launcher: Path, root: Path, tool: _Tool) -> None:
    (root / "fonts.conf").write_text(_FONTS.format(root=root), "utf-8")
    folders = sorted({str(file.parent) for file in root.glob("*/**/lib*.so*") if file.is_file()})
    text = _LAUNCHER.format(libraries=":".join(folders), root=root, program=root / tool.path)
    partial = launcher.with_suffix(".part")
    partial.write_text(text, "utf-8")
    partial.chmod(0o755)
    partial.rename(launcher)
