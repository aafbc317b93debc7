"""``truthgate explain``: everything about one verdict."""

from streams.cli.explain.explain_command import explain

__all__ = ["explain"]
