"""Options of the commands that score files, and the settings that they lead to."""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Literal

import typer

from scoring.values.rules import Reason
from streams.cli.command_output import ExitCode, UsageError, plural, say
from streams.llm.endpoints.faults import EndpointFault, describe_code
from streams.llm.endpoints.judge_metrics import EndpointObserver
from streams.scorers.pool import fork_server
from streams.settings import MAX_PROCESSES, Settings

# A process takes as long to start as to judge some answers; one that loads a pipeline for itself takes
# some 60 MB more than one that shares it.
_ANSWERS_EACH = 25
_FEW = 100

# Answers in work for each process: enough that none waits for input, few enough to bound memory.
_WAITING_EACH = 16

_UNTRANSLATED = Reason.TRANSLATION_UNAVAILABLE
_UNSEARCHED = Reason.RETRIEVAL_UNAVAILABLE
_LATE = Reason.SCORING_TIMEOUT
_UNASKED = Reason.JUDGE_UNAVAILABLE
_UNSERVED = {
    _UNTRANSLATED: "could not be translated",
    _UNSEARCHED: "could not be searched for",
    _LATE: "took longer to score than allowed (scoring.timeout_seconds)",
    Reason.VERIFIER_TIMEOUT: (
        "had claims that the verifier had no time for (scoring.verifier.timeout_seconds)"
    ),
    Reason.VERIFIER_FAILED: "had claims that the verifier failed on",
    _UNASKED: "in doubt, and no language model gave an opinion",
    Reason.JUDGE_BUDGET_SPENT: "in doubt, and judges.budget was spent",
}


class ProfileName(StrEnum):
    """The name of a profile; no Literal, of which typer takes no list."""

    TRUTHGATE = "truthgate"
    PAPER = "paper"


ProfileOption = Annotated[ProfileName | None, typer.Option("--profile", help="The scorer profile.")]
TranslateMode = Literal["off", "auto", "always"]
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
    typer.Option("--processes", min=1, max=MAX_PROCESSES, help="Scoring processes; default: one a CPU."),
]


def apply_options(settings: Settings, profile: ProfileName | None, processes: int | None) -> Settings:
    """Give the settings with what the command line says instead; None leaves a setting as it is."""
    options = {"profile": profile and profile.value, "processes": processes}
    return settings.with_values("scoring", {key: value for key, value in options.items() if value})


def prepare_processes(settings: Settings, answers: int | None) -> tuple[Settings, bool]:
    """Start what takes long to load, and give the settings to score so many answers with.

    Few answers get fewer processes, and are better off with pipelines ``on_demand``: that is the second
    value. ``answers`` is None where they cannot be counted.
    """
    few = answers is not None and answers <= _FEW
    fork_server(on_demand=few)
    if answers is None or not few:
        return settings, False
    enough = min(settings.scoring.processes, answers // _ANSWERS_EACH + 1)
    return settings.with_values("scoring", {"processes": enough}), True


def with_translation_mode(settings: Settings, mode: TranslateMode | None) -> Settings:
    """Give the settings without a translator where the mode is off; the others leave them as they are.

    Raises:
        UsageError: the mode is always, and no translator is configured.
    """
    if mode == "always" and settings.translation.provider is None:
        raise UsageError("--translate always: no translator is configured (set translation.provider)")
    if mode == "auto" and settings.translation.provider is None:
        say("warning: nothing is translated: no translator is configured (set translation.provider)")
    return settings.with_values("translation", {"provider": None}) if mode == "off" else settings


def max_in_flight(settings: Settings) -> int:
    """Give how many answers are in work at once."""
    return settings.scoring.processes * _WAITING_EACH


class ServiceFailures(EndpointObserver):
    """How many answers were to be translated, searched for, scored in time or judged, and could not be.

    As the observer of judges it remembers why.
    """

    def __init__(self) -> None:
        self._degraded: Counter[str] = Counter()
        self._faults: dict[str, EndpointFault] = {}

    def failed(self, judge: str, fault: EndpointFault) -> None:
        """Remember why a judge did not reply, the last time."""
        self._faults[judge] = fault

    def add(self, degraded: Iterable[str]) -> None:
        """Take in what could not be checked of one answer."""
        self._degraded.update(degraded)

    def report(self) -> None:
        """Say of each kind how many there were, if any."""
        for reason, told in _UNSERVED.items():
            if number := self._degraded[reason]:
                whys = [f"{judge}: {describe_code(fault)}" for judge, fault in self._faults.items()]
                why = f" ({'; '.join(whys)})" if whys and reason == _UNASKED else ""
                say(f"{plural(number, 'answer')} {told}{why}: degraded {reason}")

    def exit_code(self, *, translation_required: bool) -> ExitCode:
        """Give how the command ends.

        Returns:
            3 where a required service could not be reached; else 1 where an answer took too long, and so is
            not scored, as bad lines are not.
        """
        required = (_UNSEARCHED, _UNASKED, *((_UNTRANSLATED,) if translation_required else ()))
        if any(self._degraded[reason] for reason in required):
            return ExitCode.UNREACHABLE
        return ExitCode.BAD_INPUT if self._degraded[_LATE] else ExitCode.DONE
