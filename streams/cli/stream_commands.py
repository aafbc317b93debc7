"""`truthgate tail`, `try` and `replay`: verdicts as they arrive, a test answer, and recorded answers."""

import asyncio
import re
import sys
import uuid
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from aiokafka import TopicPartition
from rich.progress import Progress

from schemas import ChatbotAnswer, Verdict, to_json
from schemas.jsonl import utc_now
from scoring.scorer.profile import DESCRIPTIONS
from scoring.text.language_detection import UNDETERMINED, language_code
from scoring.values.exchange import MAX_SCORE, MIN_SCORE, Decision, MessageType
from streams.cli.command_files import aiter_in_thread, count_lines, read_records
from streams.cli.command_output import (
    CommandFailed,
    InputErrors,
    SourceLocation,
    UsageError,
    plural,
    progress_bar,
    say,
    write_json,
)
from streams.cli.common_options import AsJson, ConfigFile, InputFile, Since, Until, unknown_language_message
from streams.cli.pause_commands import active_pauses, entry_sentence
from streams.cli.topic_access import (
    OutageReporter,
    TimeRange,
    decode_record,
    follow,
    open_encoder,
    open_topics,
    publish,
    send_each,
)
from streams.cli.verdict_rendering import ResultConsole, verdict_line, verdict_with_claims
from streams.documents.page_folder import is_language_tag
from streams.explaining.verdict_explainer import VerdictFilter
from streams.kafka.schema_topic import create_codec
from streams.kafka.topics import Topics
from streams.pause.pause_state import read_entry
from streams.settings import Settings, load_settings

#: What people, and the page, call two decisions.
_DECISION_ALIASES: Final = {"held": Decision.REVIEW, "sent": Decision.AUTO_SEND}

_TEST_QUESTION = "Is this a test of truthgate?"
_TEST_ANSWER = "Yes, this is a test of truthgate. Nobody has to do anything about it."


def parse_code(text: str, codes: Collection[str]) -> str:
    """Return the code for a text with spaces, hyphens, capitals; raises BadParameter with similar codes."""
    code = re.sub(r"[ -]", "_", text.strip().lower())
    code = _DECISION_ALIASES.get(code, code)
    if code not in codes:
        known = ", ".join(get_close_matches(code, codes) or sorted(codes))
        raise typer.BadParameter(f"{text!r} is unknown; known: {known}")
    return code


def language_of_verdicts(text: str) -> str:
    """Return the code that verdicts have for a language, ``und`` too.

    A two-letter code that is not a language is reported, but accepted, since an answer may state it.
    Raises UsageError if no verdict can have it.
    """
    if text.lower() == UNDETERMINED:
        return UNDETERMINED
    if (code := language_code(text)) is None:
        raise UsageError(unknown_language_message("--language", text))
    if not is_language_tag(code):
        say(f"no language has the code {code}: only verdicts on answers that state it can match")
    return code


def _codes(codes: Collection[str], metavar: str, text: str) -> Any:
    return typer.Option(
        metavar=metavar, parser=lambda given: parse_code(given, codes), help=f"Only {text}; may be repeated."
    )


