"""Files of opinions, matched with the answers that they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from scoring.evaluation.cases import EvaluationCase
from scoring.judges.opinion_json import OpinionUnreadable
from scoring.values.opinion import Opinion
from streams.cli.command_errors import InputErrors
from streams.cli.command_files import read_records
from streams.cli.command_output import CommandFailed, plural, say
from streams.cli.evaluate.rated_files import EvaluatedAnswers, RatedLine
from streams.llm.batches import AnswerKey, OpinionLine

if TYPE_CHECKING:  # they need scipy
    from scoring.evaluation.opinion_report import JudgeRun

ConfidenceChoice = Literal["honest", "overconfident", "both"]


@dataclass(frozen=True, slots=True)
class OpinionFile:
    """The opinions of one judge with their line numbers, and the errors of the file."""

    path: Path
    errors: InputErrors
    lines: Sequence[tuple[int, OpinionLine]]

    @classmethod
    def read(cls, path: Path, errors: InputErrors) -> OpinionFile:
        """Read a file, and report bad lines; raises CommandFailed if it cannot be read."""
        return cls(path, errors, list(errors.good_lines(read_records(path, OpinionLine))))

    def match(self, answers: Mapping[AnswerKey, RatedLine]) -> list[tuple[EvaluationCase, Opinion]]:
        """Pair opinions with the first cases of their answers, report others; raises CommandFailed."""
        found: dict[AnswerKey, tuple[EvaluationCase, Opinion]] = {}
        for number, line in self.lines:
            rated = answers.get(line.key)
            if rated is None:
                self.errors.report(number, "matches none of the answers, or another text of one")
            elif line.key in found:
                self.errors.report(number, "is a second opinion on an answer")
            else:
                try:
                    found[line.key] = rated.cases[0], line.opinion.opinion(rated.content.answer.answer)
                except OpinionUnreadable as error:
                    self.errors.report(number, str(error))
        if not found:
            raise CommandFailed(f"{self.path}: no opinion is on any of these answers")
        if without := len(answers) - len(found):
            say(f"{self.path}: {plural(without, 'answer')} without an opinion, excluded from its tables")
        return list(found.values())


@dataclass(frozen=True, slots=True)
class JudgeEvaluation:
    """The opinions of judges to evaluate, and the weaker judges to simulate.

    ``tau`` is the confidence from which opinions decide, and ``flips`` are the shares of labels to invert.
    """

    files: Sequence[OpinionFile]
    tau: float
    flips: Sequence[float]
    confidence: ConfidenceChoice
    seed: int

    def runs(self, evaluated: EvaluatedAnswers) -> tuple[JudgeRun, ...]:
        """Evaluate the opinions on these answers; raises as :meth:`OpinionFile.match` does."""
        from scoring.evaluation import opinion_report  # noqa: PLC0415 - needs scipy

        answers = {AnswerKey.of(line.content.answer): line for line in evaluated.lines}
        stems = [file.path.stem for file in self.files]
        pairs = {
            file.path.stem if stems.count(file.path.stem) == 1 else str(file.path): file.match(answers)
            for file in self.files
        }
        kinds = [each for each in opinion_report.Confidence if self.confidence in {each, "both"}]
        flips = tuple(opinion_report.LabelFlipping(flip, kind) for flip in self.flips for kind in kinds)
        return opinion_report.evaluate_judges(pairs, self.tau, opinion_report.Simulation(flips, self.seed))

    def to_json(self) -> dict[str, Any]:
        """Return the files and parameters that a report is about as JSON."""
        files = [{"file": str(each.path), "bad_lines": each.errors.count} for each in self.files]
        return {"opinions": files, "tau": self.tau, "seed": self.seed} if files else {}
