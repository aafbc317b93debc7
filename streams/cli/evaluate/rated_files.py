"""Rated answers, read from files and scored in each variant: from lines to the cases of an evaluation."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.progress import Progress

from schemas import BadLine, ChatbotAnswer, KnowledgeDocument, RatedAnswer, Verdict
from scoring.evaluation.cases import EvaluationCase
from scoring.scorer.profile import rules_of_profile
from scoring.scorer.score import rules_for_kinds
from scoring.scorer.scorer import ScorerOptions
from scoring.values.exchange import Decision, MessageType
from scoring.values.opinion import Label
from streams.cli.async_input import map_in_order
from streams.cli.command_errors import CommandErrors, InputErrors, line_numbers
from streams.cli.command_files import read_records
from streams.cli.command_output import indexing_bar, plural, say
from streams.cli.common_options import max_in_flight, with_translation_mode
from streams.cli.evaluate.scoring_variants import ScoreCache, ScoringVariant
from streams.llm.batches import AnswerKey
from streams.observability.failures import BadAnswer
from streams.pipeline.context import StaticDocuments
from streams.pipeline.pipeline import OfflinePipeline, Pipeline
from streams.scorers.options import AsyncScorer
from streams.scorers.pool import ScoringPool
from streams.search.on_demand import OnDemandRetriever, open_on_demand_retriever
from streams.settings import Settings
from streams.translating.opening import open_file_translation

Documents = Sequence[KnowledgeDocument]
VerdictFunction = Callable[[ChatbotAnswer], Awaitable[Verdict]]


@dataclass(frozen=True, slots=True)
class RatedFile:
    """One file and its errors.

    ``unrated`` collects the numbers of lines without a rating, ``answer_ids`` the ids of scored answers.
    """

    path: Path
    errors: InputErrors
    unrated: list[int] = field(default_factory=list)
    answer_ids: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RatedLine:
    """One line of the file with this index, and its cases so far; ``first`` is its first verdict."""

    file: int
    number: int
    content: RatedAnswer | BadLine
    cases: tuple[EvaluationCase, ...] = ()
    first: Verdict | None = None


@dataclass(frozen=True, slots=True)
class EvaluatedAnswer:
    """One answer with its text, and its cases in the order of the variants."""

    key: AnswerKey
    text: str
    cases: tuple[EvaluationCase, ...]


@dataclass(frozen=True, slots=True)
class EvaluatedAnswers:
    """All answers of the files; ``runs`` are the names of the variants."""

    runs: Sequence[str]
    sources: Sequence[RatedFile]
    answers: Sequence[EvaluatedAnswer]

    @property
    def cases(self) -> dict[str, list[EvaluationCase]]:
        """The cases of each variant, by its name."""
        return {run: [each.cases[index] for each in self.answers] for index, run in enumerate(self.runs)}

    @property
    def has_reference(self) -> bool:
        """Whether any answer has a rating or a message type to compare with."""
        first = [each.cases[0] for each in self.answers]
        return any(case.rating is not None or case.labelled is not None for case in first)

    def report(self, errors: CommandErrors) -> None:
        """Report on standard error what a reader of the tables must know."""
        for source in self.sources:
            if source.unrated:
                lines = line_numbers(source.unrated)
                say(f"{source.path}: {plural(len(source.unrated), 'answer')} without a rating ({lines})")
        errors.report_missing_documents()
        ids = [answer_id for source in self.sources for answer_id in source.answer_ids]
        if repeated := len(ids) - len(set(ids)):
            say(f"{plural(repeated, 'repeated answer id')}: intervals over all answers are too narrow")
        for answer in self.answers:
            for case in answer.cases:
                errors.note_degraded(case.degraded)
        errors.report_degraded()

    def to_json(self) -> dict[str, Any]:
        """Return the files that a report is about as JSON."""
        files = [
            {"file": str(each.path), "bad_lines": each.errors.count, "unrated_lines": each.unrated}
            for each in self.sources
        ]
        return {"files": files}


@dataclass(frozen=True, slots=True)
class _SearchableDocuments:
    static: StaticDocuments
    retrieval: OnDemandRetriever | None


async def score_files(
    files: Sequence[Path],
    documents: Sequence[Documents],
    settings: Settings,
    options: ScorerOptions,
    variants: Sequence[ScoringVariant],
    errors: CommandErrors,
    bar: Progress,
) -> EvaluatedAnswers:
    """Score the answers of each file against its documents in each variant, and advance the bar.

    Several profiles score the lines one after the other: two pools at once would prepare the documents twice.

    Raises:
        CommandFailed: a file cannot be read.
        InfrastructureFailure: no answer can be scored.
        InvalidSettings: the settings name something unavailable.
    """
    sources = [RatedFile(path, errors.of(path)) for path in files]
    lines: Iterable[RatedLine] = read_lines(sources, bar)
    *former, last = (list(each) for _, each in groupby(variants, lambda variant: variant.profile))
    async with _opened(documents, settings, indexing_bar(bar)) as opened:
        for each in former:
            async with _scored_with_profile(each, lines, opened, settings, options) as scored:
                lines = _again([line async for line in scored], bar)
        async with (
            _scored_with_profile(last, lines, opened, settings, options) as scored,
            aclosing(evaluated_answers(sources, scored)) as answers,
        ):
            return EvaluatedAnswers(
                [variant.name for variant in variants], sources, [each async for each in answers]
            )


@asynccontextmanager
async def _opened(
    documents: Sequence[Documents], settings: Settings, on_indexed: Callable[[int, int], None]
) -> AsyncIterator[list[_SearchableDocuments]]:
    """Open the documents of each file; those that several files share are opened once."""
    async with AsyncExitStack() as stack:
        opened = {
            key: _SearchableDocuments(
                StaticDocuments.of(each),
                await stack.enter_async_context(open_on_demand_retriever(each, settings, on_indexed)),
            )
            for key, each in {id(each): each for each in documents}.items()
        }
        yield [opened[id(each)] for each in documents]


@asynccontextmanager
async def _scored_with_profile(
    variants: Sequence[ScoringVariant],
    lines: Iterable[RatedLine],
    documents: Sequence[_SearchableDocuments],
    settings: Settings,
    options: ScorerOptions,
) -> AsyncIterator[AsyncGenerator[RatedLine, None]]:
    """Yield the lines, scored in these variants of one profile."""
    scoring, profile, now = settings.scoring, variants[0].profile, datetime.now(UTC)
    pool = ScoringPool(profile, scoring.processes, scoring.timeout_seconds, options)
    async with pool, AsyncExitStack() as stack:
        translations = [
            await stack.enter_async_context(
                open_file_translation(with_translation_mode(settings, variant.translate))
            )
            for variant in variants
        ]
        scorer: AsyncScorer = ScoreCache(pool) if any(variant.policy for variant in variants) else pool

        def verdict_functions(opened: _SearchableDocuments) -> list[VerdictFunction]:
            functions: list[VerdictFunction] = []
            for variant, translation in zip(variants, translations, strict=True):
                decide = (variant.policy or settings.policy).decide
                pipeline = Pipeline(opened.static, scorer, decide, profile, translation, opened.retrieval)
                offline = OfflinePipeline(pipeline, now)
                functions.append(
                    _without_context(offline) if variant.context == "retrieved" else offline.verdict
                )
            return functions

        functions = [*map(verdict_functions, documents)]
        async with aclosing(score_lines(lines, functions, max_in_flight(settings))) as scored:
            yield scored


def _without_context(pipeline: OfflinePipeline) -> VerdictFunction:
    """Return a function that ignores the context of answers, so that theirs is retrieved."""

    async def verdict(answer: ChatbotAnswer) -> Verdict:
        return await pipeline.verdict(replace(answer, context=(), document_ids=()))

    return verdict


def _again(lines: Sequence[RatedLine], bar: Progress) -> Iterator[RatedLine]:
    for line in lines:
        yield line
        bar.advance(bar.task_ids[0])


def read_lines(sources: Iterable[RatedFile], bar: Progress) -> Iterator[RatedLine]:
    """Yield the lines of all files, and advance the bar; raises CommandFailed if one cannot be read."""
    for file, source in enumerate(sources):
        for number, content in read_records(source.path, RatedAnswer, bar):
            if isinstance(content, RatedAnswer) and content.message_type not in {None, *MessageType}:
                bad = BadLine(number, f"message_type: should be one of {', '.join(MessageType)}")
                yield RatedLine(file, number, bad)
            else:
                yield RatedLine(file, number, content)


async def score_lines(
    lines: Iterable[RatedLine], functions: Sequence[Sequence[VerdictFunction]], limit: int
) -> AsyncGenerator[RatedLine, None]:
    """Add to each line a case per function of its file, ``limit`` lines concurrently, and keep their order.

    Raises:
        CommandFailed: a file cannot be read.
        InfrastructureFailure: no answer can be scored.
    """

    async def score_line(line: RatedLine) -> RatedLine:
        rated = line.content
        if isinstance(rated, BadLine):
            return line
        try:
            verdicts = [await verdict(rated.answer) for verdict in functions[line.file]]
        except BadAnswer as error:
            reason = f"the scorer failed on this answer: {error.error_class}"
            return replace(line, content=BadLine(line.number, reason))
        cases = (*line.cases, *(make_case(verdict, rated) for verdict in verdicts))
        return replace(line, cases=cases, first=line.first or verdicts[0])

    async with aclosing(map_in_order(lines, score_line, limit)) as outcomes:
        async for line in outcomes:
            yield line


async def evaluated_answers(
    sources: Sequence[RatedFile], lines: AsyncGenerator[RatedLine, None]
) -> AsyncGenerator[EvaluatedAnswer, None]:
    """Yield the answers of the good lines, once all variants have scored them, and report the others."""
    async for line in lines:
        source = sources[line.file]
        if isinstance(line.content, BadLine):
            source.errors.report(line.number, line.content.reason)
            continue
        answer = line.content.answer
        source.answer_ids.append(answer.answer_id)
        if line.content.rating is None:
            source.unrated.append(line.number)
        if line.first:  # the other variants look up the same documents, if any
            source.errors.note_verdict(line.number, line.first)
        yield EvaluatedAnswer(AnswerKey.of(answer), answer.answer, line.cases)


def make_case(verdict: Verdict, rated: RatedAnswer | None) -> EvaluationCase:
    """Make a case of a verdict and the ratings of its answer, if there are any.

    Raises:
        ValueError: the decision or message type is unknown.
    """
    rules = rules_of_profile(verdict.profile)
    kinds = {evidence.kind for feature in verdict.features for evidence in feature.evidence}
    met = {rule.reason for rule in rules_for_kinds(kinds, rules)}
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
        checks={rule.reason: rule.reason in met for rule in rules.values() if rule},
        degraded=verdict.degraded,
        translated=verdict.translated,
    )
