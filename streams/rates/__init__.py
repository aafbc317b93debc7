"""Hallucination rates: counts in windows of event time, with confidence bounds, and alerts on them."""

from streams.rates.windows import Tally, add_to_tallies, wilson_interval

__all__ = ["Tally", "add_to_tallies", "wilson_interval"]
