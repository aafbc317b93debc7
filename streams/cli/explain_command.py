"""`truthgate explain`: find a verdict, explain it, and render the explanation section by section."""

import asyncio
import time
from collections.abc import Iterable, Iterator
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import Annotated, Final

import typer
from aiokafka import ConsumerRecord
from pydantic import TypeAdapter
from rich.console import RenderableType
from rich.padding import Padding
from rich.progress import Progress
from rich.text import Text

from schemas import Codec, DecodeError
from schemas.records import Verdict, VerdictEvidence, VerdictPassage
from scoring.policy import Policy
from scoring.values.exchange import MAX_SCORE, MIN_SCORE, is_encodable
from streams.cli.command_files import read_records
from streams.cli.command_output import (
    CommandFailed,
    InputErrors,
    UsageError,
    plural,
    printable,
    progress_bar,
    write_line,
)
from streams.cli.common_options import AsJson, ConfigFile, OptionalInputFile, Since
from streams.cli.topic_access import SLACK, offsets_at, open_topics
from streams.cli.verdict_rendering import (
    DECISION_STYLES,
    STATUS_STYLES,
    ResultConsole,
    claim_in_full,
    format_opinion,
    format_relevance,
    format_score,
    humanize_code,
    quote,
)
from streams.explaining.explanation import (
    Explanation,
    LocatedVerdict,
    RepeatedVerdict,
    RuleExplanation,
    RuleRole,
    ScoreOrigin,
    VerdictLocation,
    locate_verdict,
)
from streams.explaining.verdict_explainer import explain_verdict
from streams.kafka.schema_topic import create_codec
from streams.kafka.topic_reader import Offsets
from streams.kafka.topics import Topics
from streams.pipeline.verdict import FAULTS, fault_evidence, marked_claims
from streams.settings import Settings, load_settings

#: Offsets per partition that are read first; each step back doubles, so that few requests find old verdicts.
_FIRST_STEP: Final = 2_000
_MAX_STEP: Final = 50_000
#: Repeats follow a crash within minutes, and an answer that waited for a person or a document within hours.
_MAX_REPEAT_DELAY: Final = timedelta(days=1)

_PROGRESS_AFTER_SECONDS: Final = 1.0
_EXPLANATION = TypeAdapter(Explanation)


