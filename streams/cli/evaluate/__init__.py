"""``truthgate evaluate``: the paper's tables for files of rated answers."""

from streams.cli.evaluate.command import evaluate

__all__ = ["evaluate"]
