"""Files of opinions, read and brought together with the answers that they are on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from scoring.evaluation.cases import EvaluationCase
from scoring.judges.opinion_json import OpinionUnreadable
from scoring.values.opinion import Opinion
from streams.cli.command_files import InputErrors, read_records
from streams.cli.command_output import CommandFailed, plural, say
from streams.cli.evaluate.rated_files import EvaluatedAnswer, EvaluatedAnswers
from streams.llm.batches import AnswerKey, OpinionLine

if TYPE_CHECKING:  # they need scipy
    from scoring.evaluation.opinion_report import JudgeRun, Simulation

ConfidenceChoice = Literal["honest", "overconfident", "both"]
Pairs = Sequence[tuple[EvaluationCase, Opinion]]

OpinionFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--opinions",
        exists=True,
        dir_okay=False,
        metavar="FILE",
        help="Opinions that `judge import` wrote on these answers, one FILE a judge; several are compared.",
    ),
]
TauOption = Annotated[
    float, typer.Option("--tau", min=0, max=1, help="The confidence from which opinions decide.")
]
FlipOption = Annotated[
    list[float] | None,
    typer.Option(
        "--flip",
        min=0,
        max=1,
        metavar="SHARE",
        help="Simulate a judge whose opinion is turned round that often, such as .1; may be repeated.",
    ),
]
ConfidenceOption = Annotated[
    ConfidenceChoice,
    typer.Option("--confidence", help="What that judge says of how sure it is; both simulates both."),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="The seed of the simulation's chance.")]


@dataclass(frozen=True, slots=True)
class OpinionFile:
    """The opinions of one judge with their lines' numbers, and what is wrong with the file."""

    path: Path
    errors: InputErrors
    lines: Sequence[tuple[int, OpinionLine]]

    @classmethod
    def of(cls, path: Path) -> OpinionFile:
        """Read a file and complain about bad lines; raises CommandFailed where it cannot be read."""
        complaints = InputErrors(str(path))
        return cls(path, complaints, list(complaints.good_lines(read_records(path, OpinionLine))))

    def match(self, answers: Mapping[AnswerKey, EvaluatedAnswer]) -> Pairs:
        """Give the opinions beside their answers, in the first way of scoring, and complain about others."""
        found: dict[AnswerKey, tuple[EvaluationCase, Opinion]] = {}
        for number, line in self.lines:
            answer = answers.get(line.key)
            if answer is None:
                self.errors.report(number, "is on none of these answers, or on another text of one")
            elif line.key in found:
                self.errors.report(number, "is a second opinion on an answer")
            else:
                try:
                    found[line.key] = answer.cases[0], line.opinion.opinion(answer.text)
                except OpinionUnreadable as error:
                    self.errors.report(number, str(error))
        return list(found.values())


@dataclass(frozen=True, slots=True)
class SimulationOptions:
    """The weaker models to simulate, as the options name them."""

    flips: Sequence[float]
    confidence: ConfidenceChoice
    seed: int

    def simulation(self) -> Simulation:
        """Give them as the evaluation takes them."""
        from scoring.evaluation.opinion_report import (  # noqa: PLC0415 - needs scipy
            Confidence,
            LabelFlipping,
            Simulation,
        )

        kinds = Confidence if self.confidence == "both" else [Confidence(self.confidence)]
        return Simulation(
            tuple(LabelFlipping(flip, kind) for flip in self.flips for kind in kinds), self.seed
        )


@dataclass(frozen=True, slots=True)
class JudgeEvaluation:
    """The judges to evaluate, and the weaker ones to simulate of them."""

    files: Sequence[OpinionFile]
    tau: float
    simulation_options: SimulationOptions

    @property
    def errors(self) -> list[InputErrors]:
        """What is wrong with each file."""
        return [file.errors for file in self.files]

    def runs(self, judged: EvaluatedAnswers) -> tuple[JudgeRun, ...]:
        """Evaluate the opinions on these answers.

        Raises:
            CommandFailed: a file has no opinion on any of them.
        """
        from scoring.evaluation.opinion_report import evaluate_judges  # noqa: PLC0415 - needs scipy

        return evaluate_judges(_by_name(self.files, judged), self.tau, self.simulation_options.simulation())

    def described(self) -> dict[str, Any]:
        """Give what the figures rest on, ready for JSON."""
        files = [{"file": str(each.path), "bad_lines": each.errors.count} for each in self.files]
        return {"opinions": files, "tau": self.tau, "seed": self.simulation_options.seed} if files else {}


def _by_name(files: Sequence[OpinionFile], judged: EvaluatedAnswers) -> dict[str, Pairs]:
    answers = {each.key: each for each in judged.answers}
    stems = [file.path.stem for file in files]
    found = {}
    for file in files:
        pairs = file.match(answers)
        if not pairs:
            raise CommandFailed(f"{file.path}: there is no opinion on any of these answers")
        if without := len(answers) - len(pairs):
            say(f"{file.path}: {plural(without, 'answer')} without an opinion, in none of its tables")
        found[file.path.stem if stems.count(file.path.stem) == 1 else str(file.path)] = pairs
    return found
