"""``truthgate topics``: make them, check them, and describe them for other tools."""

from streams.cli.topics.command import app

__all__ = ["app"]
