"""The times up to which windows are closed, final and forgotten, which the verdicts alone do not tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streams.rates.windows import WindowSpec


@dataclass(frozen=True, slots=True)
class Boundaries:
    """The boundaries of an aggregator, in milliseconds since 1970.

    Windows that end at or before ``watermark`` are closed, ``final_to`` final, ``kept_from`` forgotten;
    those that start before their ``floors`` never come out. It holds right after the changes were taken,
    and is to be committed with them.
    """

    watermark: int
    final_to: int
    kept_from: int
    floors: Mapping[WindowSpec, int]

    def to_json(self) -> dict[str, Any]:
        """Write it as JSON-ready values."""
        return {
            "watermark": self.watermark,
            "final_to": self.final_to,
            "kept_from": self.kept_from,
            "floors": [[spec.size, spec.hop, floor] for spec, floor in self.floors.items()],
        }
