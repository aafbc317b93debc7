"""`truthgate explain`: finds a verdict and explains it."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import aclosing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer
from aiokafka import ConsumerRecord, TopicPartition
from pydantic import TypeAdapter

from schemas import Codec, DecodeError, Verdict
from scoring.policy import Policy
from scoring.values.exchange import is_encodable
from streams.cli.command_files import InputErrors, read_records
from streams.cli.command_output import CommandFailed, ExitCode, UsageError, progress_bar, write_line
from streams.cli.common_options import AsJson, ConfigFile, OptionalInputFile, Since
from streams.cli.explain.explanation_rendering import render_explanation
from streams.cli.topic_reading import SLACK, offsets_at, open_topics
from streams.cli.verdict_rendering import ResultConsole
from streams.explaining.explanation import Explanation, LocatedVerdict, VerdictLocation, locate_verdict
from streams.explaining.verdict_explainer import explain_verdict
from streams.kafka.topic_reader import Offsets, TopicReader, TopicSnapshot
from streams.kafka.topics import Topics
from streams.settings import Settings, load_settings


def find_in_file(
    path: Path, wanted: str, since: datetime | None, errors: InputErrors
) -> list[LocatedVerdict]:
    """Find the verdicts whose answer or verdict has this id, in their order; bad lines are complained about.

    Raises:
        CommandFailed: the file cannot be read.
    """
    return [
        LocatedVerdict(verdict, VerdictLocation(file=str(path), line=number))
        for number, verdict in errors.good_lines(read_records(path, Verdict))
        if wanted in {verdict.answer_id, verdict.verdict_id} and (since is None or since <= verdict.scored_at)
    ]


#: Told how many offsets were looked at so far, and how many there are to look at.
OnProgress = Callable[[int, int], None]

#: Of each partition, at first; each time it goes further back by more, so that few requests find what is old.
_FIRST_STEP: Final = 2_000
_MAX_STEP: Final = 50_000
#: Repeats follow a crash within minutes, and an answer that waited for a person or a document within hours.
_REPEATS_WITHIN: Final = timedelta(days=1)


async def find_on_topics(
    settings: Settings, wanted: str, since: datetime | None, on_progress: OnProgress
) -> list[LocatedVerdict]:
    """Find the verdicts whose answer or verdict has this id, the first one first; none where there are none.

    From the end back to ``since``, or to the beginning; once one is found only as far as its repeats can
    stand, which is where the answer was written, and a day before it at most.

    Raises:
        ServiceUnreachable: Kafka does not answer.
        UsageError: a topic is not there.
        KafkaError: the cluster refuses.
        RegistryUnreachable: a schema cannot be asked for.
    """
    codec = Codec(settings.encoding.schema_registry_url, settings.encoding.json_input)
    topics = Topics(settings.kafka.topic_prefix).outputs
    found: list[LocatedVerdict] = []
    async with open_topics(settings.kafka, *topics) as (reader, log):
        begins = await offsets_at(reader, log, since - SLACK) if since else log.beginning_offsets
        ends, step, total = log.end_offsets, _FIRST_STEP, _size(begins, log.end_offsets)
        while _size(begins, ends):
            starts = {at: max(begins[at], end - step) for at, end in ends.items()}
            async with aclosing(reader.read_between(starts, ends)) as batches:
                async for records in batches:
                    found += [each for record in records if (each := await _on(record, wanted, codec))]
            ends, step = starts, min(2 * step, _MAX_STEP)
            on_progress(total - _size(begins, ends), total)
            if found:
                begins = await _where_repeats_begin(found, reader, log, begins)
    return sorted(found, key=_time)


async def _where_repeats_begin(
    found: Iterable[LocatedVerdict], reader: TopicReader, log: TopicSnapshot, begins: Offsets
) -> Mapping[TopicPartition, int]:
    earliest = min(found, key=_time)
    written = max(earliest.verdict.produced_at, _time(earliest) - _REPEATS_WITHIN)
    first = await offsets_at(reader, log, written - SLACK)
    return {at: max(begin, first[at]) for at, begin in begins.items()}


async def _on(record: ConsumerRecord, wanted: str, codec: Codec) -> LocatedVerdict | None:
    # Avro has texts as they are in UTF-8: what has not these bytes need not be decoded.
    if wanted.encode() not in (record.value or b""):
        return None
    await codec.lookup(record.value)
    try:
        verdict = codec.decode(record.value, Verdict)
    except DecodeError:
        return None  # no verdict, or one that only a newer release can read
    if wanted not in {verdict.answer_id, verdict.verdict_id}:
        return None
    return locate_verdict(record, verdict)


def _time(found: LocatedVerdict) -> datetime:
    return found.written_at or found.verdict.scored_at


def _size(begins: Offsets, ends: Offsets) -> int:
    return sum(max(0, end - begins[at]) for at, end in ends.items())


# What is found sooner needs no bar.
_SHOWN_AFTER_SECONDS: Final = 1.0
_EXPLANATION = TypeAdapter(Explanation)


def explain(
    wanted: Annotated[str, typer.Argument(metavar="ID", help="The answer's id, or that of its verdict.")],
    file: OptionalInputFile = None,
    since: Since = None,
    newest: Annotated[
        bool, typer.Option("--newest", help="Of repeated verdicts the newest, not the first.")
    ] = False,
    as_json: AsJson = False,
    config: ConfigFile = None,
) -> None:
    """Tell everything about one verdict: what was read, found, compared and decided, and what to do next.

    It is looked for in the three topics of verdicts, from the newest backwards, or in a file of verdicts.
    Of verdicts that were published again the first is told, which is the one that consumers go by, and how
    the others differ. The thresholds are told where the policy that decided is that of the settings, or as
    shipped.

    The exit code is 1 where there is no such verdict, and 3 where Kafka does not answer.

    Example: `truthgate explain a-123 --since 2d`
    """
    if not is_encodable(wanted):
        raise UsageError("ID is not UTF-8")
    settings = load_settings(config)
    complaints = InputErrors(str(file))
    found = find_in_file(file, wanted, since, complaints) if file else _searched(settings, wanted, since)
    if not found:
        where = str(file) if file else "the verdicts that are kept"
        raise CommandFailed(f"there is no {wanted} in {where}{' since that time' if since else ''}")
    told = found[-1 if newest else 0]
    others = [each for each in found if each is not told]
    explanation = explain_verdict(told, (settings.policy, Policy()), others)
    if as_json:
        write_line(_EXPLANATION.dump_json(explanation).decode())
    else:
        console = ResultConsole()
        for line in render_explanation(explanation):
            console.print(line)
    raise typer.Exit(complaints.exit_code if file else ExitCode.DONE)


def _searched(settings: Settings, wanted: str, since: datetime | None) -> list[LocatedVerdict]:
    begun = time.monotonic()
    bar = progress_bar("looking for it", None)

    def tell(done: int, total: int) -> None:
        if time.monotonic() - begun > _SHOWN_AFTER_SECONDS:
            bar.start()
        bar.update(bar.task_ids[0], completed=done, total=total)

    try:
        return asyncio.run(find_on_topics(settings, wanted, since, tell))
    finally:
        bar.stop()
