"""The ``truthgate`` command: see ``truthgate --help``."""

from streams.cli.entry import main

__all__ = ["main"]
