"""What only an evaluation needs: the packages of its extras, and the file of its plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from streams.cli.exits import CommandFailed, ExitCode, WrongUsage

if TYPE_CHECKING:
    from scoring.evaluation import Case

_PICTURES = {".png": "png", ".svg": "svg"}


def require(package: str, extra: str) -> None:
    """Raise WrongUsage where a package is not installed, saying which extra brings it."""
    if find_spec(package) is None:
        raise WrongUsage(f"this needs {package}: pip install 'truthgate[{extra}]'")


def check_plot(path: Path, inputs: Sequence[Path]) -> None:
    """Raise WrongUsage where no plot could be drawn to ``path``, before anything is judged."""
    if path.suffix.lower() not in _PICTURES:
        raise WrongUsage(f"--plot {path}: its name should end in {' or '.join(_PICTURES)}")
    if not path.parent.is_dir():
        raise WrongUsage(f"--plot {path}: there is no such folder")
    if path.resolve() in [each.resolve() for each in inputs]:
        raise WrongUsage(f"--plot {path} would overwrite the input")
    require("matplotlib", "plot")


def draw_to(path: Path, cases: Mapping[str, Sequence[Case]]) -> None:
    """Draw the plot; the file takes its name only when it is whole. Raises CommandFailed."""
    from streams.cli.evaluate.plot import draw  # noqa: PLC0415 - needs matplotlib

    partial = path.with_name(path.name + ".part")
    try:
        draw(partial, _PICTURES[path.suffix.lower()], cases)
        partial.replace(path)
    except OSError as error:
        raise CommandFailed(f"{path} cannot be written: {error.strerror}", ExitCode.WRONG_USAGE) from error
    finally:
        partial.unlink(missing_ok=True)
