"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from stat import S_ISDIR
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
    if path is not None and path != STANDARD_INPUT:
        _is_folder(path)
    return path


def _existing_file(path: Path) -> Path:
    if path != STANDARD_INPUT and _is_folder(path):
        raise typer.BadParameter(f"{path} is a folder")
    return path


def _is_folder(path: Path) -> bool:
    try:
        return S_ISDIR(path.stat().st_mode)
    except FileNotFoundError:
        raise typer.BadParameter(f"{path} does not exist") from None
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be read: {error.strerror}") from None


InputFile = Annotated[
    Path, typer.Argument(metavar="FILE", callback=_existing_file, help="JSONL; - is standard input.")
]

OptionalInputFile = Annotated[
    Path | None,
    typer.Option(
        "--file",
        metavar="FILE",
        callback=lambda path: path and _existing_file(path),
        help="Verdicts as JSONL, as `truthgate score` writes them, in place of Kafka; - is standard input.",
    ),
]


def _existing_files(paths: list[Path] | None) -> list[Path]:
    if (paths or []).count(STANDARD_INPUT) > 1:
        raise typer.BadParameter("standard input can be read once only")
    return [_existing_file(path) for path in paths or []]


def existing_pair(paths: tuple[Path, Path] | None) -> tuple[Path, Path] | None:
    """Refuse two files one of which is not there."""
    _existing_files(list(paths or ()))
    return paths


OptionalInputFiles = Annotated[
    list[Path] | None,
    typer.Argument(metavar="FILE...", callback=_existing_files, help="JSONL; - is standard input."),
]

InputFileOrFolder = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE|FOLDER",
        callback=_existing,
        help="JSONL (- is standard input), or a folder of Markdown and HTML files.",
    ),
]
