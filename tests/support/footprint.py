"""What the processes of a worker have in memory, read again and again while it works."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import psutil

_MB = 10**6


@dataclass(frozen=True, slots=True)
class Footprint:
    """Megabytes (10^6 bytes) in memory at one moment.

    ``main`` and ``scoring``, one figure a process, count what is shared with others in full;
    ``together`` counts it once, for all processes of the worker: what a container's limit is compared with.

    Args:
        seconds: since the beginning.
        verdicts: how many there were by then.
    """

    seconds: float
    verdicts: int
    main: float
    scoring: tuple[float, ...]
    together: float


def footprint(pid: int, seconds: float, verdicts: int) -> Footprint:
    """Read what a worker has in memory; AssertionError where no process of it scores."""
    main = psutil.Process(pid)
    # Each is forked from one server, which has the same command line and is a child of the worker itself.
    below = [
        one
        for one in main.children(recursive=True)
        if one.ppid() != pid and "forkserver" in " ".join(one.cmdline())
    ]
    assert below, "the worker has scoring processes"
    scoring = [one.memory_info().rss / _MB for one in sorted(below, key=lambda one: one.pid)]
    every = [main, *main.children(recursive=True)]
    together = sum(one.memory_full_info().pss for one in every) / _MB
    return Footprint(seconds, verdicts, main.memory_info().rss / _MB, tuple(scoring), together)


def growth(footprints: Sequence[Footprint], megabytes: Iterable[float]) -> float:
    """Give the slope, in megabytes a minute, of a figure of which each footprint has one."""
    minutes = [one.seconds / 60 for one in footprints]
    return statistics.linear_regression(minutes, list(megabytes)).slope


def second_half(footprints: Sequence[Footprint]) -> list[Footprint]:
    """Give those of the second half of the time."""
    middle = (footprints[0].seconds + footprints[-1].seconds) / 2
    return [one for one in footprints if one.seconds >= middle]


def as_table(footprints: Sequence[Footprint]) -> list[str]:
    """Write them as lines."""
    processes = [f"scoring {number}" for one in footprints[:1] for number, _ in enumerate(one.scoring, 1)]
    names = ("minute", "verdicts", "main", *processes, "together")
    lines = ["  ".join(f"{name:>9}" for name in names)]
    for one in footprints:
        values = (
            f"{one.seconds / 60:.1f}",
            f"{one.verdicts}",
            *(f"{megabytes:.1f}" for megabytes in (one.main, *one.scoring, one.together)),
        )
        lines.append("  ".join(f"{value:>9}" for value in values))
    return lines
