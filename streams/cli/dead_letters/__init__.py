"""`truthgate dead-letters`: list, replay and discard."""

from streams.cli.dead_letters.dead_letter_commands import app

__all__ = ["app"]
