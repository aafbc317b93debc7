"""``truthgate documents``: what a deployment knows."""

from streams.cli.documents.command import app

__all__ = ["app"]
