"""`truthgate tail` and `truthgate try`: verdicts as they arrive, and the options that filter them."""

import asyncio
import re
import sys
import uuid
from collections.abc import Collection, Sequence
from contextlib import aclosing
from datetime import datetime
from difflib import get_close_matches
from typing import Annotated, Final

import typer
from aiokafka import ConsumerRecord, TopicPartition

from schemas import ChatbotAnswer, Codec, DecodeError, Verdict, to_json
from schemas.jsonl import utc_now
from scoring.scorer.profile import DESCRIPTIONS
from scoring.text.language_detection import UNDETERMINED, language_code
from scoring.values.exchange import MAX_SCORE, MIN_SCORE, Decision, MessageType
from streams.cli.command_output import CommandFailed, UsageError, json_line, say, write_line
from streams.cli.common_options import AsJson, ConfigFile, Since, Until, unknown_language_message
from streams.cli.pause_commands import active_pauses_and_offsets, entry_sentence
from streams.cli.record_sender import OutgoingRecord, open_codec, send_each
from streams.cli.topic_reading import OutageReporter, TimeRange, follow, open_topics
from streams.cli.verdict_rendering import ResultConsole, verdict_line, verdict_with_claims
from streams.documents.page_folder import is_language_tag
from streams.explaining.verdict_explainer import VerdictFilter
from streams.kafka.kafka_records import event_headers
from streams.kafka.schema_topic import create_codec
from streams.kafka.topic_reader import TopicReader
from streams.kafka.topics import Topics
from streams.pause.pause_state import read_entry
from streams.settings import Settings, load_settings

#: What people, and the page, call two decisions.
_DECISION_ALIASES: Final = {"held": Decision.REVIEW, "sent": Decision.AUTO_SEND}

_TEST_QUESTION = "Is this a test of truthgate?"
_TEST_ANSWER = "Yes, this is a test of truthgate. Nobody has to do anything about it."


def parse_code(text: str, codes: Collection[str]) -> str:
    """Return the code that matches the text, in which spaces, hyphens and capitals are allowed.

    Raises:
        typer.BadParameter: no code matches; the message lists similar codes, or else all.
    """
    code = re.sub(r"[ -]", "_", text.strip().lower())
    code = _DECISION_ALIASES.get(code, code)
    if code not in codes:
        known = ", ".join(get_close_matches(code, codes) or sorted(codes))
        raise typer.BadParameter(f"{text!r} is unknown; known: {known}")
    return code


def make_filter(
    message_types: Sequence[str] | None,
    languages: Sequence[str] | None,
    reasons: Sequence[str] | None,
    documents: Sequence[str] | None,
    since: datetime | None,
    until: datetime | None,
    lowest: float | None,
    highest: float | None,
) -> VerdictFilter:
    """Make the filter for the options.

    A two-letter code that is not a language is reported, but accepted, since an answer may state it.

    Raises:
        UsageError: no verdict could pass.
    """
    if since and until and until <= since:
        raise UsageError("--until must be later than --since")
    if lowest is not None and highest is not None and highest < lowest:
        raise UsageError("--max-score must not be below --min-score")
    return VerdictFilter(
        message_types=frozenset(message_types or ()),
        languages=frozenset(map(_language_of_verdicts, languages or ())),
        reasons=frozenset(reasons or ()),
        documents=frozenset(documents or ()),
        since=since,
        until=until,
        lowest=lowest,
        highest=highest,
    )


def _language_of_verdicts(text: str) -> str:
    """Return the code that verdicts have for it, ``und`` too; raises UsageError if none can have it."""
    if text.lower() == UNDETERMINED:
        return UNDETERMINED
    if (code := language_code(text)) is None:
        raise UsageError(unknown_language_message("--language", text))
    if not is_language_tag(code):
        say(f"no language has the code {code}: only verdicts on answers that state it can match")
    return code


