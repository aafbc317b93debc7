"""What a command tells its user: results on standard output, all else on standard error; exit codes."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import IntEnum
from importlib.util import find_spec
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from schemas.jsonl import BadLine
from schemas.records import Verdict
from scoring.values.opinion import Opinion
from scoring.values.rules import Reason
from streams.llm.endpoints.faults import EndpointFault, describe_code
from streams.llm.endpoints.judge_metrics import EndpointObserver
from streams.observability.failures import EXIT_INVALID_SETTINGS, EXIT_SOFTWARE, EXIT_UNREACHABLE

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class ExitCode(IntEnum):
    """The exit codes of commands. The last two follow the convention of 128 plus the signal's number."""

    DONE = 0
    BAD_INPUT = 1
    WRONG_USAGE = EXIT_INVALID_SETTINGS
    UNREACHABLE = EXIT_UNREACHABLE
    SOFTWARE = EXIT_SOFTWARE
    INTERRUPTED = 130
    BROKEN_PIPE = 141


class CommandFailed(Exception):
    """A command cannot continue; the message is one line for its user."""

    def __init__(self, message: str, code: ExitCode = ExitCode.BAD_INPUT) -> None:
        super().__init__(message)
        self.code = code


class UsageError(CommandFailed):
    """Options exclude each other, or cannot be served here."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ExitCode.WRONG_USAGE)


def say(message: str) -> None:
    """Print one line for the user on standard error."""
    sys.stderr.write(f"truthgate: {printable(message)}\n")
    sys.stderr.flush()


def plural(count: int, one: str, many: str | None = None) -> str:
    """Format a count with its noun: ``1 answer``, ``2 answers``; ``many`` is an irregular plural."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def write_line(line: str) -> None:
    """Write one line of results to standard output."""
    sys.stdout.write(line + "\n")


def json_line(value: Mapping[str, Any]) -> str:
    """Encode ``value`` as one line of JSON, in Unicode, with its keys in their order."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def write_json(value: Mapping[str, Any]) -> None:
    """Write ``value`` as one line of JSON to standard output; see :func:`json_line`."""
    write_line(json_line(value))


def printable(text: str) -> str:
    """Replace control and direction characters, line ends too, by spaces: one character by one.

    Topics hold text of others; an escape sequence in it could rewrite the screen.
    """
    return "".join(" " if unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"} else c for c in text)


def progress_bar(what: str, total: int | None, *, shown: bool = True) -> Progress:
    """Return a progress bar with one task; it appears on standard error if that is a terminal."""
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not (shown and console.is_terminal),
    )
    bar.add_task(what, total=total)
    return bar


def indexing_bar(shared: Progress | None = None) -> Callable[[int, int], None]:
    """Return a callback that takes the number of indexed documents and of all, and updates a bar.

    ``shared`` is a bar that is displayed already: rich allows one at a time.
    """
    bar = shared or progress_bar("indexing documents", None)
    tasks = [] if shared else list(bar.task_ids)

    def show(done: int, total: int) -> None:
        if not tasks:
            tasks.append(bar.add_task("indexing documents"))
        if not shared:
            bar.start()
        bar.update(tasks[0], completed=done, total=total)
        if done == total and not shared:
            bar.stop()

    return show


class OutputFailed(UsageError):
    """Standard output cannot be written; a closed pipe stays a BrokenPipeError."""


class _StdoutFile(FileIO):
    """Raises OutputFailed for standard output: any other OSError of a command is a defect."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputFailed(f"standard output cannot be written: {error.strerror}") from error


def check_standard_output() -> None:
    """Make standard output UTF-8, and let it raise OutputFailed, as this does if there is none."""
    if sys.stdout is None:
        raise OutputFailed("standard output is closed")
    if not isinstance(sys.stdout, TextIOWrapper):
        return
    buffer = BufferedWriter(_StdoutFile(sys.stdout.fileno(), "w", closefd=False))
    at_once = sys.stdout.line_buffering or sys.stdout.write_through
    sys.stdout = TextIOWrapper(buffer, encoding="utf-8", line_buffering=at_once)


def require_package(package: str, extra: str) -> None:
    """Raise UsageError, naming the extra, if an optional package is not installed."""
    if find_spec(package) is None:
        raise UsageError(f"this needs {package}: pip install 'truthgate[{extra}]'")


T = TypeVar("T")
SourceLocation = int | str

_MAX_LINE_NUMBERS = 10
_DEGRADED = {
    Reason.TRANSLATION_UNAVAILABLE: "could not be translated",
    Reason.RETRIEVAL_UNAVAILABLE: "needed retrieval, which was unavailable",
    Reason.SCORING_TIMEOUT: "exceeded scoring.timeout_seconds",
    Reason.VERIFIER_TIMEOUT: "had claims on which the verifier exceeded scoring.verifier.timeout_seconds",
    Reason.VERIFIER_FAILED: "had claims on which the verifier failed",
    Reason.JUDGE_UNAVAILABLE: "in doubt without an opinion: no language model replied",
    Reason.JUDGE_BUDGET_SPENT: "in doubt without an opinion: judges.budget is spent",
}
_UNDECIDED = {
    Reason.JUDGE_MALFORMED: "in doubt, and the language model's reply was not of the requested form",
    Reason.JUDGE_NOT_CONFIDENT: "in doubt, and the language model was not confident enough",
}


