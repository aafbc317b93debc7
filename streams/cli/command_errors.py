"""The errors of a command: bad input, missing documents, unavailable services; and its exit code."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import TypeVar

from schemas.jsonl import BadLine
from schemas.records import Verdict
from scoring.values.rules import Reason
from streams.cli.command_output import ExitCode, plural, say
from streams.llm.endpoints.faults import EndpointFault, describe_code
from streams.llm.endpoints.judge_metrics import EndpointObserver

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


class InputErrors:
    """The errors of one input, by its name: bad lines or files, and answers whose documents are missing."""

    def __init__(self, source: object) -> None:
        self.count = 0
        self._source = source
        self._missing: dict[int, str] = {}

    def report(self, location: SourceLocation, reason: str) -> None:
        """Report an error on standard error; ``location`` is a line number from 1, or a name."""
        self.count += 1
        say(f"{self._source}, {f'line {location}' if isinstance(location, int) else location}: {reason}")

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
            self._missing[number] = verdict.missing_context_ids[0]

    def report_missing_documents(self) -> None:
        """Report the answers whose documents are missing, if any, on standard error."""
        if self._missing:
            answers, example = plural(len(self._missing), "answer"), self._missing[min(self._missing)]
            say(
                f"{self._source}: {answers} with missing documents, e.g. {example} "
                f"({line_numbers(self._missing)}): degraded {Reason.CONTEXT_MISSING}"
            )

    @property
    def exit_code(self) -> ExitCode:
        """The exit code for this input; an answer without its documents counts as bad input."""
        return ExitCode.BAD_INPUT if self.count or self._missing else ExitCode.DONE


class CommandErrors(EndpointObserver):
    """The errors of all inputs of one command, and of the services that it uses, with why a judge failed."""

    def __init__(self) -> None:
        self._inputs: list[InputErrors] = []
        self._degraded: Counter[str] = Counter()
        self._faults: dict[str, EndpointFault] = {}

    def of(self, source: object) -> InputErrors:
        """Return a new collector for the errors of this input."""
        self._inputs.append(InputErrors(source))
        return self._inputs[-1]

    def failed(self, judge: str, fault: EndpointFault) -> None:
        """Remember the last fault of a judge."""
        self._faults[judge] = fault

    def note_degraded(self, degraded: Iterable[str]) -> None:
        """Count what could not be checked of one answer."""
        self._degraded.update(degraded)

    def report_missing_documents(self) -> None:
        """Report on standard error the answers of each input whose documents are missing."""
        for each in self._inputs:
            each.report_missing_documents()

    def report_degraded(self) -> None:
        """Report on standard error how many answers each service failed, if any."""
        faults = "; ".join(f"{judge}: {describe_code(fault)}" for judge, fault in self._faults.items())
        for reason, text in _DEGRADED.items():
            if count := self._degraded[reason]:
                cause = f" ({faults})" if faults and reason == Reason.JUDGE_UNAVAILABLE else ""
                say(f"{plural(count, 'answer')} {text}{cause}: degraded {reason}")

    def exit_code(self, *, translation_required: bool = False) -> ExitCode:
        """Return 3 if a required service was unavailable, 1 if an input had errors or an answer was late."""
        required = {Reason.RETRIEVAL_UNAVAILABLE, Reason.JUDGE_UNAVAILABLE}
        if translation_required:
            required.add(Reason.TRANSLATION_UNAVAILABLE)
        if any(self._degraded[reason] for reason in required):
            return ExitCode.UNREACHABLE
        late = ExitCode.BAD_INPUT if self._degraded[Reason.SCORING_TIMEOUT] else ExitCode.DONE
        return max((late, *(each.exit_code for each in self._inputs)))


def line_numbers(lines: Collection[int]) -> str:
    """Format line numbers, at most ten: ``line 3, 7`` or ``line 1, 2, ... and 5 more``."""
    first = ", ".join(map(str, sorted(lines)[:_MAX_LINE_NUMBERS]))
    return f"line {and_more(first, len(lines) - _MAX_LINE_NUMBERS)}"


def and_more(text: str, rest: int) -> str:
    """Append how many more there are, if any."""
    return f"{text} and {rest} more" if rest > 0 else text
