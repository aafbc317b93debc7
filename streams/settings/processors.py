"""The number of processors that this process may use, which in a container is not that of the machine."""

from __future__ import annotations

import math
import os
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")


def usable_processors(cgroup: Path = _CGROUP) -> int:
    """Give how many processors the system lets this process use, at least one.

    Part of one counts as a whole. ``cgroup`` is where the limits of its container stand, in either version.
    """
    try:
        allowed = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        allowed = os.cpu_count() or 1
    return max(1, math.ceil(min(allowed, _quota(cgroup))))


def _quota(cgroup: Path) -> float:
    """Give the processors' worth of time that a container may have, infinite where nothing says so."""
    for named in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            quota, period = " ".join((cgroup / name).read_text("utf-8") for name in named).split()
            if (share := float(quota) / float(period)) > 0:
                return share
        except (OSError, ValueError, ZeroDivisionError):  # not there, "max", or a form yet to come
            continue
    return math.inf