def tail(
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="Start with the oldest verdict of the topics.")
    ] = False,
    decision: Annotated[
        list[str] | None,
        typer.Option(
            "--decision",
            metavar="|".join(Decision),
            parser=lambda text: parse_code(text, frozenset(Decision)),
            help="Only these decisions; sent and held are accepted, too; may be repeated.",
        ),
    ] = None,
    message_type: Annotated[
        list[str] | None,
        typer.Option(
            "--message-type",
            metavar="|".join(MessageType),
            parser=lambda text: parse_code(text, frozenset(MessageType)),
            help="Only these message types; may be repeated.",
        ),
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option(
            "--language",
            metavar="CODE",
            help=f"Only these languages, e.g. nl, or {UNDETERMINED} for unknown; may be repeated.",
        ),
    ] = None,
    reason: Annotated[
        list[str] | None,
        typer.Option(
            "--reason",
            metavar="CODE",
            parser=lambda text: parse_code(text, DESCRIPTIONS),
            help="Only verdicts with one of these reasons, e.g. low_score, or degraded; may be repeated.",
        ),
    ] = None,
    document: Annotated[
        list[str] | None,
        typer.Option("--document", metavar="ID", help="Only verdicts with these documents; may be repeated."),
    ] = None,
    since: Since = None,
    until: Until = None,
    min_score: Annotated[
        float | None, typer.Option("--min-score", min=MIN_SCORE, max=MAX_SCORE, help="The lowest score.")
    ] = None,
    max_score: Annotated[
        float | None, typer.Option("--max-score", min=MIN_SCORE, max=MAX_SCORE, help="The highest score.")
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
    (with the words that the passage lacks), ✓ supported; --json has all claims. Pauses of sending are
    reported on standard error, at the start and when they change. `truthgate explain` explains one verdict
    in full. An outage of Kafka is reported, and reading continues after it.

    A verdict is shown if it matches every kind of filter, each by any of its values: `--reason low_score
    --reason refusal --language nl` are Dutch answers with either reason. With --until the command ends.

    Example: `truthgate tail --decision blocked --message-type instruction --since 2h`
    """
    settings = load_settings(config)
    topics = Topics(settings.kafka.topic_prefix)
    outputs = [topics.verdict_topic(Decision(each)) for each in decision] if decision else topics.outputs
    verdict_filter = make_filter(message_type, language, reason, document, since, until, min_score, max_score)
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
    active, known_offsets = await active_pauses_and_offsets(settings)
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
            elif (verdict := await decode_verdict(record, codec)) and verdict_filter.matches(verdict):
                if as_json:
                    write_line(json_line(to_json(verdict)))
                    sys.stdout.flush()
                else:
                    console.print(verdict_with_claims(verdict), soft_wrap=True)
                count += 1
                if count == limit:
                    return


async def decode_verdict(record: ConsumerRecord, codec: Codec) -> Verdict | None:
    """Decode a verdict, or report where it is and return None. Raises RegistryUnreachable."""
    try:
        await codec.lookup(record.value)
        return codec.decode(record.value, Verdict)
    except DecodeError as error:
        say(f"{record.topic} {record.partition}:{record.offset} cannot be decoded: {error}")
        return None


def try_out(
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="How long to wait for the verdict.")
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
        write_line(json_line(to_json(verdict)))
    else:
        ResultConsole().print(verdict_line(verdict), soft_wrap=True)


async def _try_answer(settings: Settings, seconds: float) -> Verdict:
    """Return the verdict on the test answer; raises CommandFailed if it does not arrive in time."""
    topics = Topics(settings.kafka.topic_prefix)
    name = f"truthgate-try-{uuid.uuid4().hex}"
    answer = ChatbotAnswer(name, name, _TEST_QUESTION, _TEST_ANSWER, utc_now())
    headers = event_headers(answer.answer_id, "ChatbotAnswer", "try")
    async with open_topics(settings.kafka, *topics.outputs) as (reader, log):
        codec = await open_codec(settings, ChatbotAnswer)
        value = codec.encode(answer)
        record = OutgoingRecord(topics.answers, answer.conversation_id.encode(), value, headers)
        reader.read_from(log.end_offsets)
        await send_each(settings, [record])
        try:
            return await asyncio.wait_for(_verdict_on(answer.answer_id, reader, codec), seconds)
        except TimeoutError:
            raise CommandFailed(
                f"no verdict on {answer.answer_id} within {seconds:g} s: is a worker ready?"
            ) from None


async def _verdict_on(answer_id: str, reader: TopicReader, codec: Codec) -> Verdict:
    async with aclosing(reader.follow()) as batches:
        async for records in batches:
            for record in records:
                if (verdict := await decode_verdict(record, codec)) and verdict.answer_id == answer_id:
                    return verdict
    raise AssertionError("following a topic has no end")
