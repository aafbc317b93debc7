"""``truthgate judge``: opinions of language models by batch files."""

from streams.cli.judge.command import app

__all__ = ["app"]
