"""Rated answers, read and judged: from the lines of files to the cases of an evaluation."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.progress import Progress

from schemas import BadLine, ChatbotAnswer, RatedAnswer, Verdict
from scoring.evaluation.cases import EvaluationCase
from scoring.scorer.profile import rules_of_profile
from scoring.scorer.score import rules_for_kinds
from scoring.values.exchange import Decision, MessageType
from scoring.values.opinion import Label
from streams.cli.async_input import map_in_order
from streams.cli.command_files import InputErrors, MissingDocuments, line_numbers, read_records
from streams.cli.command_output import ExitCode, plural, say
from streams.cli.scoring_options import ServiceFailures
from streams.llm.batches import AnswerKey
from streams.observability.failures import BadAnswer
from streams.pipeline.pipeline import OfflinePipeline

VerdictFunction = Callable[[ChatbotAnswer], Awaitable[Verdict]]

_TYPES = ", ".join(MessageType)


@dataclass(frozen=True, slots=True)
class RatedFile:
    """One file, and what is wrong with it.

    ``unrated`` fills with the numbers of the lines that have no rating, ``answer_ids`` with the ids
    of the answers that were judged, ``missing`` with the answers whose documents are not there.
    """

    path: Path
    errors: InputErrors
    missing: MissingDocuments
    unrated: list[int] = field(default_factory=list)
    answer_ids: list[str] = field(default_factory=list)

    def note(self, number: int, rated: RatedAnswer) -> None:
        """Remember an answer that was judged."""
        self.answer_ids.append(rated.answer.answer_id)
        if rated.rating is None:
            self.unrated.append(number)


@dataclass(frozen=True, slots=True)
class RatedLine:
    """One line of the file of that place in their order, with the cases that it has come to so far.

    ``first`` is the verdict of the first way of scoring.
    """

    file: int
    number: int
    content: RatedAnswer | BadLine
    cases: tuple[EvaluationCase, ...] = ()
    first: Verdict | None = None


@dataclass(frozen=True, slots=True)
class EvaluatedAnswer:
    """One answer with its text, and its cases in the order of the ways of scoring."""

    key: AnswerKey
    text: str
    cases: tuple[EvaluationCase, ...]


@dataclass(frozen=True, slots=True)
class EvaluatedAnswers:
    """All answers of the files; ``runs`` are the names of the ways of scoring."""

    runs: Sequence[str]
    sources: Sequence[RatedFile]
    answers: Sequence[EvaluatedAnswer]

    @property
    def cases(self) -> dict[str, list[EvaluationCase]]:
        """The cases of each way of scoring, by its name."""
        return {run: [each.cases[index] for each in self.answers] for index, run in enumerate(self.runs)}

    @property
    def has_reference(self) -> bool:
        """Whether there is anything to compare with."""
        first = [each.cases[0] for each in self.answers]
        return any(case.rating is not None or case.labelled is not None for case in first)

    @property
    def errors(self) -> list[InputErrors]:
        """What is wrong with each file."""
        return [source.errors for source in self.sources]

    @property
    def missing_codes(self) -> list[ExitCode]:
        """How the command ends for the documents that answers of each file name."""
        return [source.missing.exit_code for source in self.sources]

    @property
    def unserved(self) -> ServiceFailures:
        """The answers that could not be served in full, in whatever way they were scored."""
        unserved = ServiceFailures()
        for answer in self.answers:
            for case in answer.cases:
                unserved.add(case.degraded)
        return unserved

    def report(self) -> None:
        """Say on standard error what a reader of the tables must know."""
        self._tell_unrated()
        for source in self.sources:
            source.missing.report()
        ids = [answer_id for source in self.sources for answer_id in source.answer_ids]
        if repeated := len(ids) - len(set(ids)):
            say(f"{plural(repeated, 'repeated answer id')}: intervals over all answers are too narrow")
        self.unserved.report()

    def _tell_unrated(self) -> None:
        for source in self.sources:
            if source.unrated:
                lines = line_numbers(source.unrated)
                say(f"{source.path}: {plural(len(source.unrated), 'answer')} without a rating ({lines})")

    def described(self) -> dict[str, Any]:
        """Give what a report of these answers is about, ready for JSON."""
        files = [
            {"file": str(each.path), "bad_lines": each.errors.count, "unrated_lines": each.unrated}
            for each in self.sources
        ]
        return {"files": files}


def without_context(judge: OfflinePipeline) -> VerdictFunction:
    """Give a judge that does not look at the context which answers bring, and so retrieves their own."""

    async def verdict(answer: ChatbotAnswer) -> Verdict:
        return await judge.verdict(replace(answer, context=(), document_ids=()))

    return verdict


def read_lines(sources: Iterable[RatedFile], bar: Progress) -> Iterator[RatedLine]:
    """Read the lines of all files, moving the bar; raises CommandFailed where one cannot be read."""
    for file, source in enumerate(sources):
        for number, content in read_records(source.path, RatedAnswer, bar):
            yield RatedLine(file, number, _with_known_type(number, content))


async def score_lines(
    lines: Iterable[RatedLine], judges: Sequence[Sequence[VerdictFunction]], limit: int
) -> AsyncGenerator[RatedLine, None]:
    """Give each line the cases that the judges of its file come to, ``limit`` lines at once, in their order.

    Raises:
        CommandFailed: a file cannot be read.
        InfrastructureFailure: there is no judging.
    """

    async def judge(line: RatedLine) -> RatedLine:
        return await _score_line(line, judges[line.file])

    async with aclosing(map_in_order(lines, judge, limit)) as outcomes:
        async for line in outcomes:
            yield line


async def evaluated_answers(
    sources: Sequence[RatedFile], lines: AsyncGenerator[RatedLine, None]
) -> AsyncGenerator[EvaluatedAnswer, None]:
    """Give the good lines, once all judges have seen them, and complain about the others."""
    async for line in lines:
        source = sources[line.file]
        if isinstance(line.content, BadLine):
            source.errors.report(line.number, line.content.reason)
            continue
        source.note(line.number, line.content)
        answer = line.content.answer
        if line.first:  # the other ways of scoring look the same documents up, if any
            source.missing.add(line.number, line.first)
        yield EvaluatedAnswer(AnswerKey.of(answer), answer.answer, line.cases)


def _with_known_type(number: int, line: RatedAnswer | BadLine) -> RatedAnswer | BadLine:
    if isinstance(line, BadLine) or line.message_type is None or line.message_type in set(MessageType):
        return line
    return BadLine(number, f"message_type: should be one of {_TYPES}")


async def _score_line(line: RatedLine, judges: Sequence[VerdictFunction]) -> RatedLine:
    rated = line.content
    if isinstance(rated, BadLine):
        return line
    try:
        verdicts = [await judge(rated.answer) for judge in judges]
    except BadAnswer as error:
        reason = f"the scorer failed on this answer: {error.error_class}"
        return replace(line, content=BadLine(line.number, reason))
    cases = (*line.cases, *(make_case(verdict, rated) for verdict in verdicts))
    return replace(line, cases=cases, first=line.first or verdicts[0])


def make_case(verdict: Verdict, rated: RatedAnswer | None) -> EvaluationCase:
    """Make a case of a verdict and what people say of its answer, if they do.

    Raises:
        ValueError: its decision or message type is not known here.
    """
    return EvaluationCase(
        answer_id=verdict.answer_id,
        recognised=MessageType(verdict.message_type),
        language=verdict.language,
        score=verdict.score,
        decision=Decision(verdict.decision),
        reasons=verdict.reasons,
        rating=rated.rating if rated else None,
        rating_second=rated.rating_second if rated else None,
        labelled=MessageType(rated.message_type) if rated and rated.message_type is not None else None,
        label=Label(rated.label) if rated and rated.label is not None else None,
        consistent=rated.consistent if rated else None,
        relevant=rated.relevant if rated else None,
        features={feature.name: feature.value for feature in verdict.features},
        checks=_checks(verdict),
        degraded=verdict.degraded,
        translated=verdict.translated,
    )


def _checks(verdict: Verdict) -> dict[str, bool]:
    rules = rules_of_profile(verdict.profile)
    found = {evidence.kind for feature in verdict.features for evidence in feature.evidence}
    met = {rule.reason for rule in rules_for_kinds(found, rules)}
    return {rule.reason: rule.reason in met for rule in rules.values() if rule}
