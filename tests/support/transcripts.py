"""Transcripts of commands: what is typed, the files that are read, and all that is answered.

A line in the first column is a remark. The others are those of a terminal, two spaces in: ``$`` begins a
command, ``>`` a line of the file that ``cat > FILE`` writes, ``!`` a line of standard error, and ``[2]`` at
the end is an exit code that is not 0. The commands of a transcript share one folder, which is empty at first.

``python -m tests.support.transcripts [NAME ...]`` writes anew what they answer, after a change that is meant
to change it.
"""

import os
import re
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from streams.scorers.pool import fork_server
from tests.support.commands import truthgate_here

TRANSCRIPTS = Path(__file__).parents[1] / "unit" / "cli" / "transcripts"

_COMMAND, _WRITTEN, _ERROR, _OUTPUT = "  $ ", "  > ", "  ! ", "  "
_SAMPLE = Path(__file__).parents[2] / "streams" / "sample"
# What differs from run to run: the time of judging, how long ago that is, and the last digits of a number.
_VARYING = (
    (re.compile(r"(?!2026-03)\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d+Z?(, .+ later)?"), "<now>"),
    (re.compile(r'(?<="seconds":)\d{5,}\.\d+'), "<a while>"),
    (re.compile(r"\d+\.\d{7,}(e-\d+)?"), lambda found: f"{float(found[0]):.4f}"),
)


@dataclass(slots=True)
class Step:
    """A command with the remarks before it and the lines that it is to write into a file."""

    command: str
    remarks: Sequence[str]
    written: list[str] = field(default_factory=list)


def steps(text: str) -> Iterator[Step]:
    """Yield what is typed in a transcript."""
    remarks: list[str] = []
    step = None
    for line in text.splitlines():
        if line.startswith(_COMMAND):
            if step:
                yield step
            step, remarks = Step(line.removeprefix(_COMMAND), remarks), []
        elif line.startswith(_WRITTEN) and step:
            step.written.append(line.removeprefix(_WRITTEN))
        elif line and not line.startswith(_OUTPUT):
            remarks.append(line)
    if step:
        yield step


def run_again(text: str) -> str:
    """Run the commands of a transcript in a folder of their own and give it with what they answer now."""
    fork_server(on_demand=False)  # whose own folder lasts
    with TemporaryDirectory() as folder, chdir(folder), _in_utc():
        Path("sample").symlink_to(_SAMPLE)
        lines = [line for step in steps(text) for line in _lines(step)]
    return "\n".join(lines).lstrip("\n") + "\n"


def _lines(step: Step) -> Iterator[str]:
    if step.remarks:
        yield from ("", *step.remarks, "")
    yield _COMMAND + step.command
    yield from (_WRITTEN + line for line in step.written)
    typed, _, most = step.command.partition(" | head -")
    match shlex.split(typed):
        case ["cat", ">", name]:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text("".join(f"{line}\n" for line in step.written), "utf-8")
        case ["cat", name]:
            yield from _shown(Path(name).read_text("utf-8"), _OUTPUT)
        case words:
            at = words.index("truthgate")
            given = dict(word.split("=", 1) for word in words[:at])
            cache = {"XDG_CACHE_HOME": str(Path.cwd() / "cache"), "TERM": "dumb"}
            done = truthgate_here(*words[at + 1 :], environment=cache | given)
            yield from islice(_shown(done.stdout, _OUTPUT), int(most) if most else None)
            yield from _shown(done.stderr, _ERROR)
            if done.returncode:
                yield f"{_OUTPUT}[{done.returncode}]"


def _shown(text: str, mark: str) -> Iterator[str]:
    text = text.replace(str(Path.cwd()), "FOLDER").replace(version("truthgate"), "<version>")
    for pattern, instead in _VARYING:
        text = pattern.sub(instead, text)
    yield from ((mark + line).rstrip() for line in text.splitlines())


@contextmanager
def _in_utc() -> Iterator[None]:
    with patch.dict(os.environ, TZ="UTC"):
        time.tzset()
        yield
    time.tzset()


def main() -> None:
    """Write anew what the commands of the named transcripts answer, or of all."""
    for path in sorted(TRANSCRIPTS.glob("*.txt")):
        if path.stem in (sys.argv[1:] or path.stem):
            path.write_text(run_again(path.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
