"""Two files of verdicts on the same answers, compared: `truthgate evaluate --compare`."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from rich.text import Text

from schemas import RatedAnswer, Verdict
from scoring.evaluation.cases import EvaluationCase
from streams.cli.command_files import read_records
from streams.cli.command_output import (
    CommandErrors,
    CommandFailed,
    ExitCode,
    InputErrors,
    plural,
    printable,
    say,
    write_json,
)
from streams.cli.evaluate.rated_files import make_case, unknown_code
from streams.cli.verdict_rendering import ResultConsole


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
    collectors = errors.of(one), errors.of(other)
    first, second = (_read_verdicts(*each, ratings) for each in zip((one, other), collectors, strict=True))
    # In the order of the first file.
    common = [answer_id for answer_id in first if answer_id in second]
    for cases, path, missing_in in ((first, one, other), (second, other, one)):
        if alone := len(cases) - len(common):
            say(f"{plural(alone, 'answer')} of {path} not in {missing_in}: excluded")
    if not common:
        raise CommandFailed(f"{one} and {other} have no answer in common")
    if unmatched := len(ratings.keys() - set(common)):
        say(f"{plural(unmatched, 'rated answer')} not in both files: excluded")
    found = compare_runs([first[each] for each in common], [second[each] for each in common])
    if as_json:
        files = [
            {"file": str(path), "bad_lines": bad.count, "answers": len(cases)}
            for path, bad, cases in zip((one, other), collectors, (first, second), strict=True)
        ]
        write_json({"files": files, **asdict(found)})
    else:
        names = (one.name, other.name) if one.name != other.name else (str(one), str(other))
        console = ResultConsole()
        console.print(Text(f"{plural(found.answers, 'answer')} in both, {found.rated} rated"))
        for part in comparison_tables(found, *map(printable, names), rescored=True):
            console.print(part)
    return errors.exit_code()


def _read_verdicts(
    path: Path, errors: InputErrors, ratings: Mapping[str, RatedAnswer]
) -> dict[str, EvaluationCase]:
    """Return the first verdict on each answer of a file as a case, by answer id; report bad lines."""
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
    return cases
