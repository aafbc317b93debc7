"""Two files of verdicts on the same answers, and what people say of these: two runs compared."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from schemas import RatedAnswer, Verdict
from scoring.evaluation.cases import EvaluationCase
from scoring.values.exchange import Decision, MessageType
from streams.cli.command_files import InputErrors, read_records
from streams.cli.command_output import CommandFailed, ExitCode, json_line, plural, printable, say, write_line
from streams.cli.common_options import existing_pair
from streams.cli.evaluate.rated_files import make_case
from streams.cli.verdict_rendering import ResultConsole

CompareFiles = Annotated[
    tuple[Path, Path] | None,
    typer.Option(
        metavar="VERDICTS VERDICTS",
        callback=existing_pair,
        help="Compare two files of verdicts on the same answers, as `score` writes them, and judge nothing.",
    ),
]


@dataclass(frozen=True, slots=True)
class VerdictFile:
    """The verdicts of one file as cases, by the ids of their answers."""

    path: Path
    cases: Mapping[str, EvaluationCase]
    errors: InputErrors


def show_comparison(one: Path, other: Path, rated: Sequence[Path], *, as_json: bool) -> ExitCode:
    """Compare two files of verdicts, with what people say of the answers where files of that are given.

    Returns:
        1 where some line was bad, else 0.

    Raises:
        CommandFailed: a file cannot be read, or they have no answer in common.
    """
    from scoring.evaluation.comparison import compare_runs  # noqa: PLC0415 - needs scipy
    from streams.cli.evaluate.comparison_tables import comparison_tables  # noqa: PLC0415 - needs scipy

    complaints = [InputErrors(str(path)) for path in rated]
    ratings = read_ratings(rated, complaints)
    first, second = (read_verdict_file(path, ratings) for path in (one, other))
    found = compare_runs(*pair_cases(first, second, ratings))
    if as_json:
        write_line(json_line({**described(first, second), **asdict(found)}))
    else:
        console = ResultConsole()
        console.print(Text(f"{plural(found.answers, 'answer')} in both, {found.rated} rated"))
        for part in comparison_tables(found, *distinct_names(one, other), rescored=True):
            console.print(part)
    return max(each.exit_code for each in (first.errors, second.errors, *complaints))


def distinct_names(one: Path, other: Path) -> tuple[str, str]:
    """Name two files so that they can be told apart, as short as may be."""
    short = printable(one.name), printable(other.name)
    return short if short[0] != short[1] else (printable(str(one)), printable(str(other)))


def read_verdict_file(path: Path, ratings: Mapping[str, RatedAnswer]) -> VerdictFile:
    """Read verdicts, with what people say of their answers.

    Bad lines are complained about; of repeated answers the first verdict counts.

    Raises:
        CommandFailed: the file cannot be read.
    """
    complaints, repeated = InputErrors(str(path)), 0
    cases: dict[str, EvaluationCase] = {}
    for number, verdict in complaints.good_lines(read_records(path, Verdict)):
        if unknown := _unknown(verdict):
            complaints.report(number, unknown)
        elif verdict.answer_id in cases:
            repeated += 1
        else:
            cases[verdict.answer_id] = make_case(verdict, ratings.get(verdict.answer_id))
    if repeated:
        say(f"{path}: {plural(repeated, 'repeated answer')}: the first verdict counts")
    return VerdictFile(path, cases, complaints)


def read_ratings(paths: Iterable[Path], complaints: Sequence[InputErrors]) -> dict[str, RatedAnswer]:
    """Read what people say of answers, by the ids of these; the first line of an answer counts.

    Raises:
        CommandFailed: a file cannot be read.
    """
    found: dict[str, RatedAnswer] = {}
    for path, about in zip(paths, complaints, strict=True):
        for _, rated in about.good_lines(read_records(path, RatedAnswer)):
            found.setdefault(rated.answer.answer_id, rated)
    return found


def pair_cases(
    first: VerdictFile, second: VerdictFile, ratings: Mapping[str, RatedAnswer]
) -> tuple[list[EvaluationCase], list[EvaluationCase]]:
    """Give the cases of both runs on the same answers, in the order of the first run.

    Says on standard error which answers are left out.

    Raises:
        CommandFailed: the files have no answer in common.
    """
    common = [answer_id for answer_id in first.cases if answer_id in second.cases]
    for one, other in ((first, second), (second, first)):
        if alone := len(one.cases) - len(common):
            say(f"{plural(alone, 'answer')} of {one.path} not in {other.path}: left out")
    if not common:
        raise CommandFailed(f"{first.path} and {second.path} have no answer in common")
    if unmatched := len(ratings.keys() - set(common)):
        say(f"{unmatched} rated answers are not in both files: left out")
    return [first.cases[each] for each in common], [second.cases[each] for each in common]


def described(first: VerdictFile, second: VerdictFile) -> dict[str, Any]:
    """Give what a comparison is about, ready for JSON."""
    return {
        "files": [
            {"file": str(run.path), "bad_lines": run.errors.count, "answers": len(run.cases)}
            for run in (first, second)
        ]
    }


def _unknown(verdict: Verdict) -> str | None:
    for name, value, known in (
        ("decision", verdict.decision, Decision),
        ("message_type", verdict.message_type, MessageType),
    ):
        if value not in set(known):
            return f"{name}: should be one of {', '.join(known)}"
    return None
