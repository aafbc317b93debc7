"""Rated answers, scored in each variant that an evaluation compares, and the opinions of judges on them."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby, product
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Self

from rich.progress import Progress

from schemas import BadLine, ChatbotAnswer, KnowledgeDocument, RatedAnswer, Verdict
from scoring.evaluation.cases import EvaluationCase
from scoring.judges.opinion_json import OpinionUnreadable
from scoring.policy import Policy
from scoring.scorer.profile import rules_of_profile
from scoring.scorer.score import rules_for_kinds
from scoring.scorer.scorer import ScorerOptions
from scoring.values.exchange import Decision, Exchange, MessageType
from scoring.values.opinion import Label, Opinion
from scoring.values.scored_answer import ScoredAnswer
from streams.cli.command_files import map_good_lines, read_records
from streams.cli.command_output import (
    CommandErrors,
    CommandFailed,
    InputErrors,
    UsageError,
    indexing_bar,
    line_numbers,
    plural,
    report_opinions,
    say,
)
from streams.cli.common_options import IN_FLIGHT_PER_PROCESS, TranslateMode, with_translation_mode
from streams.llm.batches import AnswerKey, OpinionLine
from streams.pipeline.context import StaticDocuments
from streams.pipeline.pipeline import OfflinePipeline, Pipeline
from streams.scorers.options import AsyncScorer
from streams.scorers.pool import ScoringPool
from streams.search.on_demand import OnDemandRetriever, open_on_demand_retriever
from streams.settings import Settings
from streams.settings.effective_settings import merge_policy
from streams.translating.opening import open_file_translation

if TYPE_CHECKING:  # they need scipy
    from scoring.evaluation.opinion_report import JudgeRun

Context = Literal["given", "retrieved"]
ContextChoice = Literal["given", "retrieved", "both"]
TranslateChoice = Literal["off", "auto", "always", "both"]

_DESCRIPTIONS: Final = {
    "off": "untranslated",
    "auto": "translated if needed",
    "always": "translated",
    "given": "context given",
    "retrieved": "context retrieved",
}
_GAINS: Final = {"always": "Gain by translation", "retrieved": "Gain by retrieval of the context"}


@dataclass(frozen=True, slots=True)
class ScoringVariant:
    """One way of scoring all answers, with a unique name; a ``policy`` of None is that of the settings."""

    name: str
    profile: str
    context: Context
    translate: TranslateMode
    policy: Policy | None = None


def select_variants(
    profiles: Sequence[str], context: ContextChoice, translate: TranslateChoice
) -> list[ScoringVariant]:
    """Return the variants; raises UsageError if two things vary, or a profile is compared with itself."""
    several = {
        "several --profile": len(profiles) > 1,
        "--context both": context == "both",
        "--translate both": translate == "both",
    }
    varied = [option for option, is_varied in several.items() if is_varied]
    if len(varied) > 1:
        raise UsageError(f"{' and '.join(varied)}: compare one of them at a time")
    if len(set(profiles)) < len(profiles):
        raise UsageError("--profile: name each profile once")
    contexts: Sequence[Context] = ("given", "retrieved") if context == "both" else (context,)
    modes: Sequence[TranslateMode] = ("off", "always") if translate == "both" else (translate,)
    names: Sequence[str] = contexts
    if len(profiles) > 1:
        names = profiles
    elif translate == "both" or context == "given":
        names = modes
    return [
        ScoringVariant(name, *variant)
        for name, variant in zip(names, product(profiles, contexts, modes), strict=True)
    ]


def describe_variant(run: str) -> str:
    """Describe the variant of a run; an unknown name is that of a profile."""
    return _DESCRIPTIONS.get(run, f"profile {run}")


def describe_gain(run: str) -> str:
    """Describe how a run differs from the one before."""
    return _GAINS.get(run, f"Gain by profile {run}")


#: More than the concurrent lines, so that none is scored twice.
_CACHED_SCORES: Final = 256
_OTHER_POLICY: Final = "what if"


def other_policy(
    current: Policy, file: Path | None, auto_send_at: float | None, block_below: float | None
) -> Policy | None:
    """Return the policy for the options, or None without them; raises InvalidSettings."""
    thresholds = {"auto_send_at": auto_send_at, "block_below": block_below}
    given = {name: value for name, value in thresholds.items() if value is not None}
    return merge_policy(current, file, given) if file or given else None


def check_single(variants: Sequence[ScoringVariant], options: str) -> None:
    """Raise UsageError if there are several variants, which these options cannot be combined with."""
    if len(variants) > 1:
        one = "compare one thing at a time; --context or --translate is both, or --profile is repeated"
        raise UsageError(f"{options}: {one}")


def with_policy(variants: Sequence[ScoringVariant], policy: Policy) -> list[ScoringVariant]:
    """Return the only variant, and the same with this policy; raises as :func:`check_single` does."""
    check_single(variants, "--auto-send-at, --block-below and --policy")
    return [*variants, replace(variants[0], name=_OTHER_POLICY, policy=policy)]


class ScoreCache:
    """A scorer with a cache of the last scores, for several policies."""

    def __init__(self, scorer: AsyncScorer) -> None:
        self._scorer = scorer
        self._cache: OrderedDict[tuple[Exchange, tuple[str, ...]], ScoredAnswer] = OrderedDict()

    async def score(self, exchange: Exchange, degraded: tuple[str, ...]) -> ScoredAnswer:
        """Score one exchange, or return its cached score; raises as the scorer does."""
        key = (exchange, degraded)
        if (cached := self._cache.get(key)) is None:
            cached = self._cache[key] = await self._scorer.score(exchange, degraded)
        if len(self._cache) > _CACHED_SCORES:
            self._cache.popitem(last=False)
        return cached


ConfidenceChoice = Literal["honest", "overconfident", "both"]
Documents = Sequence[KnowledgeDocument]
VerdictFunction = Callable[[ChatbotAnswer], Awaitable[Verdict]]


@dataclass(frozen=True, slots=True)
class RatedLine:
    """A line of a file, and its cases so far, in the order of the variants."""

    number: int
    content: RatedAnswer
    cases: tuple[EvaluationCase, ...] = ()


@dataclass(slots=True)
class RatedFile:
    """One file, its errors and its lines, which are None until they are scored for the first time."""

    path: Path
    errors: InputErrors
    lines: list[RatedLine] | None = None

    @property
    def unrated(self) -> list[int]:
        """The numbers of the lines without a rating."""
        return [line.number for line in self.lines or () if line.content.rating is None]

    async def score(self, functions: Sequence[VerdictFunction], limit: int, bar: Progress) -> None:
        """Add to each line a case per function, ``limit`` lines concurrently, and advance the bar.

        A line on which a function fails is reported and removed. Raises CommandFailed if the file cannot be
        read, and InfrastructureFailure if no answer can be scored.
        """

        async def with_cases(line: RatedLine) -> RatedLine:
            rated = line.content
            verdicts = [await verdict(rated.answer) for verdict in functions]
            if line.cases:
                bar.advance(bar.task_ids[0])
            else:  # the other variants look up the same documents, if any
                self.errors.note_verdict(line.number, verdicts[0])
            return replace(line, cases=(*line.cases, *(make_case(each, rated) for each in verdicts)))

        lines = self._read(bar) if self.lines is None else [(line.number, line) for line in self.lines]
        async with aclosing(map_good_lines(lines, with_cases, limit, self.errors)) as scored:
            self.lines = [line async for _, line in scored]

    def _read(self, bar: Progress) -> Iterator[tuple[int, RatedLine | BadLine]]:
        for number, content in read_records(self.path, RatedAnswer, bar):
            if isinstance(content, BadLine):
                yield number, content
            elif unknown := unknown_code("message_type", content.message_type):
                yield number, BadLine(number, unknown)
            else:
                yield number, RatedLine(number, content)


def unknown_code(name: str, value: str | None) -> str | None:
    """Return what is wrong with a ``decision`` or ``message_type``, or None; it may be missing."""
    known: Iterable[str] = Decision if name == "decision" else MessageType
    return None if value in {None, *known} else f"{name}: should be one of {', '.join(known)}"


def lines_of(files: Iterable[RatedFile]) -> list[RatedLine]:
    """Return the scored lines of all files."""
    return [line for file in files for line in file.lines or ()]


def report_files(files: Sequence[RatedFile], errors: CommandErrors) -> None:
    """Report on standard error what a reader of the tables of these files must know."""
    for file in files:
        if unrated := file.unrated:
            answers = plural(len(unrated), "answer")
            say(f"{file.path}: {answers} without a rating ({line_numbers(unrated)})")
    errors.report_missing_documents()
    lines = lines_of(files)
    if repeated := len(lines) - len({line.content.answer.answer_id for line in lines}):
        say(f"{plural(repeated, 'repeated answer id')}: intervals over all answers are too narrow")
    for line in lines:
        for case in line.cases:
            errors.note_codes(*case.reasons, *case.degraded)
    errors.report_codes()


async def score_files(
    files: Sequence[Path],
    documents: Sequence[Documents],
    settings: Settings,
    options: ScorerOptions,
    variants: Sequence[ScoringVariant],
    errors: CommandErrors,
    bar: Progress,
) -> list[RatedFile]:
    """Score the answers of each file against its documents in each variant, and advance the bar.

    Several profiles score the lines one after the other: two pools at once would prepare the documents twice.
    Raises as :meth:`RatedFile.score` does, and InvalidSettings if the settings name something unavailable.
    """
    found = [RatedFile(path, errors.of(path)) for path in files]
    scoring, indexing, now = settings.scoring, indexing_bar(bar), datetime.now(UTC)
    async with AsyncExitStack() as stack:
        opened: dict[int, tuple[StaticDocuments, OnDemandRetriever | None]] = {}
        for each in documents:
            if id(each) not in opened:  # several files may share them
                retrieval = open_on_demand_retriever(each, settings, indexing)
                opened[id(each)] = StaticDocuments.of(each), await stack.enter_async_context(retrieval)
        for profile, group in groupby(variants, lambda variant: variant.profile):
            pool = ScoringPool(profile, scoring.processes, scoring.timeout_seconds, options)
            async with pool, AsyncExitStack() as translations:
                members = []
                for variant in group:
                    opening = open_file_translation(with_translation_mode(settings, variant.translate))
                    members.append((variant, await translations.enter_async_context(opening)))
                scorer: AsyncScorer = ScoreCache(pool) if any(each.policy for each, _ in members) else pool
                for file, known in zip(found, documents, strict=True):
                    static, retriever = opened[id(known)]
                    functions = []
                    for variant, translation in members:
                        decide = (variant.policy or settings.policy).decide
                        pipeline = Pipeline(static, scorer, decide, profile, translation, retriever)
                        functions.append(_verdict_function(OfflinePipeline(pipeline, now), variant.context))
                    await file.score(functions, scoring.processes * IN_FLIGHT_PER_PROCESS, bar)
    return found


def _verdict_function(pipeline: OfflinePipeline, context: Context) -> VerdictFunction:
    """Return the function of a pipeline; "retrieved" ignores the context that answers have."""
    if context == "given":
        return pipeline.verdict
    return lambda answer: pipeline.verdict(replace(answer, context=(), document_ids=()))


def make_case(verdict: Verdict, rated: RatedAnswer | None) -> EvaluationCase:
    """Make a case of a verdict and its ratings; raises ValueError if a code of the verdict is unknown."""
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
        rating_first=rated.rating_first if rated else None,
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


@dataclass(frozen=True, slots=True)
class OpinionFile:
    """The opinions of one judge with their line numbers, and the errors of the file."""

    path: Path
    errors: InputErrors
    lines: Sequence[tuple[int, OpinionLine]]

    @classmethod
    def read(cls, path: Path, errors: InputErrors) -> Self:
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

    def runs(self, lines: Iterable[RatedLine]) -> "tuple[JudgeRun, ...]":
        """Evaluate the opinions on these answers; raises as :meth:`OpinionFile.match` does."""
        from scoring.evaluation import opinion_report  # noqa: PLC0415 - needs scipy

        answers = {AnswerKey.of(line.content.answer): line for line in lines}
        stems = [file.path.stem for file in self.files]
        pairs = {
            file.path.stem if stems.count(file.path.stem) == 1 else str(file.path): file.match(answers)
            for file in self.files
        }
        for file, matched in zip(self.files, pairs.values(), strict=True):
            report_opinions(file.path, [opinion for _, opinion in matched], self.tau)
        kinds = [each for each in opinion_report.Confidence if self.confidence in {each, "both"}]
        flips = tuple(opinion_report.LabelFlipping(flip, kind) for flip in self.flips for kind in kinds)
        return opinion_report.evaluate_judges(pairs, self.tau, opinion_report.Simulation(flips, self.seed))
