"""Options that several commands share."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from stat import S_ISDIR
from typing import Annotated, Final

import typer

from streams.cli.command_output import UsageError
from streams.documents.folder import is_language_tag, language_code_for_name

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


def check_languages(option: str, languages: Iterable[str] | None) -> None:
    """Refuse what names no language; ``option`` is the one that gives them.

    Raises:
        UsageError: one of them is no code.
    """
    for language in languages or ():
        if not is_language_tag(language):
            raise UsageError(unknown_language_message(option, language))


def unknown_language_message(option: str, language: str) -> str:
    """Say that this is no code, and which one was meant where that is known."""
    meant = language_code_for_name(language)
    hint = f": use {meant}" if meant else ", such as nl or en"
    return f"{option} {language}: is no code of a language{hint}"


_AGO: Final = re.compile(r"(\d{1,6}) ?([smhdw])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_time(text: str | datetime) -> datetime:
    """Read a moment: ``2026-03-02T09:15``, where the reader is or with a zone; or ``30m``, ``2h``, ``3d``.

    Returns:
        An aware time; for what is so long ago the present less that.

    Raises:
        typer.BadParameter: it is neither, or lies beyond what a time can be.
    """
    if isinstance(text, datetime):  # typer asks again for what it has read
        return text
    try:
        if ago := _AGO.fullmatch(text.strip()):
            return datetime.now(UTC) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError, OSError):
        raise typer.BadParameter(
            f"{text!r} is no time: such as 2026-03-02, 2026-03-02T09:15+01:00, or 30m, 2h, 3d for so long ago"
        ) from None


Since = Annotated[
    datetime | None,
    typer.Option(
        parser=parse_time,
        metavar="TIME",
        help="Judged at that time or later: 2026-03-02T09:15, or 2h, 3d ago.",
    ),
]

Until = Annotated[
    datetime | None,
    typer.Option(
        parser=parse_time, metavar="TIME", help="Judged before that time; ends when all these are shown."
    ),
]
