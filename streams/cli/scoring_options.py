"""Options of the commands that score files, and the settings that they lead to."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from schemas.jsonl import BadLine
from schemas.records import Verdict
from scoring.values.reasons import Reason
from streams.cli.exits import ExitCode, WrongUsage
from streams.cli.output import say
from streams.judging.pool import fork_server
from streams.settings import MOST_PROCESSES, Settings

# A process takes as long to start as to judge some answers; one that loads a pipeline for itself takes
# some 60 MB more than one that shares it.
_ANSWERS_EACH = 25
_FEW = 100

_UNTRANSLATED = Reason.TRANSLATION_UNAVAILABLE
_UNSEARCHED = Reason.RETRIEVAL_UNAVAILABLE
_LATE = Reason.SCORING_TIMEOUT

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


def started(settings: Settings, answers: int | None) -> tuple[Settings, bool]:
    """Start what takes long to load, and give the settings to score so many answers with.

    Few answers get fewer processes, and are better off with pipelines ``on_demand``: that is the second
    value. ``answers`` is None where they cannot be counted.
    """
    few = answers is not None and answers <= _FEW
    fork_server(on_demand=few)
    if answers is None or not few:
        return settings, False
    enough = min(settings.scoring.processes, answers // _ANSWERS_EACH + 1)
    scoring = settings.scoring.model_copy(update={"processes": enough})
    return settings.model_copy(update={"scoring": scoring}), True


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


class Unserved:
    """Counts the verdicts on answers that were to be translated, searched for or scored, and could not be."""

    def __init__(self) -> None:
        self._untranslated = 0
        self._unsearched = 0
        self._late = 0

    def see(self, outcome: Verdict | BadLine) -> None:
        """Take in what became of a line."""
        if isinstance(outcome, Verdict):
            self._untranslated += _UNTRANSLATED in outcome.degraded
            self._unsearched += _UNSEARCHED in outcome.degraded
            self._late += _LATE in outcome.degraded

    def tell(self, settings: Settings) -> ExitCode:
        """Say how many there were, if any, and give the exit code.

        It is 3 where a required service could not be reached, else 1 where an answer took too long.
        """
        if self._untranslated:
            say(f"{self._untranslated} answers could not be translated: degraded {_UNTRANSLATED}")
        if self._unsearched:
            say(f"{self._unsearched} answers could not be searched for: degraded {_UNSEARCHED}")
        tell_late(self._late)
        needed = self._unsearched or (self._untranslated and settings.translation.mode == "always")
        return ExitCode.UNREACHABLE if needed else late_code(self._late)


def tell_late(late: int) -> None:
    """Say how many answers took longer to score than they may, if any."""
    if late:
        say(f"{late} answers took longer to score than they may (scoring.timeout): degraded {_LATE}")


def late_code(late: int) -> ExitCode:
    """Give the exit code where so many answers took too long: they are not scored, as bad lines are not."""
    return ExitCode.BAD_INPUT if late else ExitCode.DONE
