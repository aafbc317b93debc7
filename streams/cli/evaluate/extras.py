"""The packages of extras, and the file of an evaluation's plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from scoring.evaluation.cases import EvaluationCase
from streams.cli.command_files import atomic_write, check_not_overwriting, check_writable
from streams.cli.command_output import UsageError

if TYPE_CHECKING:  # it needs scipy
    from scoring.evaluation.opinion_report import JudgeRun

_PICTURES = {".png": "png", ".svg": "svg"}


def require_package(package: str, extra: str) -> None:
    """Refuse to go on without a package.

    Raises:
        UsageError: it is not installed; the message says which extra brings it.
    """
    if find_spec(package) is None:
        raise UsageError(f"this needs {package}: pip install 'truthgate[{extra}]'")


def check_plot(path: Path, inputs: Sequence[Path]) -> None:
    """Look whether a plot can be drawn to ``path``, before anything is judged.

    Raises:
        CommandFailed: it cannot.
    """
    if path.suffix.lower() not in _PICTURES:
        raise UsageError(f"--plot {path}: its name should end in {' or '.join(_PICTURES)}")
    check_not_overwriting(path, inputs, "--plot")
    check_writable(path)
    require_package("matplotlib", "plot")


def draw_to(path: Path, cases: Mapping[str, Sequence[EvaluationCase]], judges: Sequence[JudgeRun]) -> None:
    """Draw the plot, with a row for the judges where there are some.

    Raises:
        CommandFailed: the file cannot be written.
    """
    from streams.cli.evaluate.evaluation_plot import draw  # noqa: PLC0415 - needs matplotlib

    with atomic_write(path) as partial:
        draw(partial, _PICTURES[path.suffix.lower()], cases, judges)
