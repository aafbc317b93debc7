"""``truthgate judge``: opinions of language models by batch files."""

from streams.cli.judge.judge_commands import app

__all__ = ["app"]
