"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Settings as TOML, as TRUTHGATE_CONFIG names it; the environment wins over it.",
    ),
]

AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON object a line, for programs.")]

STANDARD_INPUT = Path("-")


def _existing(path: Path | None) -> Path | None:
    # typer's own check takes "-" for a file's name.
    if path is not None and path != STANDARD_INPUT and not path.exists():
        raise typer.BadParameter(f"{path} does not exist")
    return path


def _existing_file(path: Path) -> Path:
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a folder")
    _existing(path)
    return path


InputFile = Annotated[
    Path, typer.Argument(metavar="FILE", callback=_existing_file, help="JSONL; - is standard input.")
]


def _existing_files(paths: list[Path]) -> list[Path]:
    if paths.count(STANDARD_INPUT) > 1:
        raise typer.BadParameter("standard input can be read once only")
    return [_existing_file(path) for path in paths]


InputFiles = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", callback=_existing_files, help="JSONL; - is standard input."),
]

InputFileOrFolder = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE|FOLDER",
        callback=_existing,
        help="JSONL (- is standard input), or a folder of Markdown.",
    ),
]
