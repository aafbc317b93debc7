"""Counters summed per worker, for whoever needs their increase in full.

A dead letter of a kind that was not seen before begins a series, and the first value of a series is no
increase, however large. Their sum begins at 0 with the worker, and falls with it alone.
"""

from __future__ import annotations

from typing import Final

from streams.monitoring.promql import Promql
from streams.monitoring.rules import Group, Recording

LETTERS: Final = "instance_stage:truthgate_dead_letters:sum"
VERDICTS: Final = "instance:truthgate_verdicts:sum"


def sum_rules(promql: Promql) -> Group:
    """Give the recordings."""
    letters = promql.by("sum", promql.series("truthgate_dead_letters_total"), "instance", "stage")
    verdicts = promql.by("sum", promql.series("truthgate_verdicts_total"), "instance")
    return Group("truthgate-sums", (Recording(LETTERS, letters), Recording(VERDICTS, verdicts)))
