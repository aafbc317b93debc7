"""Counters summed per worker, for whoever needs their increase in full.

The first value of a series is no increase, however large. A dead letter of a kind that was not seen before
begins a series, and so does a worker's first verdict with its latency. The sums begin at 0 with the worker,
and fall with it alone.
"""

from __future__ import annotations

import re
from typing import Final

from streams.monitoring.deployment import Deployment
from streams.monitoring.rules import Group, Recording

LETTERS: Final = "instance_stage:truthgate_dead_letters:sum"
VERDICTS: Final = "instance:truthgate_verdicts:sum"
#: Verdicts whose time is known, and those of them that took no longer than ``verdict_within``.
TIMED: Final = "instance:truthgate_verdicts_timed:sum"
IN_TIME: Final = "instance:truthgate_verdicts_in_time:sum"

_LATENCY: Final = "truthgate_verdict_latency_seconds"


def sum_rules(deployment: Deployment, verdict_within: float) -> Group:
    """Give the recordings; ``verdict_within`` is the objective for the time to a verdict, in seconds."""
    letters = deployment.by("sum", deployment.series("truthgate_dead_letters_total"), "instance", "stage")
    verdicts = deployment.by("sum", deployment.series("truthgate_verdicts_total"), "instance")
    timed = deployment.by("sum", deployment.series(f"{_LATENCY}_count"), "instance")
    in_time = deployment.by(
        "sum", deployment.series(f"{_LATENCY}_bucket", at_most(verdict_within)), "instance"
    )
    # Verdicts are exported before there is one, and their latency is not.
    before_the_first = f"0 * {deployment.series(VERDICTS)}"
    recordings = (
        Recording(LETTERS, letters),
        Recording(VERDICTS, verdicts),
        Recording(TIMED, f"{timed} or {before_the_first}"),
        Recording(IN_TIME, f"{in_time} or {before_the_first}"),
    )
    return Group("truthgate-sums", recordings)


def at_most(seconds: float) -> str:
    """Write the matcher of the bucket with this bound, which is "5" or "5.0", as its exporter likes."""
    bound = f"{seconds:.10g}"
    # Two backslashes for one: PromQL reads escapes in its strings.
    escaped = re.escape(bound).replace("\\", "\\\\")
    return f'le=~"{escaped}(\\\\.0)?"'