def explain(
    wanted: Annotated[str, typer.Argument(metavar="ID", help="The id of the answer or of its verdict.")],
    file: OptionalInputFile = None,
    since: Since = None,
    newest: Annotated[
        bool, typer.Option("--newest", help="Explain the newest of repeated verdicts, not the first.")
    ] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Explain one verdict: what was read, retrieved, compared and decided, and what to do next.

    The verdict is searched in the three verdict topics, from the newest backwards, or in a file. Of repeated
    verdicts the first is explained, which consumers act on, with the differences of the others. Thresholds
    are shown if the verdict's policy is that of the settings or the shipped one.

    The exit code is 1 if no such verdict exists, and 3 if Kafka does not answer.

    Example: `truthgate explain a-123 --since 2d`
    """
    if not is_encodable(wanted):
        raise UsageError("ID is not UTF-8")
    settings = load_settings(config)
    errors = InputErrors(file)
    if file:
        found = [
            LocatedVerdict(verdict, VerdictLocation(file=str(file), line=number))
            for number, verdict in errors.good_lines(read_records(file, Verdict))
            if wanted in {verdict.answer_id, verdict.verdict_id}
            and (since is None or since <= verdict.scored_at)
        ]
    else:
        bar = progress_bar("searching", None)
        try:
            found = asyncio.run(find_on_topics(settings, wanted, since, bar))
        finally:
            bar.stop()
    if not found:
        where = str(file) if file else "the verdict topics"
        raise CommandFailed(f"no verdict {wanted} in {where}{' since that time' if since else ''}")
    chosen = found[-1 if newest else 0]
    others = [each for each in found if each is not chosen]
    explanation = explain_verdict(chosen, (settings.policy, Policy()), others)
    if as_json:
        write_line(_EXPLANATION.dump_json(explanation).decode())
    else:
        console = ResultConsole()
        for line in render_explanation(explanation):
            console.print(line)
    raise typer.Exit(errors.exit_code)


async def find_on_topics(
    settings: Settings, wanted: str, since: datetime | None, bar: Progress
) -> list[LocatedVerdict]:
    """Find the verdicts with this answer id or verdict id, sorted by time.

    Reads from the end back to ``since``, or to the beginning. Once a verdict is found, it reads back only
    to where repeats of it can be: to the time of the answer, at most a day before the verdict. Raises as
    :func:`open_topics` does, and RegistryUnreachable.
    """
    codec = create_codec(settings)
    topics = Topics(settings.kafka.topic_prefix).outputs
    found: list[LocatedVerdict] = []
    started = time.monotonic()
    async with open_topics(settings.kafka, *topics) as (reader, log):
        begins = await offsets_at(reader, log, since - SLACK) if since else log.beginning_offsets
        ends, step, total = log.end_offsets, _FIRST_STEP, _size(begins, log.end_offsets)
        while _size(begins, ends):
            starts = {at: max(begins[at], end - step) for at, end in ends.items()}
            async with aclosing(reader.read_between(starts, ends)) as batches:
                async for records in batches:
                    found += [each for record in records if (each := await _match(record, wanted, codec))]
            ends, step = starts, min(2 * step, _MAX_STEP)
            if time.monotonic() - started > _PROGRESS_AFTER_SECONDS:
                bar.start()
            bar.update(bar.task_ids[0], completed=total - _size(begins, ends), total=total)
            if found:
                earliest = min(found, key=_written_at)
                oldest = max(earliest.verdict.produced_at, _written_at(earliest) - _MAX_REPEAT_DELAY)
                first = await offsets_at(reader, log, oldest - SLACK)
                begins = {at: max(begin, first[at]) for at, begin in begins.items()}
    return sorted(found, key=_written_at)


async def _match(record: ConsumerRecord, wanted: str, codec: Codec) -> LocatedVerdict | None:
    # Avro has texts in UTF-8: a record without these bytes need not be decoded.
    if wanted.encode() not in (record.value or b""):
        return None
    await codec.lookup(record.value)
    try:
        verdict = codec.decode(record.value, Verdict)
    except DecodeError:
        return None  # not a verdict, or one that only a newer release can read
    return locate_verdict(record, verdict) if wanted in {verdict.answer_id, verdict.verdict_id} else None


def _written_at(found: LocatedVerdict) -> datetime:
    return found.written_at or found.verdict.scored_at


def _size(begins: Offsets, ends: Offsets) -> int:
    return sum(max(0, end - begins[at]) for at, end in ends.items())


_MARKERS: Final = "✗ contradicted, ? not found, ≈ similar, ‹not in the documents›, ✓ supported, «at fault»"
_AT_FAULT: Final = "bold red underline"
_CLOSING: Final = "›»"
_INDENT: Final = 4
_MINUTE: Final = 60

_SOURCES: Final = {
    "inline": "The answer came with these passages.",
    "by_id": "The answer named these documents; the versions are those when it was scored.",
    "retrieved": "The answer came without documents: these passages were retrieved for its question.",
    "none": "None: the answer came without documents, and none was retrieved.",
}
_ROLES: Final = {
    RuleRole.DECIDED: "and decided",
    RuleRole.NAMED: "but another reason decided",
    RuleRole.OUTWEIGHED: "but another rule took precedence",
}


def marked_answer(verdict: Verdict) -> Text:
    """Return the answer with signs before claims, and around spans at fault or missing in a passage."""
    text, end = Text(printable_lines(verdict.answer)), len(verdict.answer)
    signs: list[tuple[int, str]] = []
    marks = [(fault.start, fault.end, "«", "»") for fault in fault_evidence(verdict)]
    for claim in marked_claims(verdict):
        sign, style = STATUS_STYLES[claim.status]
        text.stylize(style, claim.start, min(claim.end, end))
        signs.append((claim.start, sign))
        marks += [(span.start, span.end, "‹", "›") for span in claim.lacking]
    for start, stop, opening, closing in marks:
        if start < min(stop, end):
            text.stylize(_AT_FAULT if closing == "»" else "underline", start, min(stop, end))
            signs += [(start, opening), (min(stop, end), closing)]
    # At one position a span ends before another begins.
    signs.sort(key=lambda each: (each[0], each[1] not in _CLOSING))
    parts = text.divide([position for position, _ in signs])
    marked = Text()
    for part, (_, sign) in zip(parts, signs, strict=False):
        marked.append_text(part).append(sign)
    return marked.append_text(parts[-1])


def printable_lines(text: str) -> str:
    """Make text safe for a terminal, keeping its lines and every offset."""
    return "\n".join(map(printable, text.split("\n")))


def render_explanation(explanation: Explanation) -> Iterator[RenderableType]:
    """Yield the sections of an explanation."""
    verdict = explanation.verdict
    yield _title(explanation)
    yield from _section("Why", _reasons(explanation))
    yield from _section("Question", [printable_lines(verdict.question)])
    yield from _section(f"Answer ({_MARKERS})", [marked_answer(verdict)])
    yield from _section("Claims and passages", map(claim_in_full, verdict.claims))
    yield from _section("Rules", map(_rule, explanation.rules))
    yield from _section("Score", _score(explanation))
    yield from _section("Features", _features(explanation))
    yield from _section("Documents", _documents(explanation))
    yield from _section("Language models", _opinions(explanation))
    yield from _section("Policy", _policy(explanation))
    yield from _section("Times and locations", _times(explanation))
    yield from _section("Repeats", map(_repeat, explanation.repeats))


def _section(title: str, content: Iterable[Text | str]) -> Iterator[RenderableType]:
    """Yield a heading and its content, or nothing if there is no content."""
    parts = [Text(each) if isinstance(each, str) else each for each in content]
    if parts:
        yield Text(f"\n{title}", "bold")
        for line in (line for part in parts for line in part.split("\n", allow_blank=True)):
            yield Padding(line, (0, 0, 0, _INDENT), expand=False)


def _title(explanation: Explanation) -> Text:
    verdict = explanation.verdict
    title = Text(printable(verdict.answer_id), "bold").append("  ")
    title.append(humanize_code(verdict.decision), DECISION_STYLES.get(verdict.decision, ""))
    score = "no score" if verdict.score is None else f"score {format_score(verdict.score)} of {MAX_SCORE:g}"
    language = printable(verdict.language or "language unknown")
    title.append(f"  {score}  {humanize_code(verdict.message_type)}, {language}", "not bold")
    return title.append(", translated to English before scoring" if verdict.translated else "")


def _reasons(explanation: Explanation) -> Iterator[Text]:
    decided = len(explanation.verdict.reasons)
    for index, each in enumerate(explanation.reasons):
        line = Text(humanize_code(each.code), "bold" if index == 0 else "")
        line.append(f"  {each.meaning}" if each.meaning else "", "not bold")
        line.append("  (could not be checked)" if index >= decided else "", "dim not bold")
        yield line
        if each.to_do:
            yield Text(f"→ {each.to_do}", "cyan")


def _rule(rule: RuleExplanation) -> Text:
    line = Text(f"{humanize_code(rule.reason)}: {rule.effect}", "bold")
    line.append(f", {_ROLES[rule.role]}", "not bold")
    line.append(f"  {rule.meaning}", "not bold")
    contradiction = f"; contradiction {rule.contradiction:.2f}" if rule.contradiction else ""
    evidence, features = (", ".join(map(humanize_code, names)) for names in (rule.kinds, rule.features))
    return line.append(f"  (evidence: {evidence}; feature: {features}{contradiction})", "dim not bold")


def _score(explanation: Explanation) -> Iterator[str]:
    score, verdict = explanation.score, explanation.verdict
    support = ("support", verdict.support, score.of_support)
    contradiction = ("contradiction", verdict.contradiction, score.of_contradiction)
    parts = [each for each in (support, contradiction) if each[1] is not None]
    scores = [f"{name} {alone:.2f}" for name, _, alone in parts if alone is not None]
    lower = f" = min({', '.join(scores)})" if len(scores) > 1 else "".join(f" = {each}" for each in scores)
    origins = {
        ScoreOrigin.SUPPORT: lower,
        ScoreOrigin.CONTRADICTION: lower,
        ScoreOrigin.RULE: ", set by a rule",
        ScoreOrigin.MEAN: ", the mean of the features",
        ScoreOrigin.UNKNOWN: ", by another release of the scorer",
    }
    if score.value is None:
        yield "none"
    else:
        yield f"{score.value:.2f}{origins[score.made_by] if score.made_by else ''}"
    profile = printable(verdict.profile) or "unknown"
    yield f"profile {profile}, scorer {printable(verdict.scorer_version)}"
    for name, value, alone in parts:
        yield f"{name} {value:.2f}: score {format_score(alone)}"
    if verdict.faithfulness is not None:
        yield f"faithfulness {verdict.faithfulness:.2f}: the share of the claims that are supported"


def _features(explanation: Explanation) -> Iterator[Text]:
    features = explanation.verdict.features
    for feature, explained in zip(features, explanation.features, strict=True):
        if feature.value is not None or feature.evidence:
            value = "does not apply" if feature.value is None else f"{feature.value:.2f}"
            line = Text(f"{humanize_code(feature.name)} {value}", "bold")
            line.append(f"  {explained.meaning}", "not bold")
            rules = ", ".join(map(humanize_code, explained.rules))
            yield line.append(f"  → {rules}" if rules else "", "not bold")
            yield from map(_evidence, feature.evidence)
    if others := [humanize_code(each.name) for each in features if each.value is None and not each.evidence]:
        yield Text(f"do not apply: {', '.join(others)}", "dim")


def _evidence(evidence: VerdictEvidence) -> Text:
    document = f"  in {printable(evidence.document_id)}" if evidence.document_id else ""
    text = f"{humanize_code(evidence.kind)} {quote([evidence.text])}"
    line = Text("  ").append(text, "red" if evidence.kind in FAULTS else "")
    return line.append(f" {evidence.start}–{evidence.end}{document}", "dim")


def _documents(explanation: Explanation) -> Iterator[str]:
    verdict = explanation.verdict
    if missing := verdict.missing_context_ids:
        yield f"The answer names missing documents: {', '.join(map(printable, missing))}."
    elif source := _SOURCES.get(verdict.context_source):
        yield source
    if verdict.context:
        yield from map(_passage, verdict.context)
    else:
        yield from map(printable, dict.fromkeys(verdict.context_ids))


def _passage(passage: VerdictPassage) -> str:
    version = f" version {printable(passage.version)}" if passage.version else ""
    span = "" if passage.start is None else f", characters {passage.start}–{passage.end}"
    score = "" if passage.score is None else f", retrieval score {passage.score:.3g}"
    title = f" {quote([passage.title])}" if passage.title else ""
    url = f", {printable(passage.url)}" if passage.url else ""
    floor = passage.relevance_floor
    relevance = "" if passage.relevance is None else f", {format_relevance(passage.relevance, floor)}"
    return f"{printable(passage.document_id)}{title}{version}{span}{score}{relevance}{url}"


def _opinions(explanation: Explanation) -> Iterator[Text]:
    for opinion in explanation.verdict.opinions:
        yield Text(format_opinion(opinion))
        cost = "" if opinion.cost is None else f", cost {opinion.cost:g}"
        tokens = f"{opinion.tokens_in} tokens in, {opinion.tokens_out} out"
        usage = f"{plural(opinion.requests, 'request')}, {tokens}, {opinion.seconds:.1f} s{cost}"
        yield Text(f"  prompts {printable(opinion.prompt_version)}, {usage}", "dim")
        yield from map(_evidence, opinion.evidence)


def _policy(explanation: Explanation) -> Iterator[str]:
    policy = explanation.policy
    yield f"version {printable(policy.version)}"
    if (found := policy.thresholds) is None:
        yield "thresholds unknown: it is neither the policy of these settings nor the shipped one"
        yield "a fitted one is shown by `truthgate policy show`"
        return
    sent = f"score ≥ {found.auto_send_at:g}" if found.auto_send_at < MAX_SCORE else "only by a rule"
    blocked = f"score < {found.block_below:g}" if found.block_below > MIN_SCORE else "only by a rule"
    yield f"answers of this type and language: sent {sent}, blocked {blocked}"
    unscored, refusal = humanize_code(found.unscored), humanize_code(found.refusal)
    yield f"message types without a score: {unscored}; refusals: {refusal}"
    ask, never = (", ".join(map(humanize_code, codes)) or "none" for codes in (found.ask, found.ask_never))
    yield f"judges are asked about: {ask}; never about: {never}"
    yield f"opinions send at confidence ≥ {found.send_confidence:g}, block at ≥ {found.block_confidence:g}"
    if found.pause:
        yield "nothing is sent automatically (policy.pause)"


def _times(explanation: Explanation) -> Iterator[str]:
    verdict = explanation.verdict
    by = f" by {printable(verdict.model)}" if verdict.model else ""
    yield f"answered {_moment(verdict.produced_at)}{by}"
    seconds = abs(explanation.seconds)
    delay = f"{seconds:.3f} s" if seconds < _MINUTE else str(timedelta(seconds=round(seconds)))
    order = "later" if explanation.seconds >= 0 else "earlier"
    yield f"scored   {_moment(verdict.scored_at)}, {delay} {order}"
    if explanation.place:
        written = f", written {_moment(explanation.written_at)}" if explanation.written_at else ""
        yield f"at {printable(str(explanation.place))}{written}"
    yield f"verdict {printable(verdict.verdict_id)}, conversation {printable(verdict.conversation_id)}"
    yield f"trace {explanation.trace_id or 'unknown'}"


def _repeat(repeat: RepeatedVerdict) -> Text:
    differs = ", ".join(map(humanize_code, repeat.differs))
    line = Text(f"{_moment(repeat.written_at or repeat.scored_at)}  {printable(str(repeat.place))}  ")
    line.append(humanize_code(repeat.decision), DECISION_STYLES.get(repeat.decision, ""))
    line.append(f"  {format_score(repeat.score)}  {', '.join(map(humanize_code, repeat.reasons))}")
    return line.append(f"  differs in {differs}" if differs else "  the same", "bold" if differs else "dim")


def _moment(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S.%f}"[:-3]
