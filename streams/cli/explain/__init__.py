"""``truthgate explain``: everything about one verdict."""

from streams.cli.explain.command import explain

__all__ = ["explain"]
