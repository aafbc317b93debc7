"""`truthgate evaluate`: the tables of the paper for files of rated answers."""

from streams.cli.evaluate.evaluate_command import evaluate

__all__ = ["evaluate"]
