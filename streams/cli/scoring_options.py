"""Options of the commands that score files, and the settings that they lead to."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from schemas.jsonl import BadLine
from schemas.records import Verdict
from scoring.reasons import Reason
from streams.cli.exits import ExitCode, WrongUsage
from streams.cli.output import say
from streams.settings import MOST_PROCESSES, Settings

ProfileName = Literal["paper", "extended"]
ProfileOption = Annotated[ProfileName | None, typer.Option("--profile", help="The scorer profile.")]
TranslateMode = Literal["off", "auto", "always"]
TranslateOption = Annotated[
    TranslateMode | None,
    typer.Option(
        "--translate",
        help="Score a translation: auto, if a translator is configured; always, and fail without one. "
        "Default: as configured (translation.mode).",
    ),
]
ProcessesOption = Annotated[
    int | None,
    typer.Option("--processes", min=1, max=MOST_PROCESSES, help="Scoring processes; default: one a CPU."),
]


def chosen(settings: Settings, profile: ProfileName | None, processes: int | None) -> Settings:
    """Give the settings with what the command line says instead; None leaves a setting as it is."""
    options = {"profile": profile, "processes": processes}
    scoring = settings.scoring.model_copy(update={key: value for key, value in options.items() if value})
    return settings.model_copy(update={"scoring": scoring})


def translated(settings: Settings, mode: TranslateMode | None) -> Settings:
    """Give the settings with this translation mode; None leaves it as it is.

    Raises WrongUsage for mode always where no translator is configured.
    """
    if mode is None:
        return settings
    if mode == "always" and settings.translation.provider is None:
        raise WrongUsage("--translate always: no translator is configured (set translation.provider)")
    translation = settings.translation.model_copy(update={"mode": mode})
    return settings.model_copy(update={"translation": translation})


class Untranslated:
    """Counts the verdicts on answers that were to be translated and could not be."""

    def __init__(self) -> None:
        self.count = 0

    def see(self, outcome: Verdict | BadLine) -> None:
        """Take in what became of a line."""
        if isinstance(outcome, Verdict) and Reason.TRANSLATION_UNAVAILABLE in outcome.degraded:
            self.count += 1

    def tell(self, settings: Settings) -> ExitCode:
        """Say how many there were, if any, and give the exit code: without a required service it is 3."""
        if not self.count:
            return ExitCode.DONE
        say(f"{self.count} answers could not be translated: degraded {Reason.TRANSLATION_UNAVAILABLE}")
        return ExitCode.UNREACHABLE if settings.translation.mode == "always" else ExitCode.DONE
