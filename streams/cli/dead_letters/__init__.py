"""``truthgate dead-letters``: look at them, and send them again."""

from streams.cli.dead_letters.dead_letter_commands import app

__all__ = ["app"]
