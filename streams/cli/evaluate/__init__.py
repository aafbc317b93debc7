"""``truthgate evaluate``: the paper's tables for files of rated answers."""

from streams.cli.evaluate.evaluate_command import evaluate

__all__ = ["evaluate"]
