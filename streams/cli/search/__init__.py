"""``truthgate search``: what retrieval finds for a question, and why."""

from streams.cli.search.command import search

__all__ = ["search"]
