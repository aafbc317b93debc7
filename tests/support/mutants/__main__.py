"""Change the code a little, many times, and tell which changes no unit test notices."""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.support.mutants.changes import GitFailed, changed_lines
from tests.support.mutants.importers import SOURCES, tests_of
from tests.support.mutants.making import Mutant, choose, mutants_of, touched

ROOT = Path(__file__).parents[3]
#: mutmut works where it is started: its settings, copies of the code and the tests, and its results lie here.
WORK = ROOT / ".mutants"
#: mutmut's codes for what no test noticed: all passed, none was found, none ran.
_UNNOTICED = {0, 33, 5}
#: What is written for people is read by people; tests of its words would only repeat them. Nor are the
#: assertions changed that tell a type checker what holds, nor log lines, nor lines of nothing but words.
_NOT_MUTATED = [r"^\s*raise ", r"\blog\.\w+\(", r"^\s*assert ", r'^\s*f?"[^"]* [^"]*"[,)]*$']
#: mutmut gives a mutant this many times what its tests took, and the seconds that are added to that.
_PATIENCE, _ADDED_SECONDS = 10.0, 1.0


def main() -> int:
    options = _options()
    try:
        lines = None if options.paths else changed_lines(ROOT, SOURCES, options.since)
        files = files_of(options.paths) if lines is None else sorted(lines)
    except (GitFailed, NotOurs) as error:
        _say(f"make mutants: {error}")
        return 2
    if not files:
        _say("nothing to mutate")
        return 0
    tests = options.tests or tests_of(ROOT, {file.removesuffix(".py").replace("/", ".") for file in files})
    _prepare(files, tests)
    os.chdir(WORK)
    mutants = list(mutants_of(files))
    mutants = mutants if lines is None else touched(mutants, lines)
    chosen = choose(mutants, options.most, options.seed)
    if not chosen:
        _say("nothing to mutate")
        return 0
    _say(f"{len(chosen)} of {len(mutants)} mutants, seed {options.seed}, {len(tests)} files of tests")
    if tests and not _run(chosen, options.minutes * 60):
        return 2
    return _tell(chosen, tests, options.least)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument(
        "paths", nargs="*", help="files or folders; without any, the lines that a change touches"
    )
    parser.add_argument(
        "--since", help="a commit; by default where this branch left main, the last tag or HEAD~"
    )
    parser.add_argument("--tests", nargs="+", help="files or folders of tests to run in place of those found")
    parser.add_argument("--most", type=int, default=200, help="more than so many are sampled (200)")
    parser.add_argument("--seed", type=int, default=1, help="fixes the sample (1)")
    parser.add_argument("--minutes", type=float, default=15, help="stop then, and count what was tried (15)")
    parser.add_argument("--least", type=float, default=0.85, help="share that must be noticed (0.85)")
    return parser.parse_args()


class NotOurs(Exception):
    """A path with no code of ours."""


def files_of(paths: Sequence[str]) -> list[str]:
    """Give the Python files of ours that lie in these paths; raises NotOurs where there is no such path."""
    for path in paths:
        if not Path(path).exists() or not any(
            Path(path).resolve().is_relative_to(ROOT / each) for each in SOURCES
        ):
            raise NotOurs(f"{path} is no file or folder of {', '.join(SOURCES)}")
    found = {
        file
        for path in paths
        for file in ([Path(path)] if path.endswith(".py") else Path(path).rglob("*.py"))
    }
    return sorted(str(file.resolve().relative_to(ROOT)) for file in found if not file.name.startswith("__"))


def _prepare(files: Sequence[str], tests: Sequence[str]) -> None:
    """Lay out the working folder: the code by links for mutmut to copy, the rest by links beside the copy."""
    shutil.rmtree(WORK, ignore_errors=True)
    copy = WORK / "mutants"
    copy.mkdir(parents=True)
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in sorted({line.partition("/")[0] for line in listed.splitlines()} - {"pyproject.toml"}):
        (WORK / name).symlink_to(ROOT / name)
        if name not in {*SOURCES, "tests"}:
            (copy / name).symlink_to(ROOT / name)
    settings = {
        "source_paths": list(SOURCES),
        "only_mutate": list(files),
        "do_not_mutate_patterns": _NOT_MUTATED,
        "pytest_add_cli_args": [
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            "-p",
            "tests.support.mutants.names_of_tests",
        ],
        "pytest_add_cli_args_test_selection": list(tests),
        "timeout_multiplier": _PATIENCE,
        "timeout_constant": _ADDED_SECONDS,
        "use_git_change_detection": False,
    }
    told = "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
    text = (ROOT / "pyproject.toml").read_text()
    (WORK / "pyproject.toml").write_text(f"{text}\n[tool.mutmut]\n{told}")


def _run(mutants: Iterable[Mutant], seconds: float) -> bool:
    """Let mutmut try them one after the other; false when the tests fail without any."""
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", "1", *(each.name for each in mutants)]
    with (WORK / "log").open("w") as log:
        running = subprocess.Popen(
            command,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": "", "HYPOTHESIS_PROFILE": "few"},
        )
        try:
            code = running.wait(seconds)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGINT)
            code = 0
            running.wait(60)
    if code:
        _say(f"the tests do not run as they are, see {WORK / 'log'}")
        _say((WORK / "log").read_text()[-3_000:])
    return not code


def _tell(chosen: Sequence[Mutant], tests: Sequence[str], least: float) -> int:
    """Print what was not noticed and the share of the rest; give the exit code."""
    outcome = _results(chosen) if tests else dict.fromkeys((mutant.name for mutant in chosen), 33)
    tried = [mutant for mutant in chosen if outcome.get(mutant.name) is not None]
    missed = [mutant for mutant in tried if outcome[mutant.name] in _UNNOTICED]
    for mutant in sorted(missed, key=lambda each: (each.file, each.line)):
        _say(f"{mutant.file}:{mutant.line}: {mutant.before}  ->  {mutant.after or '(nothing)'}")
    all_by_room, missed_by_room = Counter(each.room for each in tried), Counter(each.room for each in missed)
    for room, count in sorted(all_by_room.items()):
        _say(f"{room}: {count - missed_by_room[room]} of {count} noticed")
    if not tried:
        _say("nothing was tried in time")
        return 1
    share = 1 - len(missed) / len(tried)
    _say(
        f"{len(tried) - len(missed)} of {len(tried)} noticed, {share:.1%}; at least {least:.0%} is asked for"
    )
    if len(tried) < len(chosen):
        _say(f"{len(chosen) - len(tried)} more were chosen than there was time for")
    return int(share < least)


def _results(mutants: Iterable[Mutant]) -> dict[str, int | None]:
    codes: dict[str, int | None] = {}
    for file in {mutant.file for mutant in mutants}:
        codes |= json.loads((WORK / "mutants" / f"{file}.meta").read_text())["exit_code_by_key"]
    return codes


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