def tail(
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="Start with the oldest verdict of the topics.")
    ] = False,
    decision: Annotated[
        list[str] | None,
        _codes([*Decision], "|".join(Decision), "these decisions; sent and held are accepted, too"),
    ] = None,
    message_type: Annotated[
        list[str] | None, _codes([*MessageType], "|".join(MessageType), "these message types")
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CODE",
            help=f"Only these languages, e.g. nl, or {UNDETERMINED} for unknown; may be repeated.",
        ),
    ] = None,
    reason: Annotated[
        list[str] | None,
        _codes(DESCRIPTIONS, "CODE", "verdicts with one of these reasons or degradations, e.g. low_score"),
    ] = None,
    document: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Only verdicts with these documents; may be repeated."),
    ] = None,
    since: Since = None,
    until: Until = None,
    min_score: Annotated[
        float | None, typer.Option(min=MIN_SCORE, max=MAX_SCORE, help="The lowest score.")
    ] = None,
    max_score: Annotated[
        float | None, typer.Option(min=MIN_SCORE, max=MAX_SCORE, help="The highest score.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="End after N verdicts.")
    ] = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Follow the verdicts as readable lines, until Ctrl-C.

    A line has time, decision, score, message type, answer id, reasons, the text at fault, the opinions of
    language models, and the documents that were looked up or retrieved, with their versions. Below it are
    the checked claims with the passages they were compared with: ✗ contradicted, ? not found, ≈ similar
    (with what the documents lack of their names and numbers), ✓ supported; --json has all claims. Pauses of
    sending are reported on standard error, at the start and when they change. `truthgate explain` explains
    one verdict in full. An outage of Kafka is reported, and reading continues after it.

    A verdict is shown if it matches every kind of filter, each by any of its values: `--reason low_score
    --reason refusal --language nl` are Dutch answers with either reason. With --until the command ends.

    Example: `truthgate tail --decision blocked --message-type instruction --since 2h`
    """
    settings = load_settings(config)
    topics = Topics(settings.kafka.topic_prefix)
    outputs = [topics.verdict_topic(Decision(each)) for each in decision] if decision else topics.outputs
    if since and until and until <= since:
        raise UsageError("--until must be later than --since")
    if min_score is not None and max_score is not None and max_score < min_score:
        raise UsageError("--max-score must not be below --min-score")
    verdict_filter = VerdictFilter(
        message_types=frozenset(message_type or ()),
        languages=frozenset(map(language_of_verdicts, language or ())),
        reasons=frozenset(reason or ()),
        documents=frozenset(document or ()),
        since=since,
        until=until,
        lowest=min_score,
        highest=max_score,
    )
    period = TimeRange(since, until, from_beginning)
    asyncio.run(_tail(settings, tuple(outputs), period, verdict_filter, limit, as_json))


async def _tail(
    settings: Settings,
    outputs: tuple[str, ...],
    period: TimeRange,
    verdict_filter: VerdictFilter,
    limit: int | None,
    as_json: bool,
) -> None:
    codec = create_codec(settings)
    controls = Topics(settings.kafka.topic_prefix).controls
    count, console, outage = 0, ResultConsole(), OutageReporter()
    active, known_offsets = await active_pauses(settings)
    for entry in active:
        say(entry_sentence(entry))
    followed = follow(settings.kafka, *outputs, controls, period=period, check=outage.check)
    async with aclosing(followed) as records:
        async for record in records:
            outage.clear()
            if record.topic == controls:
                # --since also reads the entries that were just reported.
                if record.offset >= known_offsets.get(TopicPartition(controls, record.partition), 0):
                    say(entry_sentence(read_entry(record)))
            elif (verdict := await decode_record(record, codec, Verdict)) and verdict_filter.matches(verdict):
                if as_json:
                    write_json(to_json(verdict))
                    sys.stdout.flush()
                else:
                    console.print(verdict_with_claims(verdict), soft_wrap=True)
                count += 1
                if count == limit:
                    return


def try_out(
    timeout: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="How long to wait for the verdict.")
    ] = 60,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Send one test answer and wait for its verdict: an end-to-end check of the workers.

    The ids of the answer and its conversation begin with `truthgate-try-`. All consumers of verdicts see
    its verdict, a review desk too. The exit code is 1 if no verdict arrives in time.

    Example: `truthgate try --timeout 30`
    """
    verdict = asyncio.run(_try_answer(load_settings(config), timeout))
    if as_json:
        write_json(to_json(verdict))
    else:
        ResultConsole().print(verdict_line(verdict), soft_wrap=True)


async def _try_answer(settings: Settings, seconds: float) -> Verdict:
    """Return the verdict on the test answer; raises CommandFailed if it does not arrive in time."""
    name = f"truthgate-try-{uuid.uuid4().hex}"
    answer = ChatbotAnswer(name, name, _TEST_QUESTION, _TEST_ANSWER, utc_now())
    async with open_topics(settings.kafka, *Topics(settings.kafka.topic_prefix).outputs) as (reader, log):
        outgoing = await open_encoder(settings, ChatbotAnswer, "try")
        reader.read_from(log.end_offsets)
        await send_each(settings, [outgoing(answer)])
        codec = create_codec(settings)
        try:
            async with asyncio.timeout(seconds), aclosing(reader.follow()) as batches:
                async for records in batches:
                    for record in records:
                        if (
                            verdict := await decode_record(record, codec, Verdict)
                        ) and verdict.answer_id == name:
                            return verdict
        except TimeoutError:
            raise CommandFailed(f"no verdict on {name} within {seconds:g} s: is a worker ready?") from None
    raise AssertionError("following a topic has no end")


# Marks a missing time: earlier than any that a record may have.
_UNKNOWN_TIME = datetime.min.replace(tzinfo=UTC)


def seconds_until_due(index: int, recorded: float, rate: float | None, speed: float | None) -> float:
    """Return when to send the answer with this index from 0, in seconds after the first one.

    It was produced ``recorded`` seconds after the first one. ``rate`` is in answers per second, ``speed`` a
    multiple of the recorded one; without them, or if it was produced before the first one, it is due at once.
    """
    if rate:
        return index / rate
    return max(0.0, recorded) / speed if speed else 0.0


def replay(
    file: InputFile,
    rate: Annotated[float | None, typer.Option(min=0.001, metavar="N", help="Answers per second.")] = None,
    speed: Annotated[
        float | None,
        typer.Option(
            min=0.001, metavar="X", help="Multiple of the recorded speed (produced_at); 1 is real time."
        ),
    ] = None,
    config: ConfigFile = None,
) -> None:
    """Publish a JSONL chat log to the answers topic, by default as fast as possible.

    Each answer is acknowledged by all in-sync replicas. A malformed line is named on standard error, the
    others are sent, and the exit code is 1.

    Example: `truthgate replay chats.jsonl --rate 5`
    """
    if rate and speed:
        raise UsageError("--rate and --speed exclude each other")
    settings = load_settings(config)
    errors = InputErrors(file)
    with progress_bar("replaying", count_lines(file)) as bar:
        answers = _paced_answers(file, rate, speed, errors, bar)
        sent = asyncio.run(publish(settings, ChatbotAnswer, answers, "replay", errors))
    say(f"{plural(sent, 'answer')} sent to {Topics(settings.kafka.topic_prefix).answers}")
    raise typer.Exit(errors.exit_code)


async def _paced_answers(
    file: Path, rate: float | None, speed: float | None, errors: InputErrors, bar: Progress
) -> AsyncGenerator[tuple[SourceLocation, ChatbotAnswer], None]:
    """Yield each good line when it is due."""
    clock = (lambda: _UNKNOWN_TIME) if speed else utc_now
    good = errors.good_lines(read_records(file, ChatbotAnswer, bar, clock))
    async with aclosing(aiter_in_thread(good)) as numbered:
        loop = asyncio.get_running_loop()
        start, first, index = loop.time(), None, 0
        async for number, answer in numbered:
            if answer.produced_at == _UNKNOWN_TIME:
                errors.report(number, "produced_at: is missing, and --speed needs it")
                continue
            first = first or answer.produced_at
            recorded = (answer.produced_at - first).total_seconds()
            await asyncio.sleep(start + seconds_until_due(index, recorded, rate, speed) - loop.time())
            index += 1
            yield number, answer
