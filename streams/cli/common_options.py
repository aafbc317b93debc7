"""Options that several commands share, and the settings that they change."""

import getpass
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from streams.cli.command_output import UsageError, say
from streams.documents.page_folder import is_language_tag, language_code_for_name
from streams.scorers.pool import fork_server
from streams.settings import MAX_PROCESSES, Settings

STANDARD_INPUT = Path("-")

# A scoring process takes as long to start as to score some answers; one that loads its own pipeline takes
# some 60 MB more than one that shares it.
_ANSWERS_PER_PROCESS = 25
_FEW_ANSWERS = 100
#: Concurrent answers per process: enough that none waits for input, few enough to bound memory.
IN_FLIGHT_PER_PROCESS = 16

_AGE: Final = re.compile(r"(\d{1,6}) ?([smhdw])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def _existing_file(path: Path | None) -> Path | None:
    if (existing := _existing(path)) and existing != STANDARD_INPUT and existing.is_dir():
        raise typer.BadParameter(f"{path} is a folder")
    return existing


def _existing(path: Path | None) -> Path | None:
    # typer's own check takes "-" for the name of a file.
    if path is None or path == STANDARD_INPUT:
        return path
    try:
        path.stat()
    except FileNotFoundError:
        raise typer.BadParameter(f"{path} does not exist") from None
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be read: {error.strerror}") from None
    return path


def _existing_files(paths: list[Path] | None) -> list[Path]:
    given = paths or []
    if given.count(STANDARD_INPUT) > 1:
        raise typer.BadParameter("standard input can be read only once")
    for path in given:
        _existing_file(path)
    return given


def existing_pair(paths: tuple[Path, Path] | None) -> tuple[Path, Path] | None:
    """Check that both files exist; raises BadParameter."""
    _existing_files(list(paths or ()))
    return paths


def parse_time(text: str | datetime) -> datetime:
    """Parse a time: ``2026-03-02T09:15``, local or with an offset; or an age before now: ``30m``, ``3d``.

    Returns an aware time; raises BadParameter if it is neither, or out of range.
    """
    if isinstance(text, datetime):  # typer parses twice
        return text
    try:
        if age := _AGE.fullmatch(text.strip()):
            return datetime.now(UTC) - timedelta(**{_UNITS[age[2]]: int(age[1])})
        return datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError, OSError):
        raise typer.BadParameter(
            f"{text!r} is not a time; expected ISO 8601, e.g. 2026-03-02T09:15:00Z, or an age: 30m, 2h, 3d"
        ) from None


class ProfileName(StrEnum):
    """The name of a scorer profile; typer accepts no list of a Literal."""

    TRUTHGATE = "truthgate"
    PAPER = "paper"


TranslateMode = Literal["off", "auto", "always"]


def existing_option(help_text: str, *names: str, folders: bool = False) -> Any:
    """Return an option for files that exist, or for folders, too."""
    metavar = "FILE|FOLDER" if folders else "FILE"
    return typer.Option(*names, exists=True, dir_okay=folders, metavar=metavar, help=help_text)


ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Settings as TOML; default: TRUTHGATE_CONFIG. Environment variables take precedence.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON object per line.")]
InputFile = Annotated[
    Path, typer.Argument(metavar="FILE", callback=_existing_file, help="JSONL; - is standard input.")
]
OptionalInputFile = Annotated[
    Path | None,
    typer.Option(
        "--file",
        metavar="FILE",
        callback=_existing_file,
        help="Read verdicts from this JSONL file, as `truthgate score` writes it, instead of Kafka; - is "
        "standard input.",
    ),
]
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
Since = Annotated[
    datetime | None,
    typer.Option(
        parser=parse_time,
        metavar="TIME",
        help="Only verdicts of this time or later, e.g. 2026-03-02T09:15, or an age, e.g. 2h, 3d.",
    ),
]
Until = Annotated[
    datetime | None,
    typer.Option(parser=parse_time, metavar="TIME", help="Only verdicts before this time; then end."),
]
Why = Annotated[
    str,
    typer.Option(
        "--reason",
        "-r",
        metavar="TEXT",
        help="Why. Everybody sees it: name no customer.",
    ),
]
By = Annotated[str | None, typer.Option("--by", metavar="NAME", help="Who. Default: the name of the user.")]
ProfileOption = Annotated[ProfileName | None, typer.Option("--profile", help="The scorer profile.")]
TranslateOption = Annotated[
    TranslateMode | None,
    typer.Option(
        "--translate",
        help="Score a translation: auto, if a translator is configured; always, and fail without one. "
        "Default: auto.",
    ),
]
ProcessesOption = Annotated[
    int | None,
    typer.Option("--processes", min=1, max=MAX_PROCESSES, help="Scoring processes; default: one per CPU."),
]


def check_languages(option: str, languages: Iterable[str] | None) -> None:
    """Check the language codes that an option gives; raises UsageError if one does not exist."""
    for language in languages or ():
        if not is_language_tag(language):
            raise UsageError(unknown_language_message(option, language))


def operator_and_reason(by: str | None, reason: str) -> tuple[str, str]:
    """Return who acts and why; raises UsageError if one is empty, or the user has no name."""
    try:
        who = getpass.getuser() if by is None else by.strip()
    except (KeyError, OSError) as error:  # a container may have no user of this number
        raise UsageError("the user has no name here: say who with --by") from error
    if not who:
        raise UsageError("--by is empty: say who")
    if not reason.strip():
        raise UsageError("--reason is empty: say why")
    return who, reason.strip()


def unknown_language_message(option: str, language: str) -> str:
    """Return the error message for a language code that does not exist, with the right one if known."""
    code = language_code_for_name(language)
    return f"{option} {language}: not a language code; {f'use {code}' if code else 'expected e.g. nl or en'}"


def apply_options(
    settings: Settings,
    processes: int | None,
    answers: int | None,
    profile: ProfileName | None = None,
    translate: TranslateMode | None = None,
) -> tuple[Settings, bool]:
    """Apply the options, start the fork server, and choose the number of processes for so many answers.

    ``answers`` is None if they cannot be counted; other options that are None leave a setting as it is.
    Returns the settings, and whether processes load their pipelines on demand, which is faster for few
    answers. Raises as :func:`with_translation_mode` does.
    """
    options = {"profile": profile and profile.value, "processes": processes}
    settings = settings.with_values("scoring", {key: value for key, value in options.items() if value})
    settings = with_translation_mode(settings, translate)
    few = answers is not None and answers <= _FEW_ANSWERS
    fork_server(on_demand=few)
    if answers is None or not few:
        return settings, False
    enough = min(settings.scoring.processes, answers // _ANSWERS_PER_PROCESS + 1)
    return settings.with_values("scoring", {"processes": enough}), True


def with_translation_mode(settings: Settings, mode: TranslateMode | None) -> Settings:
    """Return the settings without a translator if the mode is off, else unchanged.

    Raises UsageError if the mode is always, and no translator is configured.
    """
    if mode == "always" and settings.translation.provider is None:
        raise UsageError("--translate always: no translator is configured (set translation.provider)")
    if mode == "auto" and settings.translation.provider is None:
        say("warning: nothing is translated: no translator is configured (set translation.provider)")
    return settings.with_values("translation", {"provider": None}) if mode == "off" else settings
