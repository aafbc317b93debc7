"""`truthgate tail` and `truthgate try`: verdicts as they arrive."""

import asyncio
import sys
import uuid
from contextlib import aclosing
from typing import Annotated

import typer
from aiokafka import ConsumerRecord, TopicPartition
from rich.console import Console

from schemas import ChatbotAnswer, Codec, DecodeError, Verdict, to_json
from schemas.jsonl import utc_now
from scoring.values.exchange import Decision
from streams.cli.command_output import CommandFailed, json_line, say, write_line
from streams.cli.common_options import AsJson, ConfigFile, Since, Until
from streams.cli.pause_commands import active_pauses_and_offsets, entry_sentence
from streams.cli.record_sender import OutgoingRecord, open_codec, send_each
from streams.cli.topic_reading import OutageReporter, TimeRange, follow, open_topics
from streams.cli.verdict_filters import (
    Decisions,
    DocumentIds,
    HighestScore,
    Languages,
    LowestScore,
    MessageTypes,
    Reasons,
    make_filter,
)
from streams.cli.verdict_rendering import ResultConsole, verdict_line, verdict_with_claims
from streams.explaining.verdict_explainer import VerdictFilter
from streams.kafka.kafka_records import event_headers
from streams.kafka.topic_reader import TopicReader
from streams.kafka.topics import Topics
from streams.pause.pause_state import read_entry
from streams.settings import Settings, load_settings


def tail(
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="Begin with the oldest verdict kept.")
    ] = False,
    decision: Decisions = None,
    message_type: MessageTypes = None,
    language: Languages = None,
    reason: Reasons = None,
    document: DocumentIds = None,
    since: Since = None,
    until: Until = None,
    min_score: LowestScore = None,
    max_score: HighestScore = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="End after N verdicts.")
    ] = None,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Follow the verdicts as readable lines, until Ctrl-C.

    When Kafka does not answer any more it says so, and goes on when Kafka does.

    A line shows time, decision, score, message type, answer id, reasons, the words at fault, what language
    models said, and the documents with their versions that were looked up or retrieved. Below it stand
    claims that were checked, with the passages they were compared with: ✗ contradicted, ? not found,
    ≈ similar, with those of its words that the passage lacks, ✓ supported; --json has all of them. Pauses
    of sending are written to standard error, at the start and whenever they change.
    `truthgate explain` tells everything about one of them.

    A verdict is shown that has one of each kind of what is named: `--reason low_score --reason refusal
    --language nl` are Dutch answers for either reason. --since reads back so far; with --until it ends by
    itself.

    Example: `truthgate tail --decision blocked --message-type instruction --since 2h`
    """
    settings = load_settings(config)
    topics = Topics(settings.kafka.topic_prefix)
    chosen = [topics.verdict_topic(Decision(each)) for each in decision] if decision else topics.outputs
    sieve = make_filter(message_type, language, reason, document, since, until, min_score, max_score)
    period = TimeRange(since, until, from_beginning)
    asyncio.run(_tail(settings, topics.controls, tuple(chosen), period, sieve, limit, as_json))


async def _tail(
    settings: Settings,
    controls: str,
    topics: tuple[str, ...],
    period: TimeRange,
    verdict_filter: VerdictFilter,
    limit: int | None,
    as_json: bool,
) -> None:
    codec = Codec(settings.encoding.schema_registry_url, settings.encoding.json_input)
    shown, console = 0, None if as_json else ResultConsole()
    active, known = await active_pauses_and_offsets(settings)
    for entry in active:
        say(entry_sentence(entry))
    outage = OutageReporter()
    followed = follow(settings.kafka, *topics, controls, period=period, check=outage.check)
    async with aclosing(followed) as records:
        async for record in records:
            outage.clear()
            if record.topic == controls:
                # --since also reads earlier pauses, which are no news.
                if record.offset >= known.get(TopicPartition(controls, record.partition), 0):
                    say(entry_sentence(read_entry(record)))
            elif (verdict := await decode_verdict(record, codec)) and verdict_filter.matches(verdict):
                _show(verdict, console)
                shown += 1
                if shown == limit:
                    return


def _show(verdict: Verdict, console: Console | None) -> None:
    if console:
        console.print(verdict_with_claims(verdict), soft_wrap=True)
    else:
        write_line(json_line(to_json(verdict)))
        sys.stdout.flush()


async def decode_verdict(record: ConsumerRecord, codec: Codec) -> Verdict | None:
    """Decode a verdict; of one that cannot be decoded say where it is. Raises RegistryUnreachable."""
    try:
        await codec.lookup(record.value)
        return codec.decode(record.value, Verdict)
    except DecodeError as error:
        say(f"{record.topic} {record.partition}:{record.offset} cannot be decoded: {error}")
        return None


_QUESTION = "Is this a test of truthgate?"
_ANSWER = "Yes, this is a test of truthgate. Nobody has to do anything about it."


def try_out(
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, metavar="SECONDS", help="How long to wait for the verdict.")
    ] = 60,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Send one answer and wait for its verdict: whether the workers judge, from topic to topic.

    Its id begins with `truthgate-try-`, and so does that of its conversation. Whoever reads the verdicts
    sees it, a review desk too. Exit code 1 when no verdict comes in time.

    Example: `truthgate try --timeout 30`
    """
    verdict = asyncio.run(_try_answer(load_settings(config), timeout))
    if as_json:
        write_line(json_line(to_json(verdict)))
    else:
        ResultConsole().print(verdict_line(verdict), soft_wrap=True)


async def _try_answer(settings: Settings, seconds: float) -> Verdict:
    """Give the verdict; CommandFailed where none comes within so many seconds of the answer."""
    codec = await open_codec(settings.encoding, ChatbotAnswer)
    topics = Topics(settings.kafka.topic_prefix)
    name = f"truthgate-try-{uuid.uuid4().hex}"
    answer = ChatbotAnswer(name, name, _QUESTION, _ANSWER, utc_now())
    headers = event_headers(answer.answer_id, "ChatbotAnswer", "try")
    record = OutgoingRecord(topics.answers, answer.conversation_id.encode(), codec.encode(answer), headers)
    async with open_topics(settings.kafka, *topics.outputs) as (reader, log):
        reader.read_from(log.end_offsets)
        await send_each(settings, [record])
        try:
            return await asyncio.wait_for(_verdict(reader, answer.answer_id, codec), seconds)
        except TimeoutError:
            raise CommandFailed(
                f"no verdict on {answer.answer_id} within {seconds:g} s: is a worker ready?"
            ) from None


async def _verdict(reader: TopicReader, answer_id: str, codec: Codec) -> Verdict:
    async with aclosing(reader.follow()) as batches:
        async for records in batches:
            for record in records:
                if (verdict := await decode_verdict(record, codec)) and verdict.answer_id == answer_id:
                    return verdict
    raise AssertionError("what comes has no end")
