"""How often answers are untrue: counts in windows of event time, with bounds, and alerts on them."""

from streams.rates.tally import Tally, counted
from streams.rates.wilson import wilson_interval

__all__ = ["Tally", "counted", "wilson_interval"]
