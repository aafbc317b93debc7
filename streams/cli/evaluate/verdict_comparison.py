"""Comparison of two files of verdicts on the same answers, with ratings if there are any."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.text import Text

from schemas import RatedAnswer, Verdict
from scoring.evaluation.cases import EvaluationCase
from streams.cli.command_errors import CommandErrors, InputErrors
from streams.cli.command_files import read_records
from streams.cli.command_output import (
    CommandFailed,
    ExitCode,
    plural,
    printable,
    say,
    write_json,
)
from streams.cli.evaluate.rated_files import make_case, unknown_code
from streams.cli.verdict_rendering import ResultConsole


@dataclass(frozen=True, slots=True)
class VerdictFile:
    """The verdicts of one file as cases, by answer id."""

    path: Path
    cases: Mapping[str, EvaluationCase]
    errors: InputErrors


def show_comparison(one: Path, other: Path, rated: Iterable[Path], *, as_json: bool) -> ExitCode:
    """Compare two files of verdicts, with the ratings of the other files.

    Returns 1 if a line was bad, else 0. Raises CommandFailed if a file cannot be read, or the verdicts have
    no answer in common.
    """
    from scoring.evaluation.comparison import compare_runs  # noqa: PLC0415 - needs scipy
    from streams.cli.evaluate.evaluation_tables import comparison_tables  # noqa: PLC0415 - needs scipy

    errors = CommandErrors()
    ratings: dict[str, RatedAnswer] = {}  # of repeated answers the first counts
    for path in rated:
        for _, line in errors.of(path).good_lines(read_records(path, RatedAnswer)):
            ratings.setdefault(line.answer.answer_id, line)
    first, second = (_read_verdicts(path, ratings, errors.of(path)) for path in (one, other))
    found = compare_runs(*_pair_cases(first, second, ratings))
    if as_json:
        files = [
            {"file": str(run.path), "bad_lines": run.errors.count, "answers": len(run.cases)}
            for run in (first, second)
        ]
        write_json({"files": files, **asdict(found)})
    else:
        names = one.name, other.name
        if one.name == other.name:
            names = str(one), str(other)
        console = ResultConsole()
        console.print(Text(f"{plural(found.answers, 'answer')} in both, {found.rated} rated"))
        for part in comparison_tables(found, *map(printable, names), rescored=True):
            console.print(part)
    return errors.exit_code()


def _read_verdicts(path: Path, ratings: Mapping[str, RatedAnswer], errors: InputErrors) -> VerdictFile:
    """Read the verdicts of a file, report bad lines, and keep the first verdict of repeated answers."""
    cases: dict[str, EvaluationCase] = {}
    repeated = 0
    for number, verdict in errors.good_lines(read_records(path, Verdict)):
        unknown = unknown_code("decision", verdict.decision)
        if unknown := unknown or unknown_code("message_type", verdict.message_type):
            errors.report(number, unknown)
        elif verdict.answer_id in cases:
            repeated += 1
        else:
            cases[verdict.answer_id] = make_case(verdict, ratings.get(verdict.answer_id))
    if repeated:
        say(f"{path}: {plural(repeated, 'repeated answer')}: the first verdict counts")
    return VerdictFile(path, cases, errors)


def _pair_cases(
    first: VerdictFile, second: VerdictFile, ratings: Mapping[str, RatedAnswer]
) -> tuple[Sequence[EvaluationCase], Sequence[EvaluationCase]]:
    """Return the cases of the common answers, in the order of the first file; report the others."""
    common = [answer_id for answer_id in first.cases if answer_id in second.cases]
    for one, other in ((first, second), (second, first)):
        if alone := len(one.cases) - len(common):
            say(f"{plural(alone, 'answer')} of {one.path} not in {other.path}: excluded")
    if not common:
        raise CommandFailed(f"{first.path} and {second.path} have no answer in common")
    if unmatched := len(ratings.keys() - set(common)):
        say(f"{plural(unmatched, 'rated answer')} not in both files: excluded")
    return [first.cases[each] for each in common], [second.cases[each] for each in common]
