"""What the processes of a worker use: processor time by part, and memory."""

from __future__ import annotations

import time
from dataclasses import dataclass

import psutil

_MEGABYTE = 2**20


@dataclass(frozen=True, slots=True)
class Usage:
    """Seconds of processor time by part, and of the clock."""

    user: float
    system: float
    children: float
    broker: float
    clock: float

    def __sub__(self, earlier: Usage) -> Usage:
        return Usage(
            self.user - earlier.user,
            self.system - earlier.system,
            self.children - earlier.children,
            self.broker - earlier.broker,
            self.clock - earlier.clock,
        )


def usage(pid: int, broker: int) -> Usage:
    """Read what a process, those below it, and the broker have used up to now."""
    own = psutil.Process(pid).cpu_times()
    return Usage(
        own.user,
        own.system,
        sum(map(_seconds, psutil.Process(pid).children(recursive=True))),
        sum(map(_seconds, [psutil.Process(broker), *psutil.Process(broker).children(recursive=True)])),
        time.monotonic(),
    )


@dataclass(frozen=True, slots=True)
class Memory:
    """Megabytes: of the main process, a scoring process' own, and all together (shared pages once)."""

    main: float
    scoring: float
    together: float


def memory(pid: int, scorers: int) -> Memory:
    """Read the memory of a worker with so many scoring processes: those that have most of their own."""
    main = psutil.Process(pid)
    others = [one.memory_full_info() for one in main.children(recursive=True)]
    own = sorted((one.uss for one in others), reverse=True)[:scorers]
    whole = main.memory_full_info()
    together = whole.pss + sum(one.pss for one in others)
    return Memory(whole.rss / _MEGABYTE, sum(own) / max(1, len(own)) / _MEGABYTE, together / _MEGABYTE)


def _seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)
