"""``truthgate dead-letters``: look at them, and send them again."""

from streams.cli.dead_letters.command import app

__all__ = ["app"]
