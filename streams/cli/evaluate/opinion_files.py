"""Files of opinions, matched with the answers that they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from scoring.evaluation.cases import EvaluationCase
from scoring.judges.opinion_json import OpinionUnreadable
from scoring.values.opinion import Opinion
from streams.cli.command_errors import CommandErrors, InputErrors
from streams.cli.command_files import read_records
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
        help="Opinions on these answers that `judge import` wrote; repeat it to compare judges.",
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
        help="Simulate a judge with this share of its labels inverted, e.g. .1; may be repeated.",
    ),
]
ConfidenceOption = Annotated[
    ConfidenceChoice, typer.Option("--confidence", help="The confidence of the simulated judge.")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="The random seed of the simulation.")]


@dataclass(frozen=True, slots=True)
class OpinionFile:
    """The opinions of one judge with their line numbers, and the errors of the file."""

    path: Path
    errors: InputErrors
    lines: Sequence[tuple[int, OpinionLine]]

    def match(self, answers: Mapping[AnswerKey, EvaluatedAnswer]) -> Pairs:
        """Pair the opinions with the first cases of their answers, and report the others."""
        found: dict[AnswerKey, tuple[EvaluationCase, Opinion]] = {}
        for number, line in self.lines:
            answer = answers.get(line.key)
            if answer is None:
                self.errors.report(number, "matches none of the answers, or another text of one")
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
        """Return the simulation that they describe."""
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
    """The judges to evaluate, and the weaker ones to simulate."""

    files: Sequence[OpinionFile]
    tau: float
    simulation_options: SimulationOptions

    @classmethod
    def read(
        cls, paths: Sequence[Path], tau: float, options: SimulationOptions, errors: CommandErrors
    ) -> JudgeEvaluation:
        """Read the files and report bad lines; raises CommandFailed if one cannot be read."""
        files = []
        for path in paths:
            file_errors = errors.of(path)
            lines = list(file_errors.good_lines(read_records(path, OpinionLine)))
            files.append(OpinionFile(path, file_errors, lines))
        return cls(files, tau, options)

    def runs(self, evaluated: EvaluatedAnswers) -> tuple[JudgeRun, ...]:
        """Evaluate the opinions on these answers.

        Raises:
            CommandFailed: a file has no opinion on any of them.
        """
        from scoring.evaluation.opinion_report import evaluate_judges  # noqa: PLC0415 - needs scipy

        answers = {each.key: each for each in evaluated.answers}
        stems = [file.path.stem for file in self.files]
        pairs_by_name = {}
        for file in self.files:
            pairs = file.match(answers)
            if not pairs:
                raise CommandFailed(f"{file.path}: no opinion is on any of these answers")
            if without := len(answers) - len(pairs):
                say(f"{file.path}: {plural(without, 'answer')} without an opinion, excluded from its tables")
            name = file.path.stem if stems.count(file.path.stem) == 1 else str(file.path)
            pairs_by_name[name] = pairs
        return evaluate_judges(pairs_by_name, self.tau, self.simulation_options.simulation())

    def to_json(self) -> dict[str, Any]:
        """Return the files and parameters that a report is about as JSON."""
        files = [{"file": str(each.path), "bad_lines": each.errors.count} for each in self.files]
        return {"opinions": files, "tau": self.tau, "seed": self.simulation_options.seed} if files else {}
