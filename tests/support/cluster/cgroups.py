"""The group of processes that the kernel counts the node's containers in, below one name."""

import os
import time
from pathlib import Path

NAME = "truthgate-cluster"
_TOP = Path("/sys/fs/cgroup")
_SECONDS = 20.0
_POLL_SECONDS = 0.1


def remove() -> None:
    """Remove what containers have left, in whatever version of cgroups; AssertionError where it is in use."""
    end = time.monotonic() + _SECONDS
    while left := [each for top in _tops() for each in _below(top) if not _removed(each)]:
        assert time.monotonic() < end, f"still in use: {left[0]}"
        time.sleep(_POLL_SECONDS)


def _tops() -> list[Path]:
    return [each for each in (_TOP / NAME, *_TOP.glob(f"*/{NAME}")) if each.is_dir()]


def _below(top: Path) -> list[Path]:
    """Give a folder and all below it, the deepest first."""
    return [Path(folder) for folder, _, _ in os.walk(top, topdown=False)]


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except OSError:  # its last process is still ending
        return False
    return True
