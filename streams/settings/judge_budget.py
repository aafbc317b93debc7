"""Section ``judges.budget``: how much may be spent on asking language models."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from streams.settings.base import Section

_MOST = 10**12


class BudgetSettings(Section):
    """How much all workers together may spend; what is not set is not limited.

    Each worker has the share of its partitions of ``answers``, in whole numbers. A limit should be a multiple
    of what one opinion needs, for each partition: what the share is too small for is never asked about.
    Answers that only one label could decide are not asked about while less is left than half of what even
    spending over the minute and the day would leave. A worker that is killed forgets at most what it spent
    in its last second, and a partition that moves to another worker has its share of the day anew there.
    """

    requests_per_minute: int | None = Field(None, ge=1, le=_MOST, description="in each minute of the clock")
    tokens_per_minute: int | None = Field(
        None, ge=1, le=_MOST, description="of requests and replies together, in each minute of the clock"
    )
    requests_per_day: int | None = Field(None, ge=1, le=_MOST, description="in each day of UTC")
    tokens_per_day: int | None = Field(
        None, ge=1, le=_MOST, description="of requests and replies together, in each day of UTC"
    )
    file: Path | None = Field(
        None,
        description="where a worker notes what it has spent, for its next start; no other may have the same; "
        "unset: beside documents.store",
    )
