"""How often answers are untrue: counts in windows of event time, with bounds, and alerts on them."""

from streams.rates.windows import Tally, counted, wilson_interval

__all__ = ["Tally", "counted", "wilson_interval"]