class InputErrors:
    """The errors of one input, by its name: bad lines or files, and answers whose documents are missing.

    ``missing`` has the first missing document of each answer, by the number of its line.
    """

    def __init__(self, source: object) -> None:
        self.count = 0
        self.source = source
        self.missing: dict[int, str] = {}

    def report(self, location: SourceLocation, reason: str) -> None:
        """Report an error on standard error; ``location`` is a line number from 1, or a name."""
        self.count += 1
        say(f"{self.source}, {f'line {location}' if isinstance(location, int) else location}: {reason}")

    def good_lines(self, lines: Iterable[tuple[int, T | BadLine]]) -> Iterator[tuple[int, T]]:
        """Yield the good lines and report the others."""
        for number, line in lines:
            if isinstance(line, BadLine):
                self.report(number, line.reason)
            else:
                yield number, line

    def note_verdict(self, number: int, verdict: Verdict) -> None:
        """Record whether documents of the answer in this line, counted from 1, are missing."""
        if verdict.missing_context_ids:
            self.missing[number] = verdict.missing_context_ids[0]

    @property
    def exit_code(self) -> ExitCode:
        """The exit code for this input; an answer without its documents counts as bad input."""
        return ExitCode.BAD_INPUT if self.count or self.missing else ExitCode.DONE


class CommandErrors(EndpointObserver):
    """The errors of all inputs of one command, and of the services that it uses, with why a judge failed."""

    def __init__(self) -> None:
        self._inputs: list[InputErrors] = []
        self._codes: Counter[str] = Counter()
        self._faults: dict[str, EndpointFault] = {}

    def of(self, source: object) -> InputErrors:
        """Return a new collector for the errors of this input."""
        self._inputs.append(InputErrors(source))
        return self._inputs[-1]

    def failed(self, judge: str, fault: EndpointFault) -> None:
        """Remember the last fault of a judge."""
        self._faults[judge] = fault

    def note_codes(self, *codes: str) -> None:
        """Count the reasons of one answer, and the codes of what could not be checked of it."""
        self._codes.update(set(codes))

    def report_missing_documents(self) -> None:
        """Report on standard error the answers of each input whose documents are missing."""
        for each in self._inputs:
            if lines := each.missing:
                missing = f"{plural(len(lines), 'answer')} with missing documents, e.g. {lines[min(lines)]}"
                say(f"{each.source}: {missing} ({line_numbers(lines)}): degraded {Reason.CONTEXT_MISSING}")

    def report_codes(self) -> None:
        """Report on standard error how many answers services failed, and judges left undecided."""
        faults = "; ".join(f"{judge}: {describe_code(fault)}" for judge, fault in self._faults.items())
        for reason, text in _DEGRADED.items():
            if count := self._codes[reason]:
                cause = f" ({faults})" if faults and reason == Reason.JUDGE_UNAVAILABLE else ""
                say(f"{plural(count, 'answer')} {text}{cause}: degraded {reason}")
        for reason, text in _UNDECIDED.items():
            if count := self._codes[reason]:
                say(f"{plural(count, 'answer')} {text}: {reason}")

    def exit_code(self, *, translation_required: bool = False) -> ExitCode:
        """Return 3 if a required service was unavailable, 1 if an input had errors or an answer was late."""
        required = {Reason.RETRIEVAL_UNAVAILABLE, Reason.JUDGE_UNAVAILABLE}
        if translation_required:
            required.add(Reason.TRANSLATION_UNAVAILABLE)
        if any(self._codes[reason] for reason in required):
            return ExitCode.UNREACHABLE
        late = ExitCode.BAD_INPUT if self._codes[Reason.SCORING_TIMEOUT] else ExitCode.DONE
        return max((late, *(each.exit_code for each in self._inputs)))


def line_numbers(lines: Collection[int]) -> str:
    """Format line numbers, at most ten: ``line 3``, or ``lines 1, 2, ... and 5 more``."""
    first = ", ".join(map(str, sorted(lines)[:_MAX_LINE_NUMBERS]))
    return f"line{'s' if len(lines) > 1 else ''} {and_more(first, len(lines) - _MAX_LINE_NUMBERS)}"


def report_opinions(source: object, opinions: Collection[Opinion], confidence: float) -> None:
    """Report on standard error how many opinions of a file are malformed, or not confident enough."""
    malformed = sum(each.is_malformed for each in opinions)
    unsure = sum(each.label is not None and each.confidence < confidence for each in opinions)
    total = plural(len(opinions), "opinion")
    if malformed:
        say(f"{source}: {malformed} of {total} without a label: the reply was not of the requested form")
    if unsure:
        say(f"{source}: {unsure} of {total} with a confidence below {confidence:g}")


def and_more(text: str, rest: int) -> str:
    """Append how many more there are, if any."""
    return f"{text} and {rest} more" if rest > 0 else text
